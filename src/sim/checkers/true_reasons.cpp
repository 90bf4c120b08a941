// Every reason shown is true: of a refused placement, in the very state that it was computed from,
// by a plain look at each instance; of a stopped task, by what its containers really did.

#include <algorithm>
#include <set>

#include "sim/checkers/checkers.h"
#include "sim/checkers/obstacles.h"
#include "sim/world.h"

namespace sim {
namespace {

class TrueReasons final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "true_reasons"; }

  void turned(const Turn& turn) override {
    for (const control::Reply& reply : turn.released.replies) {
      const auto call = turn.calls.find(reply.id);
      if (!reply.result || call == turn.calls.end() || !call->second.run_task) continue;
      const auto* const answer = reply.result->get_if<api::ecs::RunTaskResponse>();
      if (answer == nullptr) continue;
      if (!turn.alone || answer->failures.empty() || !is_new(turn, *call->second.run_task)) {
        continue;
      }
      check_refusal(turn.state, *call->second.run_task, answer->failures.back());
    }
  }
  void at_rest() override {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return;
    for (const auto& [arn, task] : state->tasks) {
      if (task.last_status == model::TaskStatus::Stopped) check_stop(task);
    }
  }

 private:
  // The answer to a repeated call is the one of then.
  static bool is_new(const Turn& turn, const api::ecs::RunTaskRequest& request) {
    const auto token = turn.state.client_tokens.find(
        {model::ClusterName("default"), request.client_token.value_or("")});
    return token != turn.state.client_tokens.end() && token->second.used_at == turn.now;
  }

  void check_refusal(const model::ClusterState& state, const api::ecs::RunTaskRequest& request,
                     const api::ecs::Failure& failure) {
    const auto family = world().expectations().families.find(request.task_definition.value_or(""));
    if (family == world().expectations().families.end()) return;
    // Of a gang one member may have room where all of them have not.
    const auto wish = world().expectations().wishes.find(request.started_by.value_or(""));
    if (wish != world().expectations().wishes.end() && wish->second.queueing) return;
    const std::string reason = failure.reason.value_or("");
    bool named = failure.arn.value_or("").empty();
    size_t instances = 0;
    for (const auto& [arn, instance] : state.instances) {
      if (instance.status != model::InstanceStatus::Active) continue;
      ++instances;
      const std::set<std::string> found = obstacles(instance, family->second);
      if (found.empty()) {
        return fail(base::format(
            "a task of {} was refused with {} ({}), but instance {} can take "
            "it",
            family->first, reason, failure.detail.value_or(""), short_name(arn.str())));
      }
      if (arn.str() != failure.arn.value_or("")) continue;
      named = true;
      if (found.contains(reason)) continue;
      fail(
          base::format("a task of {} was refused by instance {} with {} ({}), which is not true; "
                       "what holds is {}",
                       family->first, short_name(arn.str()), reason, failure.detail.value_or(""),
                       base::join(found, ", ")));
    }
    if (!named) {
      fail(base::format("a task of {} was refused with {} by {}, which is no ACTIVE instance",
                        family->first, reason, failure.arn.value_or("")));
    }
    if (instances > 0 && failure.arn.value_or("").empty()) {
      fail(base::format("a task of {} was refused with {} although {} instance(s) are ACTIVE",
                        family->first, reason, instances));
    }
  }

  void check_stop(const model::Task& task) {
    const std::string id = short_name(task.arn.str());
    if (task.stop_code.empty() || task.stopped_reason.empty()) {
      return fail(base::format("task {} is STOPPED without a reason", id));
    }
    if (task.stop_code == "UserInitiated" &&
        !world().expectations().stops.contains(task.arn.str())) {
      return fail(base::format("task {} shows UserInitiated, and nobody asked to stop it", id));
    }
    if (task.stop_code == "TerminationNotice" && !was_ended(task) &&
        !world().expectations().deregistered.contains(task.instance.str())) {
      return fail(
          base::format("task {} shows TerminationNotice, and its instance was neither "
                       "deregistered nor ended",
                       id));
    }
    for (const model::TaskContainer& container : task.containers) check_exit(task, container);
  }

  // With its machine.
  bool was_ended(const model::Task& task) {
    const auto* const instance = model::find_instance(*world().server().state(), task.instance);
    if (instance == nullptr) return true;  // Forgotten since: it was INACTIVE.
    const Agent* const agent = world().agent_on(instance->ec2_instance_id);
    return agent != nullptr && agent->has_ended();
  }

  // An exit code is the container's own.
  void check_exit(const model::Task& task, const model::TaskContainer& container) {
    if (!container.exit_code) return;
    const auto fates = world().fates().find({task.arn.str(), container.name});
    if (fates == world().fates().end()) {
      return fail(base::format("container {} of task {} shows exit code {} and never ran",
                               container.name, short_name(task.arn.str()), *container.exit_code));
    }
    const bool real = std::ranges::any_of(fates->second, [&](const ContainerFate& fate) {
      return fate.exit_code == container.exit_code;
    });
    if (real) return;
    fail(base::format("container {} of task {} shows exit code {}, which it did not have",
                      container.name, short_name(task.arn.str()), *container.exit_code));
  }
};

}  // namespace

std::unique_ptr<Checker> make_true_reasons(World& world) {
  return std::make_unique<TrueReasons>(world);
}

}  // namespace sim
