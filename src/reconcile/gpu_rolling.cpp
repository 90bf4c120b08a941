#include "reconcile/gpu_rolling.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "placement/refusal.h"
#include "reconcile/scale_in.h"

namespace reconcile {
namespace {

bool has_replace_tag(const api::List<api::ecs::Tag>& tags) {
  return std::ranges::any_of(tags, [](const api::ecs::Tag& tag) {
    return tag.key == gpu_rolling_tag && tag.value == gpu_rolling_replace;
  });
}

// Some task, of whatever service, is about to give a GPU back.
bool gpu_coming_free(const model::ClusterState& state, const model::ClusterName& cluster) {
  return std::ranges::any_of(state.instances, [&](const auto& entry) {
    const model::ContainerInstance& instance = entry.second;
    return instance.cluster == cluster && instance.agent_connected &&
           std::ranges::any_of(instance.gpus, [](const model::GpuSlot& gpu) {
             return gpu.state == model::GpuState::Releasing;
           });
  });
}

int32_t whole_gpus(const model::ClusterState& state, const model::TaskDefinitionArn& arn) {
  const model::TaskDefinition* const definition = model::find_task_definition(state, arn);
  int32_t sum = 0;
  if (definition == nullptr) return sum;
  for (const auto& container : definition->definition.container_definitions) {
    for (const auto& requirement : container.resource_requirements) {
      if (requirement.type != api::ecs::ResourceType::Gpu) continue;
      sum += base::parse_number<int32_t>(requirement.value.value_or("")).value_or(1);
    }
  }
  return sum;
}

// So many of the displaced tasks hold the GPUs that one new task needs.
int32_t displaced_for_one(const Plan& plan, const Pool& pool) {
  const int32_t needed =
      std::max(whole_gpus(plan.input.state, plan.service().source.task_definition), 1);
  size_t held = 1;
  for (const Member& member : pool.displaced) held = std::max(held, member.task->held.gpus.size());
  const auto each = static_cast<int32_t>(held);
  return (needed + each - 1) / each;
}

// A task of the new kind found no GPU: when it was to start, or while it waits in the queue of the
// cluster's own machines. For an Auto Scaling group, machines may yet come.
bool lacks_gpus(const Plan& plan, const Pool& pool) {
  const auto& unplaced = plan.input.unplaced;
  if (unplaced) return unplaced->reason == placement::reason_gpu;
  return std::ranges::any_of(pool.current, [](const Member& member) {
    return member.phase == Phase::Waiting && member.task->capacity_provider == model::berth_queue &&
           member.task->wait_reason == placement::reason_gpu;
  });
}

std::string stuck_event(const Plan& plan) {
  const auto& configuration = plan.service().deployment_configuration;
  return base::format(
      "(service {}) cannot replace its tasks: no GPU is free, and none can come free without "
      "stopping a task, which minimumHealthyPercent {} forbids. Lower minimumHealthyPercent, add "
      "GPUs to the cluster, or tag the service or the cluster {}={} to have one task replaced "
      "after the other.",
      plan.service().name, configuration.minimum_healthy_percent.value_or(100), gpu_rolling_tag,
      gpu_rolling_replace);
}

}  // namespace

bool replaces_gpu_tasks(const model::ClusterState& state, const model::Service& service) {
  const model::Cluster* const cluster = model::find_cluster(state, service.cluster);
  return has_replace_tag(service.tags) || (cluster != nullptr && has_replace_tag(cluster->tags));
}

bool roll_on_full_gpus(Plan& plan, const Pool& pool, std::vector<Member>& stops) {
  if (!lacks_gpus(plan, pool) || pool.displaced.empty() || !stops.empty() || pool.stopping > 0) {
    return false;
  }
  if (gpu_coming_free(plan.input.state, plan.service().cluster)) return true;
  if (!replaces_gpu_tasks(plan.input.state, plan.service())) {
    plan.say(stuck_event(plan));
    return true;
  }
  const int32_t missing = std::max(pool.limits.lower - serving_of(pool), 0);
  const int32_t may_stop = displaced_for_one(plan, pool) - missing;
  const bool moving =
      count_of(pool.current, Phase::Healthy) + count_of(pool.current, Phase::Waiting) <
      static_cast<int32_t>(pool.current.size());
  if (moving) return true;
  if (may_stop <= 0) return false;
  stops = first_to_go(plan, pool.displaced, static_cast<size_t>(may_stop));
  return !stops.empty();
}

}  // namespace reconcile
