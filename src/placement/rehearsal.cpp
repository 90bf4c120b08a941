#include "placement/rehearsal.h"

#include "model/change.h"

namespace placement {

Rehearsal::Rehearsal(Engine& engine, const model::ClusterState& real,
                     const model::ClusterName& cluster)
    : engine_(engine), real_(real) {
  for (const auto& [arn, instance] : real.instances) {
    if (instance.cluster == cluster) state_.instances.emplace(arn, instance);
  }
  for (const auto& [arn, task] : real.tasks) {
    if (task.cluster == cluster) state_.tasks.emplace(arn, task);
  }
  for (const auto& [group, tasks] : real.tasks_by_group) {
    if (group.first == cluster) state_.tasks_by_group.emplace(group, tasks);
  }
  const auto waiting = real.waiting_tasks.find(cluster);
  if (waiting != real.waiting_tasks.end()) state_.waiting_tasks.insert(*waiting);
}

Rehearsal::~Rehearsal() {
  for (const model::InstanceArn& arn : touched_) engine_.instance_changed(real_, arn);
}

void Rehearsal::place(model::Task task, const Placement& placement) {
  task.instance = placement.instance;
  task.held = placement.held;
  task.last_status = model::TaskStatus::Pending;
  task.waiting.reset();
  model::apply(state_, model::TaskPlaced{std::move(task)});
  touched_.push_back(placement.instance);
  engine_.instance_changed(state_, placement.instance);
}

}  // namespace placement
