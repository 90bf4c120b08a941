#include "reconcile/daemon.h"

#include <algorithm>
#include <set>

#include "reconcile/circuit_breaker.h"
#include "reconcile/rolling.h"

namespace reconcile {
namespace {

bool of_daemon(const model::ClusterState& state, const model::Task& task,
               const model::Service& sample) {
  const std::string_view name = model::service_of(task);
  if (name.empty()) return false;
  const std::string prefix =
      sample.arn.str().substr(0, sample.arn.str().size() - sample.name.size());
  const model::Service* const service =
      model::find_service(state, model::ServiceArn(prefix + std::string(name)));
  return service != nullptr && service->scheduling == api::ecs::SchedulingStrategy::Daemon;
}

bool only_daemons_left(const Input& input, const model::ContainerInstance& instance) {
  return std::ranges::all_of(instance.tasks, [&](const model::TaskArn& arn) {
    const model::Task* const task = model::find_task(input.state, arn);
    return task == nullptr || of_daemon(input.state, *task, input.service);
  });
}

class Daemons {
 public:
  Daemons(Plan& plan, const ClassifiedTasks& classified)
      : plan_(plan), tasks_(classified), input_(plan.input) {
    fit_.insert(input_.fit.begin(), input_.fit.end());
    desired_ = static_cast<int32_t>(fit_.size());
    sort_members();
  }

  bool plan() {
    const model::Deployment& primary = plan_.service().deployments.front();
    if (plan_.service().desired_count != desired_) plan_.altered().desired_count = desired_;
    const Limits limits = limits_of(plan_.service(), desired_);
    const bool failed = primary.rollout_state == api::ecs::DeploymentRolloutState::Failed;
    for (const Member& member : unwanted_) {
      if (plan_.stops_enough()) break;
      stop(member);
    }
    if (!failed) replace(limits);
    const bool waits = primary.start_not_before && *primary.start_not_before > input_.now;
    if (waits) {
      plan_.wake_at(*primary.start_not_before);
      plan_.say(backoff_event(plan_.service()));
    }
    if (!failed && !waits) start();
    return displaced_.empty() && unwanted_.empty() && missing() == 0 &&
           healthy_current() == desired_;
  }

 private:
  void sort_members() {
    const std::string& id = plan_.service().deployments.front().id;
    for (const auto& [group, members] : tasks_.groups) {
      for (const Member& member : members) {
        const model::InstanceArn& on = member.task->instance;
        if (!fit_.contains(on)) {
          if (leaves(member)) unwanted_.push_back(member);
        } else if (group != id || member.phase == Phase::Unhealthy) {
          displaced_.push_back(member);
          taken_.insert(on);
        } else if (!current_.emplace(on, member).second) {
          unwanted_.push_back(member);  // A second one.
        }
      }
    }
  }

  // Its instance is not one of ours now. One whose agent is away for a while may be again.
  bool leaves(const Member& member) const {
    const auto* const instance = model::find_instance(input_.state, member.task->instance);
    if (instance == nullptr) return true;
    if (member.footing == Footing::Draining) return only_daemons_left(input_, *instance);
    return instance->agent_connected;
  }

  int32_t healthy_current() const {
    int32_t healthy = 0;
    for (const auto& [on, member] : current_) healthy += member.phase == Phase::Healthy ? 1 : 0;
    return healthy;
  }

  int32_t missing() const {
    return desired_ - static_cast<int32_t>(current_.size()) -
           static_cast<int32_t>(displaced_.size());
  }

  void stop(const Member& member) {
    plan_.stop(*member.task, stop_reason(member, plan_.service().deployments.front().id));
  }

  // The old one has to go before the new one comes: as many at a time as the minimum allows.
  void replace(const Limits& limits) {
    int32_t serving = healthy_current() + count_of(displaced_, Phase::Healthy) +
                      count_of(displaced_, Phase::Settling);
    for (const Member& member : displaced_) {
      if (member.is_protected) continue;
      if (plan_.stops_enough()) return;
      if (member.phase == Phase::Healthy || member.phase == Phase::Settling) {
        if (serving - 1 < limits.lower) continue;
        --serving;
      }
      if (member.phase == Phase::Unhealthy &&
          member.task->started_by == plan_.service().deployments.front().id) {
        note_unhealthy(plan_);
      }
      stop(member);
    }
  }

  void start() {
    const model::Deployment& primary = plan_.service().deployments.front();
    for (const model::InstanceArn& on : fit_) {
      if (current_.contains(on) || taken_.contains(on) || still_stopping(on)) continue;
      if (static_cast<int32_t>(plan_.decisions.starts.size()) >= input_.options.most_at_once) {
        plan_.decisions.more = true;
        return;
      }
      plan_.decisions.starts.push_back(
          {.id = primary.id, .source = plan_.service().source, .count = 1, .on = on, .zone = {}});
    }
  }

  bool still_stopping(const model::InstanceArn& on) const {
    if (tasks_.stopping == 0) return false;
    const auto* const tasks = model::tasks_of(input_.state, plan_.service());
    const auto* const instance = model::find_instance(input_.state, on);
    return tasks != nullptr && std::ranges::any_of(instance->tasks, [&](const auto& arn) {
             return tasks->contains(arn);
           });
  }

  Plan& plan_;
  const ClassifiedTasks& tasks_;
  const Input& input_;
  std::set<model::InstanceArn> fit_;
  int32_t desired_ = 0;
  std::map<model::InstanceArn, Member> current_;
  std::set<model::InstanceArn> taken_;
  std::vector<Member> displaced_;
  std::vector<Member> unwanted_;
};

}  // namespace

bool plan_daemon(Plan& plan, const ClassifiedTasks& classified) {
  return Daemons(plan, classified).plan();
}

}  // namespace reconcile
