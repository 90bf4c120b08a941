#include "reconcile/reconcile.h"

#include <algorithm>

#include "base/format.h"
#include "placement/refusal.h"
#include "reconcile/circuit_breaker.h"
#include "reconcile/classify.h"
#include "reconcile/daemon.h"
#include "reconcile/gpu_rolling.h"
#include "reconcile/plan.h"
#include "reconcile/rebalancing.h"
#include "reconcile/rolling.h"
#include "reconcile/rollout.h"
#include "reconcile/task_sets.h"

namespace reconcile {
namespace {

// What runs where nobody can reach it does not count, and must not come back.
void give_up_lost(Plan& plan, const ClassifiedTasks& classified) {
  for (const Member& member : classified.lost) {
    if (plan.stops_enough()) return;
    plan.stop(*member.task,
              base::format("The agent on container instance {} has been away for too long: the "
                           "task is replaced elsewhere",
                           model::short_id(member.task->instance.str())));
  }
}

void wind_down(Plan& plan, const ClassifiedTasks& classified) {
  for (const auto& [id, members] : classified.groups) {
    for (const Member& member : members) {
      if (plan.stops_enough()) return;
      plan.stop(*member.task, "The service was deleted");
    }
  }
  if (!classified.groups.empty() || !classified.lost.empty() || classified.stopping > 0) return;
  model::Service& service = plan.altered();
  service.status = model::ServiceStatus::Inactive;
  service.inactive_at = plan.input.now;
  service.deployments.clear();
  service.task_sets.clear();
}

Pool replica_pool(const Plan& plan, const ClassifiedTasks& classified) {
  const model::Service& service = plan.service();
  Pool pool;
  pool.desired = service.desired_count;
  pool.limits = limits_of(service, pool.desired);
  pool.stopping = classified.stopping;
  for (const auto& [id, members] : classified.groups) {
    for (const Member& member : members) {
      const bool stays = id == service.deployments.front().id && member.footing == Footing::Firm &&
                         member.phase != Phase::Unhealthy;
      (stays ? pool.current : pool.displaced).push_back(member);
    }
  }
  const model::Deployment& primary = service.deployments.front();
  if (primary.rollout_state == api::ecs::DeploymentRolloutState::Failed) {
    pool.may_start = false;
    pool.may_replace = false;
  }
  return pool;
}

void hold_back(Plan& plan, Pool& pool) {
  if (held_by_hook(plan, api::ecs::DeploymentLifecycleHookStage::PreScaleUp)) {
    pool.may_start = false;
    pool.may_replace = false;
  }
  const model::Deployment& primary = plan.service().deployments.front();
  if (primary.start_not_before && *primary.start_not_before > plan.input.now) {
    plan.wake_at(*primary.start_not_before);
    if (pool.may_start && static_cast<int32_t>(pool.current.size()) < pool.desired) {
      plan.say(backoff_event(plan.service()));
    }
    pool.may_start = false;
  }
}

// Where the service is steady, a task in the zone that has the fewest.
void rebalance(Plan& plan, Pool& pool) {
  using Rebalancing = api::ecs::AvailabilityZoneRebalancing;
  const model::Service& service = plan.service();
  const auto running = static_cast<int32_t>(pool.current.size());
  if (service.zone_rebalancing != Rebalancing::Enabled || !can_rebalance(service) ||
      plan.input.unplaced || !pool.displaced.empty() || pool.stopping > 0 ||
      count_of(pool.current, Phase::Healthy) != running) {
    if (running == pool.desired + 1 && running <= pool.limits.upper &&
        service.zone_rebalancing == Rebalancing::Enabled && can_rebalance(service)) {
      pool.spare = 1;  // The one that was added settles before another goes.
    }
    return;
  }
  if (running != pool.desired || pool.limits.upper <= pool.desired) return;
  const auto zone = zone_to_fill(plan.input, pool);
  if (!zone) return;
  plan.decisions.starts.push_back({.id = service.deployments.front().id,
                                   .source = service.source,
                                   .count = 1,
                                   .on = {},
                                   .zone = *zone});
}

void say_unplaced(Plan& plan, const ClassifiedTasks& classified) {
  const auto& unplaced = plan.input.unplaced;
  // Its own stopping tasks are about to make room.
  if (!unplaced || !plan.decisions.stops.empty() || classified.stopping > 0) return;
  StemmedEvent event =
      unplaced_event(plan.service(), unplaced->nearest, unplaced->reason, unplaced->detail);
  plan.say(event.stem, std::move(event.rest));
}

// One of those that wait is named for all.
void say_waiting(Plan& plan, const ClassifiedTasks& classified) {
  if (!plan.decisions.stops.empty() || classified.stopping > 0) return;
  for (const auto& [id, members] : classified.groups) {
    const auto waits = std::ranges::find_if(members, [](const Member& member) {
      return member.phase == Phase::Waiting && !member.task->wait_reason.empty();
    });
    if (waits == members.end()) continue;
    StemmedEvent event = waiting_event(plan.service(), *waits->task);
    plan.say(event.stem, std::move(event.rest));
    return;
  }
}

// 100 and 100: no task may stop before and none may start.
void say_deadlock(Plan& plan, const Pool& pool, const Moves& moves) {
  if (moves.blocked == 0 || moves.start > 0 || !moves.stops.empty() || pool.displaced.empty() ||
      pool.limits.lower < pool.limits.upper || plan.input.unplaced || pool.stopping > 0) {
    return;
  }
  plan.say(base::format(
      "(service {}) cannot replace its tasks: minimumHealthyPercent and maximumPercent together "
      "allow neither to stop one nor to start one. Lower the one or raise the other.",
      plan.service().name));
}

bool plan_replicas(Plan& plan, const ClassifiedTasks& classified) {
  Pool pool = replica_pool(plan, classified);
  hold_back(plan, pool);
  if (plan.service().deployments.front().id != plan.input.service.deployments.front().id) {
    pool = replica_pool(plan, classified);  // A hook's end has rolled it back.
  }
  rebalance(plan, pool);
  const auto& unplaced = plan.input.unplaced;
  Moves moves = roll(plan, pool, unplaced ? unplaced->count : 0);
  say_deadlock(plan, pool, moves);
  const bool told = pool.may_replace && roll_on_full_gpus(plan, pool, moves.stops);
  const std::string id = plan.service().deployments.front().id;
  for (const Member& member : moves.stops) {
    if (member.phase == Phase::Unhealthy && member.task->started_by == id) note_unhealthy(plan);
    plan.stop(*member.task, stop_reason(member, id));
  }
  if (moves.start > 0) {
    plan.decisions.starts.push_back(
        {.id = id, .source = plan.service().source, .count = moves.start, .on = {}, .zone = {}});
  }
  if (!told) say_unplaced(plan, classified);
  if (!told) say_waiting(plan, classified);
  return pool.displaced.empty() && count_of(pool.current, Phase::Healthy) == pool.desired &&
         static_cast<int32_t>(pool.current.size()) == pool.desired;
}

int32_t members_of(const ClassifiedTasks& classified) {
  size_t count = 0;
  for (const auto& [id, members] : classified.groups) count += members.size();
  return static_cast<int32_t>(count);
}

// As the services-stable waiter sees it: as many RUNNING as are wanted, all of the one deployment.
bool is_steady(const Plan& plan, const ClassifiedTasks& classified) {
  const model::Service& service = plan.service();
  const bool starts =
      std::ranges::any_of(plan.decisions.starts, [](const Start& one) { return one.zone.empty(); });
  if (service.deployments.size() != 1 || !plan.decisions.stops.empty() || starts) return false;
  const std::vector<Member>& current = classified.group(service.deployments.front().id);
  return members_of(classified) == static_cast<int32_t>(current.size()) &&
         static_cast<int32_t>(current.size()) == service.desired_count &&
         count_of(current, Phase::Waiting) == 0 && count_of(current, Phase::Starting) == 0 &&
         count_of(current, Phase::Unhealthy) == 0;
}

void follow_steadiness(Plan& plan, bool steady) {
  if (plan.service().steady == steady) return;
  plan.altered().steady = steady;
  if (steady) plan.decisions.events.push_back(steady_event(plan.service()));
}

}  // namespace

Decisions reconcile(const Input& input, base::Random& random) {
  Plan plan(input, random);
  if (input.service.status == model::ServiceStatus::Inactive) return plan.finish();
  const ClassifiedTasks classified = classify(input);
  plan.wake_at(classified.wake);
  give_up_lost(plan, classified);
  if (input.service.status == model::ServiceStatus::Draining) {
    wind_down(plan, classified);
    return plan.finish();
  }
  if (input.service.controller == api::ecs::DeploymentControllerType::External) {
    const bool steady = plan_task_sets(plan, classified);
    say_unplaced(plan, classified);
    say_waiting(plan, classified);
    follow_steadiness(plan, steady && plan.decisions.stops.empty());
    return plan.finish();
  }
  watch_primary(plan, classified);
  const bool daemon = input.service.scheduling == api::ecs::SchedulingStrategy::Daemon;
  const bool in_place = daemon ? plan_daemon(plan, classified) : plan_replicas(plan, classified);
  if (daemon) say_unplaced(plan, classified);
  settle_deployments(plan, classified, in_place && plan.decisions.stops.empty());
  follow_steadiness(plan, is_steady(plan, classified));
  return plan.finish();
}

}  // namespace reconcile
