#include "reconcile/machines/look.h"

namespace reconcile::machines {
namespace {

bool is_of_daemon(const model::ClusterState& state, const model::Account& account,
                  const model::Task& task) {
  const model::Service* const service = model::find_service(
      state, model::service_arn(account, task.cluster, model::service_of(task)));
  return service != nullptr && service->scheduling == api::ecs::SchedulingStrategy::Daemon;
}

// Whether it is more than the other what their machine is now.
bool is_later(const model::ContainerInstance& one, const model::ContainerInstance& other) {
  if (one.agent_connected != other.agent_connected) return one.agent_connected;
  return one.registered_at > other.registered_at;
}

}  // namespace

InstancesByMachine instances_by_machine(const model::ClusterState& state) {
  InstancesByMachine found;
  for (const auto& [arn, instance] : state.instances) {
    if (instance.status == model::InstanceStatus::Inactive) continue;
    if (instance.ec2_instance_id.empty()) continue;
    const model::ContainerInstance*& known = found[instance.ec2_instance_id];
    if (known == nullptr || is_later(instance, *known)) known = &instance;
  }
  return found;
}

Look look_at(const model::ClusterState& state, const model::Account& account,
             const model::Machine& machine, const InstancesByMachine& instances,
             const Options& options) {
  Look look;
  if (machine.id.empty()) return look;
  const auto found = instances.find(machine.id);
  if (found == instances.end()) return look;
  look.instance = found->second;
  if (!look.instance->agent_connected) {
    look.lost_at = look.instance->connected_changed_at + options.lost_after;
  }
  for (const model::TaskArn& arn : look.instance->tasks) {
    const model::Task& task = *model::find_task(state, arn);
    if (model::service_of(task).empty()) {
      look.busy = look.has_standalone_tasks = true;
      return look;
    }
    look.busy = look.busy || !is_of_daemon(state, account, task);
  }
  return look;
}

}  // namespace reconcile::machines
