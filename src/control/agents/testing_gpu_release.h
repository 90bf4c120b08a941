// What the tests of a GPU's release share: machines whose GPUs outlive their registrations, and
// what agents and operators say of them.
#pragma once

#include <string>
#include <vector>

#include "control/testing.h"

namespace control::testing {

enum class AgentKind : uint8_t { Berth, Official };

// Machines by name: the same name is the same physical GPUs, whatever instance they register as.
class MachinesByName {
 public:
  explicit MachinesByName(Plane& plane) : plane_(plane) {}

  // As a new instance, or as the one that it was.
  base::Result<model::InstanceArn> start(const std::string& name, AgentKind kind,
                                         const std::string& known_as = {}) {
    const model::InstanceType* const type = model::find_instance_type("p3.8xlarge");
    api::ecs::RegisterContainerInstanceRequest request;
    request.instance_identity_document =
        R"({"instanceId":"i-)" + name + R"(","instanceType":"p3.8xlarge"})";
    if (!known_as.empty()) request.container_instance_arn = known_as;
    if (kind == AgentKind::Berth) request.attributes.emplace_back().name = "berth.agent";
    for (const model::GpuDevice& gpu : model::emulated_gpus(*type, name)) {
      api::ecs::PlatformDevice& device = request.platform_devices.emplace_back();
      device.id = gpu.uuid;
      device.type = api::ecs::PlatformDeviceType::Gpu;
      device.berth_gpu.emplace().mps_capable = true;
    }
    const auto response = plane_.call<api::ecs::RegisterContainerInstanceResponse>(
        "RegisterContainerInstance", request);
    if (!response) return base::fail(response.error());
    return model::InstanceArn(*response->container_instance->container_instance_arn);
  }

 private:
  Plane& plane_;
};

inline void deregister(Plane& plane, const model::InstanceArn& instance) {
  api::ecs::DeregisterContainerInstanceRequest request;
  request.container_instance = instance.str();
  request.force = true;
  static_cast<void>(plane.call<api::ecs::DeregisterContainerInstanceResponse>(
      "DeregisterContainerInstance", request));
}

inline void stop(Plane& plane, const std::string& task) {
  api::ecs::StopTaskRequest request;
  request.task = task;
  static_cast<void>(plane.call<api::ecs::StopTaskResponse>("StopTask", request));
}

enum class Says : uint8_t { Nothing, Empty, InUse };

// False: the control plane refused the report.
inline bool report_stopped(Plane& plane, const std::string& task,
                           const std::vector<std::string>& gpus, Says says) {
  api::ecs::SubmitTaskStateChangeRequest request;
  request.task = task;
  request.status = "STOPPED";
  for (const std::string& gpu : gpus) {
    if (says == Says::Nothing) break;
    api::ecs::BerthGpuRelease& release = request.gpu_release.emplace_back();
    release.gpu_id = gpu;
    release.empty = says == Says::Empty;
    if (says == Says::InUse) release.reason = "1 process (pid 4711)";
  }
  return plane.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", request)
      .has_value();
}

inline base::Result<api::ecs::UpdateContainerInstancesStateResponse> update_state(
    Plane& plane, const model::InstanceArn& instance, api::ecs::ContainerInstanceStatus status,
    const std::vector<std::string>& clear = {}) {
  api::ecs::UpdateContainerInstancesStateRequest request;
  request.container_instances = {instance.str()};
  request.status = status;
  for (const std::string& gpu : clear) request.berth_clear_gpu_ids.push_back(gpu);
  return plane.call<api::ecs::UpdateContainerInstancesStateResponse>(
      "UpdateContainerInstancesState", request);
}

inline std::vector<std::string> gpus_of(const Plane& plane, const model::TaskArn& task) {
  std::vector<std::string> gpus;
  for (const auto& held : plane.core.state().tasks.at(task).held.gpus) gpus.push_back(held.gpu);
  return gpus;
}

inline const model::GpuSlot& slot(const Plane& plane, const model::InstanceArn& instance,
                                  size_t index) {
  return plane.core.state().instances.at(instance).gpus.at(index);
}

}  // namespace control::testing
