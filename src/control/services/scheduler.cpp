#include "control/services/scheduler.h"

#include <algorithm>
#include <vector>

#include "reconcile/backoff.h"

namespace control {
namespace {

// Reports come in flocks: one pass serves all that arrive within this time.
constexpr base::Milliseconds service_flock{25};
// A service whose task found no place tries again this long after the last time, when something
// has changed.
constexpr base::Milliseconds retry_placement{1'000};
constexpr size_t most_changes_a_tick = 2'000;  // Bounds one step and its transaction.

model::ServiceArn service_arn_of(const Step& step, const model::Task& task) {
  return model::service_arn(step.settings.account, task.cluster, model::service_of(task));
}

// The services whose way of rolling these tags may change: of one service, or of a cluster.
std::vector<model::ServiceArn> rolled_by(const Step& step, const model::TagsSet& change) {
  if (const auto* const service = std::get_if<model::ServiceArn>(&change.resource)) {
    return {*service};
  }
  std::vector<model::ServiceArn> found;
  const auto* const cluster = std::get_if<model::ClusterName>(&change.resource);
  if (cluster == nullptr) return found;
  const auto first = model::service_arn(step.settings.account, *cluster, "");
  const auto& services = step.state().services;
  for (auto it = services.lower_bound(first);
       it != services.end() && it->second.cluster == *cluster; ++it) {
    if (it->second.status != model::ServiceStatus::Inactive) found.push_back(it->first);
  }
  return found;
}

}  // namespace

ServiceScheduler::ServiceScheduler(const model::ClusterState& state, base::Time now) {
  for (const auto& [arn, service] : state.services) {
    if (service.status != model::ServiceStatus::Inactive) due_.set_no_later(arn, now);
  }
}

void ServiceScheduler::task_changed(Step& step, const model::TaskArn& arn, bool stopped) {
  const model::Task* const task = model::find_task(step.state(), arn);
  if (task == nullptr) return;
  if (stopped) capacity_came_free(step, task->cluster);
  if (model::service_of(*task).empty()) return;
  const model::Service* const service =
      model::find_service(step.state(), service_arn_of(step, *task));
  if (service == nullptr) return;
  due_.set_no_later(service->arn, step.now + service_flock);
  const reconcile::Options options = reconcile_options(step.settings);
  if (!stopped || !reconcile::failed_to_start(*task, options.settle)) return;
  model::Service counted = *service;
  if (reconcile::note_stopped(counted, *task, options, step.now)) {
    step.change(model::ServicePut{std::move(counted)});
  }
}

void ServiceScheduler::capacity_came_free(const Step& step, const model::ClusterName& cluster) {
  for (const auto& [arn, tried_at] : waiting_) {
    const model::Service* const service = model::find_service(step.state(), arn);
    if (service != nullptr && service->cluster == cluster) {
      due_.set_no_later(arn, std::max(tried_at + retry_placement, step.now + service_flock));
    }
  }
}

void ServiceScheduler::instance_changed(const Step& step, const model::InstanceArn& arn) {
  const auto* const instance = model::find_instance(step.state(), arn);
  if (instance == nullptr) return;
  capacity_came_free(step, instance->cluster);
  for (const model::TaskArn& task_arn : instance->tasks) {
    const model::Task* const task = model::find_task(step.state(), task_arn);
    if (!model::service_of(*task).empty()) {
      due_.set_no_later(service_arn_of(step, *task), step.now + service_flock);
    }
  }
  // ARNs are in the order of their clusters.
  const auto& services = step.state().services;
  const auto first = model::service_arn(step.settings.account, instance->cluster, "");
  for (auto it = services.lower_bound(first);
       it != services.end() && it->second.cluster == instance->cluster; ++it) {
    const bool follows =
        it->second.scheduling == api::ecs::SchedulingStrategy::Daemon ||
        it->second.zone_rebalancing == api::ecs::AvailabilityZoneRebalancing::Enabled;
    if (follows && it->second.status == model::ServiceStatus::Active) {
      due_.set_no_later(it->first, step.now + service_flock);
    }
  }
}

void ServiceScheduler::observe(Step& step, const model::Change& change) {
  if (const auto* const report = std::get_if<model::TaskReported>(&change)) {
    task_changed(step, report->arn, report->last_status == model::TaskStatus::Stopped);
  } else if (const auto* const stop = std::get_if<model::TaskStopRequested>(&change)) {
    task_changed(step, stop->arn, false);
  } else if (const auto* const health = std::get_if<model::ContainerHealthReported>(&change)) {
    task_changed(step, health->arn, false);
  } else if (const auto* const waits = std::get_if<model::TaskWaits>(&change)) {
    task_changed(step, waits->arn, false);
  } else if (const auto* const protection = std::get_if<model::TaskProtectionSet>(&change)) {
    task_changed(step, protection->arn, false);
  } else if (const auto* const put = std::get_if<model::ServicePut>(&change)) {
    due_.set_no_later(put->service.arn, step.now);
  } else if (const auto* const rollout = std::get_if<model::ServiceDeploymentPut>(&change)) {
    due_.set_no_later(rollout->deployment.service, step.now);
  } else if (const auto* const gone = std::get_if<model::ServiceForgotten>(&change)) {
    due_.erase(gone->arn);
    waiting_.erase(gone->arn);
  } else if (const auto* const tags = std::get_if<model::TagsSet>(&change)) {
    for (const model::ServiceArn& arn : rolled_by(step, *tags)) {
      due_.set_no_later(arn, step.now + service_flock);
    }
  } else if (model::gives_capacity(change)) {
    std::vector<model::InstanceArn> touched;
    model::touched_instances(step.state(), change, touched);
    for (const model::InstanceArn& arn : touched) instance_changed(step, arn);
  }
}

void ServiceScheduler::run_pass(Step& step, const model::ServiceArn& service,
                                Surroundings& shared) {
  const model::Service* const record = model::find_service(step.state(), service);
  const auto* const tasks = record == nullptr ? nullptr : model::tasks_of(step.state(), *record);
  const size_t looked_at = tasks == nullptr ? 0 : tasks->size();
  const PassResult result = run_service_pass(step, service, shared);
  // Afterwards: the pass of a large service, too, starts some tasks.
  shared.effort_left -= effort_of_pass + static_cast<Effort>(looked_at) * effort_of_task_looked_at;
  if (result.waiting) {
    waiting_[service] = step.now;
  } else {
    waiting_.erase(service);
  }
  if (result.again) due_.set_no_later(service, step.now);
  if (result.wake != base::Time::max()) due_.set_no_later(service, result.wake);
}

void ServiceScheduler::tick(Step& step) {
  const size_t first = step.changes().size();
  if (step.now > moment_) effort_left_ = most_effort_at_once;
  moment_ = step.now;
  Surroundings shared{.zones = {}, .effort_left = effort_left_};
  while (due_.next() <= step.now && shared.effort_left > 0 &&
         step.changes().size() - first < most_changes_a_tick) {
    const model::ServiceArn service = due_.first();
    due_.erase(service);
    run_pass(step, service, shared);
  }
  effort_left_ = shared.effort_left;
}

// Who calls meanwhile is served between two moments.
base::Time ServiceScheduler::next_tick() const {
  return effort_left_ > 0 ? due_.next() : std::max(due_.next(), moment_ + base::Milliseconds{1});
}

}  // namespace control
