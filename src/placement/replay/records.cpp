#include "placement/replay/records.h"

#include "base/format.h"

namespace placement::replay {

model::ContainerInstance instance_of(const TraceNode& node, size_t position) {
  model::ContainerInstance instance;
  instance.arn = model::instance_arn({}, cluster_name, base::format("{:08}", position));
  instance.cluster = cluster_name;
  instance.agent_connected = true;
  instance.cpu_units = node.cpu_milli;  // The trace's own unit: a thousandth of a core.
  instance.memory_mib = node.memory_mib;
  instance.attributes = {{"berth.gpu-model", node.model}};
  for (int32_t i = 0; i < node.gpus; ++i) {
    model::GpuSlot& slot = instance.gpus.emplace_back();
    slot.device.uuid = base::format("GPU-{}-{}", node.name, i);
    slot.device.model = node.model;
    slot.device.memory_mib = unknown_gpu_memory_mib;
    slot.device.mps_capable = true;
  }
  return instance;
}

std::vector<model::GpuRequest> gpu_requests_of(const TracePod& pod) {
  if (pod.gpus == 0) return {};
  model::GpuRequest gpu;
  gpu.container = "main";
  if (pod.gpu_milli < model::whole_gpu_milli) {
    gpu.kind = model::GpuRequestKind::Fraction;
    gpu.milli = pod.gpu_milli;
  } else {
    gpu.count = static_cast<uint32_t>(pod.gpus);
  }
  return {gpu};
}

Request request_of(const TracePod& pod) {
  Request request;
  request.cluster = cluster_name;
  request.group = "family:replay";
  request.resources.cpu_units = pod.cpu_milli;
  request.resources.memory_mib = pod.memory_mib;
  request.resources.gpus = gpu_requests_of(pod);
  if (!pod.models.empty()) {
    api::ecs::PlacementConstraint constraint;
    constraint.type = api::ecs::PlacementConstraintType::MemberOf;
    constraint.expression =
        base::format("attribute:berth.gpu-model in ['{}']", base::join(pod.models, "', '"));
    request.constraints.push_back(std::move(constraint));
  }
  return request;
}

}  // namespace placement::replay
