#include "control/capacity/groups/controller.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.h"
#include "control/capacity/groups/activities.h"
#include "control/capacity/groups/waiting_needs.h"
#include "reconcile/machines/launch_backoff.h"
#include "reconcile/machines/managed_scaling.h"

namespace control {

using model::MachineState;
using reconcile::machines::End;
using reconcile::machines::GroupDecisions;
using reconcile::machines::Look;
using reconcile::machines::Why;

namespace {

// Changes come in flocks: one pass serves all that arrive within this time.
constexpr base::Milliseconds group_flock{250};
// Between an order and its answer, for one group.
constexpr size_t most_launches_at_once = 50;

reconcile::machines::Options options_of(const Settings& settings) {
  reconcile::machines::Options options = settings.machines;
  options.lost_after = settings.instance_lost_after;
  return options;
}

size_t count_alive(const model::AutoScalingGroup& group) {
  return static_cast<size_t>(std::ranges::count_if(group.machines, [](const auto& machine) {
    return machine.state != MachineState::Terminating;
  }));
}

// Who deletes a group with its machines does not wait for their tasks.
bool drains(const model::CapacityProvider* provider, const model::AutoScalingGroup& group) {
  return !group.deleting && (provider == nullptr || provider->group.managed_draining !=
                                                        api::ecs::ManagedDraining::Disabled);
}
bool protects_busy(const model::CapacityProvider* provider) {
  return provider != nullptr && provider->group.managed_termination_protection ==
                                    api::ecs::ManagedTerminationProtection::Enabled;
}
const model::AutoScalingGroup* group_awaited_by(const model::ClusterState& state,
                                                const model::Task& task) {
  const auto provider = state.capacity_providers.find(task.capacity_provider);
  return provider == state.capacity_providers.end() ? nullptr
                                                    : group_of_provider(state, provider->second);
}
bool scales(const model::CapacityProvider* provider) {
  return provider != nullptr && provider->group.managed_scaling &&
         provider->group.managed_scaling->status == api::ecs::ManagedScalingStatus::Enabled;
}

}  // namespace

// One look at one group: `group` is as it is to be from now on.
struct GroupController::Pass {
  model::AutoScalingGroup group;
  std::vector<Look> looks;
  const model::CapacityProvider* provider = nullptr;
  std::optional<LaunchSource> source;
  std::string because;  // What changed the desired capacity in this pass.
  GroupDecisions decisions;
};

GroupController::GroupController(const model::ClusterState& state, const Settings& settings,
                                 base::Time now)
    : started_at_(now), next_point_(now + settings.machines.scaling_interval) {
  for (const auto& [name, group] : state.auto_scaling_groups) {
    due_.set_no_later(name, now);
    // What failed before is not known any more.
    const bool has_launched = group.launch_failures > 0 || !group.machines.empty();
    if (has_launched || group.deleting) unsure_since_[name] = now;
  }
  if (state.auto_scaling_groups.empty()) return;
  for (const auto& [cluster, tasks] : state.waiting_tasks) {
    for (const model::TaskArn& arn : tasks) {
      const model::AutoScalingGroup* const group = group_awaited_by(state, state.tasks.at(arn));
      if (group != nullptr) scale_soon_.insert(group->name);
    }
  }
}

base::Time GroupController::next_tick() const {
  return due_.empty() ? base::Time::max() : std::min(next_point_, due_.next());
}

void GroupController::instance_changed(const Step& step, const model::InstanceArn& arn) {
  const model::ContainerInstance* const instance = model::find_instance(step.state(), arn);
  if (instance == nullptr || instance->ec2_instance_id.empty()) return;
  for (const auto& [name, group] : step.state().auto_scaling_groups) {
    const auto found =
        std::ranges::find(group.machines, instance->ec2_instance_id, &model::Machine::id);
    if (found == group.machines.end()) continue;
    // Who comes is wanted; who is to go is waited for.
    const bool at_once = found->state == MachineState::Pending;
    due_.set_no_later(name, at_once ? step.now : step.now + group_flock);
    return;
  }
}

void GroupController::task_changed(const Step& step, const model::TaskArn& arn) {
  const model::Task* const task = model::find_task(step.state(), arn);
  if (task == nullptr) return;
  if (!task->waiting) {
    const model::ContainerInstance* const instance =
        model::find_instance(step.state(), task->instance);
    if (instance != nullptr && !instance->capacity_provider.empty()) {
      instance_changed(step, instance->arn);
    }
    return;
  }
  const model::AutoScalingGroup* const group = group_awaited_by(step.state(), *task);
  if (group == nullptr) return;
  scale_soon_.insert(group->name);
  due_.set_no_later(group->name, step.now + group_flock);
}

void GroupController::observe(Step& step, const model::Change& change) {
  if (step.state().auto_scaling_groups.empty()) return;
  if (const auto* const put = std::get_if<model::AutoScalingGroupPut>(&change)) {
    due_.set_no_later(put->group.name, step.now);
  } else if (const auto* const queued = std::get_if<model::TaskQueued>(&change)) {
    task_changed(step, queued->task.arn);
  } else if (const auto* const placed = std::get_if<model::TaskPlaced>(&change)) {
    task_changed(step, placed->task.arn);
  } else if (const auto* const report = std::get_if<model::TaskReported>(&change)) {
    if (report->last_status == model::TaskStatus::Stopped) task_changed(step, report->arn);
  } else if (std::holds_alternative<model::CapacityProviderPut>(change)) {
    for (const auto& [name, group] : step.state().auto_scaling_groups) {
      due_.set_no_later(name, step.now);
    }
  } else if (std::holds_alternative<model::InstanceRegistered>(change) ||
             std::holds_alternative<model::InstanceDeregistered>(change) ||
             std::holds_alternative<model::AgentConnectionChanged>(change)) {
    std::vector<model::InstanceArn> touched;
    model::touched_instances(step.state(), change, touched);
    for (const model::InstanceArn& arn : touched) instance_changed(step, arn);
  }
}

void GroupController::tick(Step& step) {
  const bool is_point = next_point_ <= step.now;
  if (is_point) {
    next_point_ = step.now + step.settings.machines.scaling_interval;
    for (const auto& [name, group] : step.state().auto_scaling_groups) {
      due_.set_no_later(name, step.now);
    }
  }
  bool counts = is_point;  // Once for each group.
  for (std::vector<std::string> due; !(due = due_.due(step.now)).empty(); counts = false) {
    for (const std::string& name : due) {
      due_.set(name, base::Time::max());  // Points look at every group.
      run_pass(step, name, counts);
    }
  }
}

void GroupController::run_pass(Step& step, const std::string& name, bool is_point) {
  const auto found = step.state().auto_scaling_groups.find(name);
  if (found == step.state().auto_scaling_groups.end()) {
    due_.erase(name);
    scale_soon_.erase(name);
    failed_source_.erase(name);
    unsure_since_.erase(name);
    return;
  }
  const reconcile::machines::Options options = options_of(step.settings);
  Pass pass{.group = found->second,
            .looks = {},
            .provider = provider_of_group(step.state(), found->second),
            .source = launch_source(step.state(), found->second),
            .because = {},
            .decisions = {}};
  const auto instances = reconcile::machines::instances_by_machine(step.state());
  for (const model::Machine& machine : pass.group.machines) {
    Look look = reconcile::machines::look_at(step.state(), step.settings.account, machine,
                                             instances, options);
    look.source_made_at = launch_source_made_at(step.state(), machine);
    pass.looks.push_back(look);
  }
  const bool waited_for = scale_soon_.erase(name) > 0;
  if (!scales(pass.provider) || pass.group.deleting) {
    pass.group.points_below = 0;
  } else if (is_point || waited_for) {
    scale(step, pass, is_point);
  }
  // Who has changed what machines are made from does not wait for the mistake of before.
  const auto failed = failed_source_.find(name);
  if (failed != failed_source_.end() && pass.source && failed->second != *pass.source) {
    reconcile::machines::note_launch_succeeded(pass.group);
    failed_source_.erase(failed);
  }
  pass.decisions = step.settings.group_policy({.group = pass.group,
                                               .looks = pass.looks,
                                               .now = step.now,
                                               .options = options,
                                               .drains = drains(pass.provider, pass.group),
                                               .protects_busy = protects_busy(pass.provider)});
  carry_out(step, pass);
  if (pass.decisions.forget) {
    const base::Time at = forget_at(name);
    if (at <= step.now) step.change(model::AutoScalingGroupForgotten{name});
    return due_.set_no_later(name, std::max(at, step.now));
  }
  launch(step, pass);
  if (pass.group != step.state().auto_scaling_groups.at(name)) {
    step.change(model::AutoScalingGroupPut{pass.group});
  }
  give_orders(step, pass);
  due_.set_no_later(name, pass.decisions.wake);
  // Whether those that go are drained already is for the next look.
  if (!pass.decisions.ends.empty()) due_.set_no_later(name, step.now);
}

void GroupController::scale(Step& step, Pass& pass, bool is_point) {
  const auto decision = reconcile::machines::scale(
      {.group = pass.group,
       .looks = pass.looks,
       .settings = *pass.provider->group.managed_scaling,
       .waiting = waiting_for(step, *pass.provider, pass.group, pass.looks,
                              pass.source ? pass.source->instance_type : std::string()),
       .now = step.now,
       .options = options_of(step.settings),
       .protects_busy = protects_busy(pass.provider),
       .is_point = is_point});
  pass.group.points_below = decision.points_below;
  pass.group.desired_capacity = decision.desired_capacity;
  pass.because = decision.reason;
}

void GroupController::carry_out(Step& step, Pass& pass) {
  const std::string& name = pass.group.name;
  for (const size_t i : pass.decisions.joined) {
    model::Machine& machine = pass.group.machines[i];
    machine.state = MachineState::InService;
    machine.changed_at = step.now;
    const auto& attributes = pass.looks[i].instance->attributes;
    if (const auto zone = attributes.find("ecs.availability-zone"); zone != attributes.end()) {
      machine.availability_zone = zone->second;
    }
    reconcile::machines::note_launch_succeeded(pass.group);
    failed_source_.erase(name);
    end_launch(step, name, machine, "Successful");
    // Its agent may have been faster than its provider's answer.
    const std::string provider = pass.provider == nullptr ? std::string() : pass.provider->name;
    if (pass.looks[i].instance->capacity_provider != provider) {
      model::ContainerInstance joined = *pass.looks[i].instance;
      joined.capacity_provider = provider;
      ++joined.version;
      step.change(model::InstanceRegistered{std::move(joined)});
    }
  }
  size_t alive = count_alive(pass.group);
  for (const End& end : pass.decisions.ends) {
    model::Machine& machine = pass.group.machines[end.machine];
    machine.state = MachineState::Terminating;
    machine.changed_at = step.now;
    machine.reason = end.reason;
    --alive;
    if (end.why == Why::NeverJoined) {
      reconcile::machines::note_launch_failed(pass.group, machine.created_at, step.now);
      if (pass.source) failed_source_[name] = *pass.source;
      end_launch(step, name, machine, "Failed", end.reason);
    }
    machine.healthy = machine.healthy && end.why != Why::Unhealthy && end.why != Why::NeverJoined;
    if (machine.id.empty()) continue;
    begin_termination(step, name, machine,
                      machine.healthy
                          ? cause_of_surplus(step.now, machine, {alive + 1, alive}, pass.because)
                          : cause_of_health(step.now, end.reason));
  }
  for (size_t i = 0; i < pass.group.machines.size(); ++i) {
    model::Machine& machine = pass.group.machines[i];
    const model::ContainerInstance* const instance = pass.looks[i].instance;
    // Nobody is to come to a machine that goes, whether its tasks are waited for or not.
    if (machine.state == MachineState::Terminating && instance != nullptr &&
        instance->status == model::InstanceStatus::Active) {
      step.change(model::InstanceStatusChanged{instance->arn, model::InstanceStatus::Draining});
    } else if (machine.state == MachineState::InService && protects_busy(pass.provider)) {
      machine.scale_in_protected = pass.looks[i].busy;
    }
  }
}

void GroupController::launch(Step& step, Pass& pass) {
  if (pass.decisions.launch_zones.empty()) return;
  const std::string& name = pass.group.name;
  if (!pass.source) {
    note_no_launch(step, name,
                   base::format("The group's launch {} does not exist any more. Give it another "
                                "one with UpdateAutoScalingGroup.",
                                pass.group.launch_configuration.empty()
                                    ? "template " + pass.group.launch_template + " (version " +
                                          pass.group.launch_template_version + ")"
                                    : "configuration " + pass.group.launch_configuration));
    reconcile::machines::note_launch_failed(pass.group, step.now, step.now);
    return due_.set_no_later(name, *pass.group.launch_not_before);
  }
  size_t alive = count_alive(pass.group);
  for (const std::string& zone : pass.decisions.launch_zones) {
    model::Machine machine;
    machine.token = base::format("{}-{}", pass.group.id, step.random.hex(16));
    machine.instance_type = pass.source->instance_type;
    machine.availability_zone = zone;
    machine.launch_name = pass.source->name;
    machine.launch_version = pass.source->version;
    machine.scale_in_protected = pass.group.new_machines_protected;
    machine.changed_at = machine.created_at = step.now;
    begin_launch(step, name, machine, {alive, alive + 1}, pass.because);
    ++alive;
    fresh_.insert(machine.token);
    pass.group.machines.push_back(std::move(machine));
  }
}

void GroupController::give_orders(Step& step, const Pass& pass) {
  size_t out = 0;
  for (const model::Machine& machine : pass.group.machines) {
    if (launches_.contains(machine.token)) ++out;
  }
  for (const model::Machine& machine : pass.group.machines) {
    if (machine.state != MachineState::Wanted || out >= most_launches_at_once) continue;
    if (!launches_.insert(machine.token).second) continue;
    ++out;
    // As it was when the launch was decided.
    model::AutoScalingGroup then = pass.group;
    (machine.launch_version.empty() ? then.launch_configuration : then.launch_template) =
        machine.launch_name;
    then.launch_template_version = machine.launch_version;
    const auto source = launch_source(step.state(), then);
    LaunchMachine order{.group = pass.group.name,
                        .token = machine.token,
                        .instance_type = machine.instance_type,
                        .availability_zone = machine.availability_zone,
                        .user_data = source ? source->user_data : std::string(),
                        .tags = {},
                        .again = fresh_.erase(machine.token) == 0};
    for (const model::GroupTag& tag : pass.group.tags) {
      if (tag.propagate_at_launch) order.tags[tag.key] = tag.value;
    }
    step.order(std::move(order));
  }
  for (const size_t i : pass.decisions.drained) {
    const model::Machine& machine = pass.group.machines[i];
    begin_termination(step, pass.group.name, machine,
                      machine.reason.empty() ? cause_of_surplus(step.now, machine, {i + 1, i}, {})
                                             : cause_of_end(step.now, machine.reason));
    const auto again_at = terminate_again_at_.find(machine.id);
    if (again_at != terminate_again_at_.end() && again_at->second > step.now) {
      due_.set_no_later(pass.group.name, again_at->second);
    } else if (terminations_.insert(machine.id).second) {
      step.order(TerminateMachine{pass.group.name, machine.id});
    }
  }
}

}  // namespace control
