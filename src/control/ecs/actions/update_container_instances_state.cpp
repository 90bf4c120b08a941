#include <algorithm>
#include <set>

#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

// Source: ECS API reference, UpdateContainerInstancesState.
constexpr size_t most_instances = 10;

base::Result<model::InstanceStatus> wanted_status(
    const api::ecs::UpdateContainerInstancesStateRequest& request) {
  if (request.status == api::ecs::ContainerInstanceStatus::Active) {
    return model::InstanceStatus::Active;
  }
  if (request.status == api::ecs::ContainerInstanceStatus::Draining) {
    return model::InstanceStatus::Draining;
  }
  return invalid_parameter(
      "The status of a container instance can be set to ACTIVE or to DRAINING only.");
}

// Agents prove; only people overrule.
base::Result<void> allow_clearing(const Step& step,
                                  const api::ecs::UpdateContainerInstancesStateRequest& request) {
  if (request.berth_clear_gpu_ids.empty()) return {};
  if (std::holds_alternative<auth::FullAccess>(step.caller.access)) return {};
  return base::fail("AccessDeniedException",
                    base::format("User: {} is not authorized to clear quarantined GPUs because an "
                                 "agent's key does not allow this action.",
                                 step.caller.arn));
}

struct GpuToClear {
  model::InstanceArn instance;
  std::string gpu;
};

base::Result<std::vector<GpuToClear>> gpus_to_clear(
    const api::ecs::UpdateContainerInstancesStateRequest& request,
    const std::vector<const model::ContainerInstance*>& instances) {
  std::vector<GpuToClear> found;
  for (const std::string& gpu : request.berth_clear_gpu_ids) {
    const auto owner = std::ranges::find_if(instances, [&](const auto* instance) {
      return model::find_gpu(*instance, gpu) != nullptr;
    });
    if (owner == instances.end()) {
      return invalid_parameter(
          base::format("berthClearGpuIds: none of the container instances has a GPU {}.", gpu));
    }
    const model::GpuSlot& slot = *model::find_gpu(**owner, gpu);
    if (slot.state != model::GpuState::Quarantined) {
      return invalid_parameter(
          base::format("berthClearGpuIds: GPU {} is {}. Only a QUARANTINED GPU can be cleared.",
                       gpu, model::to_string(slot.state)));
    }
    found.push_back({(*owner)->arn, gpu});
  }
  return found;
}

}  // namespace

Answer<api::ecs::UpdateContainerInstancesStateResponse> update_container_instances_state(
    Step& step, const api::ecs::UpdateContainerInstancesStateRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  const model::InstanceStatus status = TRY(wanted_status(request));
  if (request.container_instances.empty() || request.container_instances.size() > most_instances) {
    return invalid_parameter(
        base::format("containerInstances must name 1 to {} of them.", most_instances));
  }
  TRY_VOID(allow_clearing(step, request));
  api::ecs::UpdateContainerInstancesStateResponse response;
  response.container_instances.set_present();
  response.failures.set_present();
  std::vector<const model::ContainerInstance*> instances;
  for (const std::string& text : request.container_instances) {
    const model::ContainerInstance* const instance = find_instance(step, cluster->name, text);
    const std::string arn =
        instance != nullptr ? instance->arn.str()
        : text.starts_with("arn:")
            ? text
            : model::instance_arn(step.settings.account, cluster->name, text).str();
    TRY_VOID(allow(step, "UpdateContainerInstancesState", cluster->name, arn));
    if (instance == nullptr) {
      response.failures.push_back(failure(arn, placement::reason_missing));
    } else if (instance->status == model::InstanceStatus::Inactive) {
      response.failures.push_back(failure(arn, placement::reason_inactive));
    } else {
      instances.push_back(instance);
    }
  }
  for (GpuToClear& one : TRY(gpus_to_clear(request, instances))) {
    step.change(model::GpuCleared{one.instance, std::move(one.gpu)});
  }
  // A call that clears GPUs only clears: its sender cannot know of a drain that has just begun, and
  // the wire makes it name a status.
  const bool only_clears = !request.berth_clear_gpu_ids.empty();
  for (const model::ContainerInstance* const instance : instances) {
    if (!only_clears && instance->status != status) {
      step.change(model::InstanceStatusChanged{instance->arn, status});
    }
    response.container_instances.push_back(describe_instance(step, *instance, false));
  }
  return response;
}

}  // namespace control::ecs
