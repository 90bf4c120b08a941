// A small cluster of random instances on which random things happen, all from one seed. For tests
// only.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "placement/testing.h"

namespace placement::test {

class World {
 public:
  explicit World(uint64_t seed) : dice(seed) {
    for (uint64_t i = 0; i < 2 + dice.below(10); ++i) add(base::format("{:02}", i));
  }

  void add(const std::string& id) {
    model::ContainerInstance instance;
    instance.cpu_units = static_cast<int64_t>(1024 * (1 + dice.below(8)));
    instance.memory_mib = static_cast<int64_t>(1000 * (1 + dice.below(8)));
    instance.agent_version = "1.2.3";
    if (dice.chance(70)) instance.attributes["zone"] = dice.chance(50) ? "a" : "b";
    if (dice.chance(30)) instance.attributes["big"] = "";
    if (dice.chance(30)) {
      instance.attributes["berth.profile"] = "shared";
      if (dice.chance(50)) instance.attributes["berth.allow.privileged"] = "";
      if (dice.chance(50)) instance.attributes["berth.allow.host-paths"] = "/data:/scratch";
    }
    if (dice.chance(30)) instance.capacity_provider = "group";
    if (dice.chance(30)) instance.reserved_ports.insert({.port = 80});
    const uint64_t gpus = dice.chance(30) ? 0 : 1 + dice.below(8);
    const bool mps = dice.chance(80);
    const bool cores_known = dice.chance(60);
    for (uint64_t i = 0; i < gpus; ++i) {
      model::GpuDevice& device = instance.gpus.emplace_back().device;
      device.uuid = base::format("GPU-{}-{}", id, i);
      device.memory_mib = 10007;
      device.mps_capable = mps;
      device.healthy = !dice.chance(5);
      if (cores_known) device.cpu_list = i % 2 == 0 ? "0-3" : "4-7";
    }
    arns.push_back(cluster.add(id, instance));
  }

  Request request() {
    Request made = gpu_request(0, static_cast<int64_t>(128 * dice.below(12)),
                               static_cast<int64_t>(100 * dice.below(12)));
    const uint64_t kind = dice.below(6);
    if (kind == 1) {
      made.resources.gpus = gpu_request(1 + static_cast<uint32_t>(dice.below(4))).resources.gpus;
    }
    if (kind == 2) {
      made.resources.gpus =
          fraction_request(static_cast<int32_t>(100 * (1 + dice.below(9)))).resources.gpus;
    }
    if (kind == 3) {
      made.resources.gpus =
          share_request(static_cast<int64_t>(1000 * (1 + dice.below(10)))).resources.gpus;
    }
    if (kind == 4) made.resources.gpus = {all_gpus("main")};
    if (kind >= 1 && kind <= 3 && dice.chance(20)) {
      model::GpuRequest second = made.resources.gpus[0];
      second.container = "second";
      made.resources.gpus.push_back(second);
    }
    if (kind == 3 && dice.chance(20)) {
      model::GpuRequest second = gpu_request(1).resources.gpus[0];
      second.container = "third";
      made.resources.gpus.push_back(second);
    }
    if (dice.chance(20)) {
      made.resources.host_ports = {{.port = static_cast<uint16_t>(79 + dice.below(3))}};
    }
    if (dice.chance(15)) made.required_attributes = {"big"};
    if (dice.chance(10)) made.needs.emplace_back("host-paths /data/x");
    if (dice.chance(5)) made.needs.emplace_back("host-paths /database");
    if (dice.chance(10)) made.needs.emplace_back("privileged");
    if (dice.chance(15)) made.capacity_provider = dice.chance(50) ? "group" : "BERTH_QUEUE";
    made.group = dice.chance(50) ? "family:x" : "family:y";
    if (dice.chance(20)) made.constraints.push_back(member_of("attribute:zone == a"));
    if (dice.chance(10)) made.constraints.push_back(member_of("task:group != family:x"));
    if (dice.chance(10)) made.constraints.push_back(member_of("runningTasksCount < 3"));
    if (dice.chance(10)) made.constraints.push_back(distinct_instance());
    return made;
  }

  api::List<api::ecs::PlacementStrategy> strategies() {
    api::List<api::ecs::PlacementStrategy> list;
    const uint64_t count = 1 + dice.below(3);
    for (uint64_t i = 0; i < count; ++i) {
      const api::ecs::PlacementStrategy all[] = {
          strategy(api::ecs::PlacementStrategyType::Spread, "instanceId"),
          strategy(api::ecs::PlacementStrategyType::Spread, "attribute:zone"),
          strategy(api::ecs::PlacementStrategyType::Binpack, "cpu"),
          strategy(api::ecs::PlacementStrategyType::Binpack, "memory"),
          strategy(api::ecs::PlacementStrategyType::Binpack, "gpu"),
      };
      list.push_back(all[dice.below(std::size(all))]);
    }
    return list;
  }

  // Something else than a placement happens.
  void disturb() {
    const model::InstanceArn& arn = arns[dice.below(arns.size())];
    switch (dice.below(9)) {
      case 0:
        cluster.connect(arn, dice.chance(60));
        break;
      case 1:
        cluster.apply(model::AttributesPut{.arn = arn,
                                           .attributes = {{"zone", dice.chance(50) ? "a" : "b"}}});
        break;
      case 2:
        cluster.apply(model::AttributesDeleted{.arn = arn, .names = {"zone"}});
        break;
      case 3:
        if (arns.size() < 20) add(base::format("{:02}", 30 + arns.size()));
        break;
      case 4:
        for (const model::GpuSlot& slot : cluster.instance(arn).gpus) {
          if (!slot.holders.empty() || slot.state == model::GpuState::Quarantined) continue;
          cluster.apply(model::GpuQuarantined{.arn = arn, .gpu = slot.device.uuid, .reason = "x"});
          break;
        }
        break;
      case 5:
        if (cluster.instance(arn).agent_connected) cluster.fall_silent(arn);
        break;
      default:
        stop_some_task();
    }
  }

  void stop_some_task() {
    if (running.empty()) return;
    const size_t which = dice.below(running.size());
    const model::TaskArn arn = running[which];
    if (cluster.state.tasks.at(arn).desired_status != model::TaskStatus::Stopped) {
      cluster.request_stop(arn);
      return;
    }
    cluster.stopped(arn);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
  }

  std::optional<model::Task> run(const Request& request) {
    auto task = cluster.run(request);
    if (task) running.push_back(task->arn);
    return task;
  }

  base::Random dice;
  TestCluster cluster;
  std::vector<model::InstanceArn> arns;
  std::vector<model::TaskArn> running;
};

}  // namespace placement::test
