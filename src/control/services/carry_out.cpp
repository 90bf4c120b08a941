#include "control/services/carry_out.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "control/capacity/waiting.h"
#include "control/services/service_tasks.h"
#include "reconcile/events.h"
#include "reconcile/rebalancing.h"

namespace control {
namespace {

constexpr std::string_view stop_code = "ServiceSchedulerInitiated";

// Everything of a service whose ARN is "<its own, of another type>/<id>".
template <class Arn, class Record>
std::vector<Arn> belonging(const std::map<Arn, Record>& records, const Arn& first,
                           const model::ServiceArn& service) {
  std::vector<Arn> found;
  for (auto it = records.lower_bound(first); it != records.end() && it->second.service == service;
       ++it) {
    found.push_back(it->first);
  }
  return found;
}

std::vector<model::ServiceDeploymentArn> rollouts_of(const Step& step,
                                                     const model::ServiceArn& service) {
  return belonging(step.state().service_deployments, model::service_deployment_arn(service, ""),
                   service);
}

std::vector<model::ServiceRevisionArn> revisions_of(const Step& step,
                                                    const model::ServiceArn& service) {
  return belonging(step.state().service_revisions, model::service_revision_arn(service, ""),
                   service);
}

void forget_old_rollouts(Step& step, const model::ServiceArn& arn) {
  std::vector<std::pair<base::Time, model::ServiceDeploymentArn>> ended;
  const auto all = rollouts_of(step, arn);
  if (all.size() <= model::most_service_deployments) return;
  for (const model::ServiceDeploymentArn& one : all) {
    const auto& rollout = step.state().service_deployments.at(one);
    if (rollout.finished_at) ended.emplace_back(rollout.created_at, one);
  }
  std::ranges::sort(ended);
  const size_t surplus = std::min(ended.size(), all.size() - model::most_service_deployments);
  for (size_t i = 0; i < surplus; ++i) {
    step.change(model::ServiceDeploymentForgotten{ended[i].second});
  }
  const model::Service& service = step.state().services.at(arn);
  std::set<model::ServiceRevisionArn> named{service.completed_revision};
  for (const auto& deployment : service.deployments) named.insert(deployment.revision);
  for (const auto& one : rollouts_of(step, arn)) {
    const auto& rollout = step.state().service_deployments.at(one);
    named.insert(rollout.target);
    named.insert(rollout.sources.begin(), rollout.sources.end());
  }
  for (const model::ServiceRevisionArn& revision : revisions_of(step, arn)) {
    if (!named.contains(revision)) step.change(model::ServiceRevisionForgotten{revision});
  }
}

// True when one of them waited for capacity, and has ended with this.
bool stop_tasks(Step& step, const model::ServiceArn& arn, const std::vector<reconcile::Stop>& stops,
                Effort& effort_left) {
  effort_left -= static_cast<Effort>(stops.size()) * effort_of_stop;
  std::vector<model::TaskArn> stopped;
  bool ended = false;
  for (const reconcile::Stop& stop : stops) {
    if (step.state().tasks.at(stop.task).waiting) {
      end_waiting_task(step, stop.task, std::string(stop_code), stop.reason);
      ended = true;
    } else {
      step.change(
          model::TaskStopRequested{stop.task, std::string(stop_code), stop.reason, step.now});
    }
    stopped.push_back(stop.task);
  }
  if (!stopped.empty()) {
    add_service_event(step, arn, reconcile::stopped_event(step.state().services.at(arn), stopped));
  }
  return ended;
}

void tell_started(Step& step, const model::ServiceArn& arn,
                  const std::vector<model::TaskArn>& started) {
  if (started.empty()) return;
  add_service_event(step, arn, reconcile::started_event(step.state().services.at(arn), started));
}

struct Starts {
  std::optional<reconcile::Unplaced> unplaced;
  bool some_wait = false;
  bool cut_short = false;
};
// Carries the starts out. What found no place is told; a rebalancing start that finds none is not.
Starts start_all(Step& step, const model::ServiceArn& arn,
                 const std::vector<reconcile::Start>& starts, Effort& effort_left) {
  Starts sum;
  std::vector<model::TaskArn> all;
  for (const reconcile::Start& start : starts) {
    // Not where nothing was started: those that find no place would be all that is ever tried.
    sum.cut_short = sum.cut_short || (effort_left <= 0 && !all.empty());
    if (sum.cut_short) break;
    StartedTasks outcome = start_service_tasks(step, arn, start, effort_left);
    sum.cut_short = outcome.cut_short;
    if (!start.zone.empty()) {
      for (const model::TaskArn& task : outcome.started) {
        add_service_event(
            step, arn,
            reconcile::rebalanced_event(step.state().services.at(arn), task, start.zone));
      }
      continue;
    }
    all.insert(all.end(), outcome.started.begin(), outcome.started.end());
    sum.some_wait = sum.some_wait || outcome.some_wait;
    if (!outcome.unplaced) continue;
    const int32_t before = sum.unplaced ? sum.unplaced->count : 0;
    sum.unplaced = std::move(outcome.unplaced);
    sum.unplaced->count += before;
  }
  tell_started(step, arn, all);
  return sum;
}

reconcile::Input situation_of(const Step& step, const model::Service& service) {
  return {.state = step.state(),
          .service = service,
          .now = step.now,
          .options = reconcile_options(step.settings)};
}

}  // namespace

reconcile::Options reconcile_options(const Settings& settings) {
  return {.settle = settings.service_settle, .lost_after = settings.instance_lost_after};
}

void add_service_event(Step& step, const model::ServiceArn& service, std::string message) {
  step.change(model::ServiceEventAdded{
      service, {.id = step.random.uuid(), .created_at = step.now, .message = std::move(message)}});
}

void keep_decisions(Step& step, const model::ServiceArn& service,
                    const reconcile::Decisions& decisions) {
  for (const model::ServiceRevision& revision : decisions.revisions) {
    step.change(model::ServiceRevisionPut{revision});
  }
  for (const auto& [arn, rollout] : decisions.rollouts) {
    step.change(model::ServiceDeploymentPut{rollout});
  }
  if (decisions.service) step.change(model::ServicePut{*decisions.service});
  for (const std::string& event : decisions.events) add_service_event(step, service, event);
  if (!decisions.revisions.empty()) forget_old_rollouts(step, service);
}

void forget_service(Step& step, const model::ServiceArn& service) {
  for (const auto& one : rollouts_of(step, service)) {
    step.change(model::ServiceDeploymentForgotten{one});
  }
  for (const auto& one : revisions_of(step, service)) {
    step.change(model::ServiceRevisionForgotten{one});
  }
  step.change(model::ServiceForgotten{service});
}

PassResult run_service_pass(Step& step, const model::ServiceArn& arn, Surroundings& shared) {
  const model::Service* const service = model::find_service(step.state(), arn);
  if (service == nullptr || service->status == model::ServiceStatus::Inactive) return {};
  reconcile::Input input = situation_of(step, *service);
  if (service->zone_rebalancing == api::ecs::AvailabilityZoneRebalancing::Enabled) {
    const auto [zones, is_new] = shared.zones.try_emplace(service->cluster);
    if (is_new) zones->second = reconcile::zones_of(step.state(), service->cluster);
    input.zones = zones->second;
  }
  if (service->scheduling == api::ecs::SchedulingStrategy::Daemon &&
      service->status == model::ServiceStatus::Active) {
    auto fit = instances_for_daemon(step, *service);
    if (!fit) {
      const std::string event =
          base::format("(service {}) cannot start tasks: {}", service->name, fit.error().message);
      if (!reconcile::is_muted(step.state(), *service, event, step.now)) {
        add_service_event(step, arn, event);
      }
      return {};
    }
    input.fit = std::move(*fit);
  }
  const reconcile::Decisions first = step.settings.reconciler(input, step.random);
  keep_decisions(step, arn, first);
  Effort& effort_left = shared.effort_left;
  bool altered = stop_tasks(step, arn, first.stops, effort_left) || !first.rollouts.empty();
  const Starts starts = start_all(step, arn, first.starts, effort_left);
  input.unplaced = starts.unplaced;
  // What was rolled back, completed or hooked changes what is next; so do tasks that wait.
  altered = altered || starts.some_wait || starts.cut_short;
  PassResult result{
      .waiting = input.unplaced.has_value(), .again = first.more || altered, .wake = first.wake};
  if (!input.unplaced) return result;
  const reconcile::Decisions second = step.settings.reconciler(input, step.random);
  keep_decisions(step, arn, second);
  altered = stop_tasks(step, arn, second.stops, effort_left) || altered;
  result.wake = std::min(result.wake, second.wake);
  result.again = altered;
  return result;
}

}  // namespace control
