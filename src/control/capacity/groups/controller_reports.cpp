// What the machine provider says, and what becomes of it in the records.
#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.h"
#include "control/capacity/groups/activities.h"
#include "control/capacity/groups/controller.h"
#include "control/tasks/task_end.h"
#include "reconcile/machines/launch_backoff.h"

namespace control {

using model::MachineState;

namespace {

constexpr base::Milliseconds retry_termination{30'000};
// A control plane that has heard no list for so long has no provider that lists.
constexpr base::Milliseconds first_list_within = std::chrono::minutes(5);

using Member = std::string model::Machine::*;

struct Found {
  const model::AutoScalingGroup* group = nullptr;
  const model::Machine* machine = nullptr;
};

Found find_machine(const model::ClusterState& state, Member member, std::string_view value) {
  for (const auto& [name, group] : state.auto_scaling_groups) {
    const auto found = std::ranges::find(group.machines, value, member);
    if (found != group.machines.end()) return {&group, &*found};
  }
  return {};
}

model::Machine& machine_of(model::AutoScalingGroup& group, std::string_view token) {
  const auto found = std::ranges::find(group.machines, token, &model::Machine::token);
  CHECK(found != group.machines.end());
  return *found;
}

// Tokens begin with the id of their group.
const model::AutoScalingGroup* group_of_token(const model::ClusterState& state,
                                              std::string_view token) {
  for (const auto& [name, group] : state.auto_scaling_groups) {
    if (!group.id.empty() && token.starts_with(group.id + "-")) return &group;
  }
  return nullptr;
}

// Whoever is still there is given up with its machine.
void deregister(Step& step, std::string_view machine_id) {
  if (machine_id.empty()) return;
  std::vector<model::InstanceArn> gone;
  for (const auto& [arn, instance] : step.state().instances) {
    if (instance.ec2_instance_id == machine_id &&
        instance.status != model::InstanceStatus::Inactive) {
      gone.push_back(arn);
    }
  }
  for (const model::InstanceArn& arn : gone) {
    const std::set<model::TaskArn> tasks = model::find_instance(step.state(), arn)->tasks;
    for (const model::TaskArn& task : tasks) {
      give_up_task(step, task,
                   base::format("Host EC2 (instance {}) terminated.", std::string(machine_id)));
    }
    step.change(model::InstanceDeregistered{arn, step.now});
  }
}

}  // namespace

void GroupController::take(Step& step, const Input& input) {
  const auto* const report = std::get_if<MachineReport>(&input);
  if (report != nullptr) std::visit([&](const auto& one) { take_one(step, one); }, *report);
}

void GroupController::take_one(Step& step, const MachineLaunched& report) {
  launches_.erase(report.token);
  const Found found = find_machine(step.state(), &model::Machine::token, report.token);
  if (found.machine == nullptr) {
    const model::AutoScalingGroup* const group = group_of_token(step.state(), report.token);
    if (group != nullptr) adopt(step, *group, report.token, report.id);
    return;
  }
  if (!found.machine->id.empty()) return;  // Told before.
  const Found other = find_machine(step.state(), &model::Machine::id, report.id);
  if (other.machine != nullptr) {
    return take_one(step, MachineNotLaunched{
                              report.token,
                              base::format("the machine provider answered with the id {}, which is "
                                           "that of another machine of group {}",
                                           report.id, other.group->name)});
  }
  model::AutoScalingGroup group = *found.group;
  model::Machine& machine = machine_of(group, report.token);
  machine.id = report.id;
  if (machine.state == MachineState::Wanted) {
    machine.state = MachineState::Pending;
    machine.changed_at = step.now;
  }
  name_launch(step, group.name, machine);
  due_.set_no_later(group.name, step.now);
  step.change(model::AutoScalingGroupPut{std::move(group)});
}

void GroupController::take_one(Step& step, const MachineNotLaunched& report) {
  launches_.erase(report.token);
  const Found found = find_machine(step.state(), &model::Machine::token, report.token);
  if (found.machine == nullptr || !found.machine->id.empty()) return;
  model::AutoScalingGroup group = *found.group;
  const model::Machine machine = *found.machine;
  std::erase_if(group.machines,
                [&](const model::Machine& one) { return one.token == report.token; });
  unsure_since_[group.name] = step.now;
  const bool was_wanted = machine.state == MachineState::Wanted;
  end_launch(step, group.name, machine, was_wanted ? "Failed" : "Cancelled", report.reason);
  if (was_wanted) {
    reconcile::machines::note_launch_failed(group, machine.created_at, step.now);
    if (const auto source = launch_source(step.state(), group)) {
      failed_source_[group.name] = *source;
    }
  }
  due_.set_no_later(group.name, step.now);
  step.change(model::AutoScalingGroupPut{std::move(group)});
}

// The provider has launched it after all, and another may have taken its place: it ends as any
// machine does that is one too many, with time for the tasks that may have come to it.
void GroupController::adopt(Step& step, const model::AutoScalingGroup& of, std::string_view token,
                            std::string_view id) {
  if (find_machine(step.state(), &model::Machine::id, id).machine != nullptr) return;
  model::AutoScalingGroup group = of;
  model::Machine& machine = group.machines.emplace_back();
  machine.token = token;
  machine.id = id;
  machine.instance_type = group.instance_type;
  machine.state = MachineState::Terminating;
  machine.changed_at = machine.created_at = step.now;
  machine.reason = "its machine provider had told that it was not launched";
  due_.set_no_later(group.name, step.now);
  step.change(model::AutoScalingGroupPut{std::move(group)});
}

// When a group that is deleted, and has no machine that is known of, may be forgotten: once it is
// forgotten nobody ends a machine of its that turns up. max: after the next list.
base::Time GroupController::forget_at(const std::string& group) const {
  if (!unsure_since_.contains(group)) return base::Time::min();
  return has_been_listed_ ? base::Time::max() : started_at_ + first_list_within;
}

void GroupController::machine_is_gone(Step& step, const model::AutoScalingGroup& before,
                                      std::string_view token) {
  model::AutoScalingGroup group = before;
  const model::Machine machine = machine_of(group, token);
  std::erase_if(group.machines, [&](const model::Machine& one) { return one.token == token; });
  if (machine.state != MachineState::InService) {
    end_launch(step, group.name, machine, "Cancelled", "The machine is gone.");
  }
  end_termination(step, group.name, machine);
  launches_.erase(machine.token);
  terminations_.erase(machine.id);
  terminate_again_at_.erase(machine.id);
  due_.set_no_later(group.name, step.now);
  step.change(model::AutoScalingGroupPut{std::move(group)});
  deregister(step, machine.id);
}

void GroupController::take_one(Step& step, const MachineTerminated& report) {
  terminations_.erase(report.id);
  const Found found = find_machine(step.state(), &model::Machine::id, report.id);
  if (found.machine == nullptr) return deregister(step, report.id);
  machine_is_gone(step, *found.group, std::string(found.machine->token));
}

void GroupController::take_one(Step& step, const MachineNotTerminated& report) {
  terminations_.erase(report.id);
  const Found found = find_machine(step.state(), &model::Machine::id, report.id);
  if (found.machine == nullptr) return;  // A stray: the next list names it again.
  const base::Time again_at = step.now + retry_termination;
  terminate_again_at_[report.id] = again_at;
  due_.set_no_later(found.group->name, again_at);
  explain_termination(step, found.group->name, *found.machine, report.reason);
}

void GroupController::take_one(Step& step, const MachinesListed& report) {
  has_been_listed_ = true;
  for (auto it = unsure_since_.begin(); it != unsure_since_.end();) {
    const auto [name, since] = *it;
    const bool is_settled = since + report.listed_after <= report.asked_at;
    if (is_settled) due_.set_no_later(name, step.now);
    it = is_settled ? unsure_since_.erase(it) : std::next(it);
  }
  std::map<std::string_view, std::string_view> ids;
  for (const ListedMachine& one : report.machines) ids[one.token] = one.id;
  for (const ListedMachine& one : report.machines) {
    if (find_machine(step.state(), &model::Machine::token, one.token).machine == nullptr) {
      const model::AutoScalingGroup* const group = group_of_token(step.state(), one.token);
      if (group == nullptr) continue;  // Somebody else's.
      adopt(step, *group, one.token, one.id);
    } else {
      take_one(step, MachineLaunched{one.token, one.id});
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, group] : step.state().auto_scaling_groups) names.push_back(name);
  for (const std::string& name : names) {
    take_listed(step, step.state().auto_scaling_groups.at(name), report, ids);
  }
}

// Machines that the provider does not have any more, or never had. One whose agent is there is
// there, whatever the list says.
void GroupController::take_listed(Step& step, const model::AutoScalingGroup& group,
                                  const MachinesListed& report,
                                  const std::map<std::string_view, std::string_view>& ids) {
  std::vector<std::string> gone;
  for (const model::Machine& machine : group.machines) {
    if (ids.contains(machine.token) || machine.changed_at + report.listed_after > report.asked_at ||
        machine.state == MachineState::Wanted || launches_.contains(machine.token)) {
      continue;
    }
    const bool is_connected =
        !machine.id.empty() && std::ranges::any_of(step.state().instances, [&](const auto& entry) {
          const model::ContainerInstance& instance = entry.second;
          return instance.ec2_instance_id == machine.id && instance.agent_connected &&
                 instance.status != model::InstanceStatus::Inactive;
        });
    if (!is_connected) gone.push_back(machine.token);
  }
  const std::string name = group.name;
  for (const std::string& token : gone) {
    const model::AutoScalingGroup& now = step.state().auto_scaling_groups.at(name);
    const Found found = find_machine(step.state(), &model::Machine::token, token);
    if (!found.machine->id.empty()) {
      begin_termination(
          step, name, *found.machine,
          cause_of_health(step.now, "its machine provider does not list it any more"));
    }
    machine_is_gone(step, now, token);
  }
}

}  // namespace control
