#include "reconcile/machines/estimate.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/format.h"
#include "model/capabilities.h"
#include "model/catalogue.h"
#include "model/change.h"
#include "placement/demand.h"

namespace reconcile::machines {
namespace {

const model::ClusterName scratch_cluster{"scratch"};

// A cluster of its own, in which tasks are placed to see what happens.
class Scratch {
 public:
  Scratch() {
    model::apply(state_, model::ClusterPut{{.name = scratch_cluster,
                                            .status = model::ClusterStatus::Active,
                                            .created_at = {},
                                            .tags = {},
                                            .settings = {},
                                            .configuration = {}}});
    engine_.reset(state_);
  }

  model::InstanceArn add(model::ContainerInstance instance) {
    const std::string id = base::format("{:08}", state_.instances.size());
    instance.arn = model::instance_arn({}, scratch_cluster, id);
    instance.cluster = scratch_cluster;
    const model::InstanceArn arn = instance.arn;
    model::apply(state_, model::InstanceRegistered{std::move(instance)});
    model::apply(state_, model::AgentConnectionChanged{arn, true, {}, {}});
    engine_.instance_changed(state_, arn);
    return arn;
  }

  // Where it went; empty: nowhere.
  model::InstanceArn place(const placement::Request& request) {
    auto placed = engine_.place(state_, request, random_);
    return placed ? keep(request, std::move(*placed)) : model::InstanceArn();
  }
  void place_on(const placement::Request& request, const model::InstanceArn& instance) {
    auto placed = engine_.place_on(state_, request, instance);
    CHECK(placed.has_value());
    keep(request, std::move(*placed));
  }

 private:
  model::InstanceArn keep(const placement::Request& request, placement::Placement placed) {
    model::Task task;
    task.arn = model::task_arn({}, scratch_cluster, base::format("{:08}", state_.tasks.size()));
    task.cluster = scratch_cluster;
    task.group = request.group;
    task.instance = placed.instance;
    task.held = std::move(placed.held);
    const model::InstanceArn arn = task.instance;
    model::apply(state_, model::TaskPlaced{std::move(task)});
    engine_.instance_changed(state_, arn);
    return arn;
  }

  model::ClusterState state_;
  placement::Engine engine_;
  base::Random random_{0};  // Ties are all the same.
};

// What is free of it. GPUs that are shared already are left out: who waits did not fit on them.
model::ContainerInstance free_part(const model::ContainerInstance& instance) {
  model::ContainerInstance free = instance;
  free.cpu_units -= instance.cpu_units_held;
  free.memory_mib -= instance.memory_mib_held;
  for (const auto& [port, task] : instance.ports_held) free.reserved_ports.insert(port);
  std::erase_if(free.gpus,
                [](const model::GpuSlot& gpu) { return gpu.state != model::GpuState::Idle; });
  free.cpu_units_held = free.memory_mib_held = 0;
  free.running_tasks = free.pending_tasks = 0;
  free.ports_held.clear();
  free.tasks.clear();
  free.task_groups.clear();
  return free;
}

std::tuple<int32_t, int64_t, int64_t> size_of(const placement::Demand& demand) {
  return {demand.all_gpus ? INT32_MAX : demand.whole_gpus, demand.memory_mib, demand.cpu_units};
}

class Packing {
 public:
  Packing(const std::vector<Room>& rooms, const std::optional<model::ContainerInstance>& empty,
          int32_t most)
      : empty_(empty), most_(most) {
    for (const Room& room : rooms) {
      if (room.instance == nullptr) {
        if (empty) rooms_.emplace_back(idle_.add(*empty), room.token);
      } else if (room.instance->tasks.empty()) {
        rooms_.emplace_back(idle_.add(free_part(*room.instance)), room.token);
      } else {
        rooms_in_part_.emplace_back(partly_used_.add(free_part(*room.instance)), room.token);
      }
    }
  }

  Estimate run(std::vector<CountedRequest> needs) {
    std::ranges::sort(needs, [](const CountedRequest& left, const CountedRequest& right) {
      return size_of(placement::demand_of(left.request.resources)) >
             size_of(placement::demand_of(right.request.resources));
    });
    estimate_.type_is_unknown = !empty_;
    for (CountedRequest& need : needs) {
      need.request.cluster = scratch_cluster;
      need.request.capacity_provider.clear();
      need.request.strategies.clear();
      place_all(need);
    }
    return std::move(estimate_);
  }

 private:
  using Rooms = std::vector<std::pair<model::InstanceArn, std::string>>;

  // Who is where already, which constraints may ask, is not known of the partly used ones.
  bool place(const placement::Request& request) {
    if (request.constraints.empty() && note(rooms_in_part_, partly_used_.place(request))) {
      return true;
    }
    return note(rooms_, idle_.place(request));
  }

  bool note(const Rooms& rooms, const model::InstanceArn& instance) {
    if (instance.empty()) return false;
    const auto found =
        std::ranges::find(rooms, instance, &std::pair<model::InstanceArn, std::string>::first);
    if (found == rooms.end()) return true;  // One of the imagined, which is counted.
    if (!found->second.empty()) {
      estimate_.used.insert(found->second);
    } else if (unasked_.insert(instance).second) {
      ++estimate_.unasked_used;
    }
    return true;
  }

  void place_all(const CountedRequest& need) {
    for (int32_t placed = 0; placed < need.count; ++placed) {
      if (place(need.request)) continue;
      if (!empty_ || estimate_.more >= most_) return;
      if (!fits_alone(need.request)) {
        estimate_.left_out += need.count - placed;
        return;
      }
      const model::InstanceArn made = idle_.add(*empty_);
      ++estimate_.more;
      idle_.place_on(need.request, made);
    }
  }

  // A machine that cannot take it, for what it has or for a constraint, is of no use.
  bool fits_alone(const placement::Request& request) const {
    Scratch alone;
    alone.add(*empty_);
    return !alone.place(request).empty();
  }

  const std::optional<model::ContainerInstance>& empty_;
  const int32_t most_;
  Scratch idle_;         // Machines without tasks, and the imagined.
  Scratch partly_used_;  // What is free of the others.
  Rooms rooms_;
  Rooms rooms_in_part_;
  std::set<model::InstanceArn> unasked_;
  Estimate estimate_;
};

}  // namespace

Estimate estimate(std::vector<CountedRequest> needs, const std::vector<Room>& rooms,
                  const std::optional<model::ContainerInstance>& empty, int32_t most) {
  if (needs.empty()) return {};
  return Packing(rooms, empty, most).run(std::move(needs));
}

std::optional<model::ContainerInstance> imagine(const std::string& instance_type,
                                                const model::ContainerInstance* registered) {
  if (registered != nullptr) {
    model::ContainerInstance made = *registered;
    made.status = model::InstanceStatus::Active;
    made.cpu_units_held = made.memory_mib_held = 0;
    made.running_tasks = made.pending_tasks = 0;
    made.ports_held.clear();
    made.tasks.clear();
    made.task_groups.clear();
    for (model::GpuSlot& gpu : made.gpus) gpu = {.device = gpu.device, .reason = {}, .holders = {}};
    return made;
  }
  const model::InstanceType* const type = model::find_instance_type(instance_type);
  if (type == nullptr) return std::nullopt;
  model::ContainerInstance made;
  made.emulated_instance_type = instance_type;
  made.cpu_units = int64_t{type->vcpus} * 1024;
  made.memory_mib = type->memory_mib;
  for (const std::string_view name : model::capabilities_of_every_agent) {
    made.attributes[std::string(name)] = "";
  }
  made.attributes[std::string(model::capability_gpu_sharing)] = "";
  made.attributes[std::string(model::attribute_cpu_architecture)] = "x86_64";
  made.attributes["ecs.instance-type"] = instance_type;
  made.attributes["ecs.os-type"] = "linux";
  for (model::GpuDevice& device : model::emulated_gpus(*type, instance_type)) {
    device.mps_capable = true;
    made.gpus.push_back({.device = std::move(device), .reason = {}, .holders = {}});
  }
  return made;
}

}  // namespace reconcile::machines
