#include "sim/operator.h"

#include <string>

namespace sim {

void Operator::start() {
  environment_.events.after(std::chrono::minutes(1), [this] {
    look();
    start();
  });
}

void Operator::look() {
  const model::ClusterState* const state = server_.state();
  if (state == nullptr || clients_.link().is_cut()) return;
  for (const auto& agent : agents_) {
    if (agent->core() != nullptr) look_at(*agent, *state);
  }
  if (state->clusters.empty()) clients_.provide();
}

void Operator::look_at(Agent& agent, const model::ClusterState& state) {
  const std::string own = agent.core()->container_instance_arn();
  for (const auto& [arn, instance] : state.instances) {
    const bool left_behind = instance.ec2_instance_id == "i-" + agent.name() && arn.str() != own &&
                             instance.status != model::InstanceStatus::Inactive &&
                             !instance.agent_connected;
    if (left_behind) clients_.deregister(arn.str());
  }
  if (own.empty()) return;
  const auto* const instance = model::find_instance(state, model::InstanceArn(own));
  if (instance == nullptr || instance->status == model::InstanceStatus::Inactive) {
    agent.crash("its instance is not registered any more; restarted by the operator");
    return agent.start();
  }
  clear_gpus(agent, *instance);
}

void Operator::clear_gpus(const Agent& agent, const model::ContainerInstance& instance) {
  for (const model::GpuSlot& slot : instance.gpus) {
    if (slot.state != model::GpuState::Quarantined || slot.unproven_tasks.empty()) continue;
    const PhysicalGpu* const gpu = agent.machine().gpus().find(slot.device.uuid);
    if (gpu == nullptr || !gpu->on_bus || !gpu->is_empty()) continue;
    clients_.clear_gpu(instance.arn.str(), slot.device.uuid);
  }
}

}  // namespace sim
