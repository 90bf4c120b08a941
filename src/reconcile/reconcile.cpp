#include "reconcile/reconcile.h"

#include <algorithm>

#include "base/format.h"
#include "placement/refusal.h"
#include "reconcile/census.h"
#include "reconcile/circuit_breaker.h"
#include "reconcile/daemon.h"
#include "reconcile/draft.h"
#include "reconcile/gpu_rolling.h"
#include "reconcile/rebalancing.h"
#include "reconcile/rolling.h"
#include "reconcile/rollout.h"
#include "reconcile/task_sets.h"

namespace reconcile {
namespace {

// What runs where nobody can reach it does not count, and must not come back.
void give_up_lost(Draft& draft, const Census& census) {
  for (const Member& member : census.lost) {
    draft.stop(*member.task,
               base::format("The agent on container instance {} has been away for too long: the "
                            "task is replaced elsewhere",
                            model::short_id(member.task->instance.str())));
  }
}

void wind_down(Draft& draft, const Census& census) {
  for (const auto& [id, members] : census.groups) {
    for (const Member& member : members) draft.stop(*member.task, "The service was deleted");
  }
  if (!census.groups.empty() || !census.lost.empty() || census.stopping > 0) return;
  model::Service& service = draft.altered();
  service.status = model::ServiceStatus::Inactive;
  service.inactive_at = draft.situation.now;
  service.deployments.clear();
  service.task_sets.clear();
}

Pool replica_pool(const Draft& draft, const Census& census) {
  const model::Service& service = draft.service();
  Pool pool;
  pool.desired = service.desired_count;
  pool.limits = limits_of(service, pool.desired);
  pool.stopping = census.stopping;
  for (const auto& [id, members] : census.groups) {
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

void hold_back(Draft& draft, Pool& pool) {
  if (held_by_hook(draft, api::ecs::DeploymentLifecycleHookStage::PreScaleUp)) {
    pool.may_start = false;
    pool.may_replace = false;
  }
  const model::Deployment& primary = draft.service().deployments.front();
  if (primary.start_not_before && *primary.start_not_before > draft.situation.now) {
    draft.wake_at(*primary.start_not_before);
    if (pool.may_start && static_cast<int32_t>(pool.current.size()) < pool.desired) {
      draft.say(backoff_event(draft.service()));
    }
    pool.may_start = false;
  }
}

// Where the service is steady, a task in the zone that has the fewest.
void rebalance(Draft& draft, Pool& pool) {
  using Rebalancing = api::ecs::AvailabilityZoneRebalancing;
  const model::Service& service = draft.service();
  const auto running = static_cast<int32_t>(pool.current.size());
  if (service.zone_rebalancing != Rebalancing::Enabled || !can_rebalance(service) ||
      draft.situation.unplaced || !pool.displaced.empty() || pool.stopping > 0 ||
      count_of(pool.current, Phase::Healthy) != running) {
    if (running == pool.desired + 1 && running <= pool.limits.upper &&
        service.zone_rebalancing == Rebalancing::Enabled && can_rebalance(service)) {
      pool.spare = 1;  // The one that was added settles before another goes.
    }
    return;
  }
  if (running != pool.desired || pool.limits.upper <= pool.desired) return;
  const auto zone = zone_to_fill(draft.situation, pool);
  if (!zone) return;
  draft.decisions.starts.push_back({.id = service.deployments.front().id,
                                    .source = service.source,
                                    .count = 1,
                                    .on = {},
                                    .zone = *zone});
}

void say_unplaced(Draft& draft, const Census& census) {
  const auto& unplaced = draft.situation.unplaced;
  // Its own stopping tasks are about to make room.
  if (!unplaced || !draft.decisions.stops.empty() || census.stopping > 0) return;
  StemmedEvent event =
      unplaced_event(draft.service(), unplaced->nearest, unplaced->reason, unplaced->detail);
  draft.say(event.stem, std::move(event.rest));
}

// One of those that wait is named for all.
void say_waiting(Draft& draft, const Census& census) {
  if (!draft.decisions.stops.empty() || census.stopping > 0) return;
  for (const auto& [id, members] : census.groups) {
    const auto waits = std::ranges::find_if(members, [](const Member& member) {
      return member.phase == Phase::Waiting && !member.task->wait_reason.empty();
    });
    if (waits == members.end()) continue;
    StemmedEvent event = waiting_event(draft.service(), *waits->task);
    draft.say(event.stem, std::move(event.rest));
    return;
  }
}

// 100 and 100: no task may stop before and none may start.
void say_deadlock(Draft& draft, const Pool& pool, const Moves& moves) {
  if (moves.blocked == 0 || moves.start > 0 || !moves.stops.empty() || pool.displaced.empty() ||
      pool.limits.lower < pool.limits.upper || draft.situation.unplaced || pool.stopping > 0) {
    return;
  }
  draft.say(base::format(
      "(service {}) cannot replace its tasks: minimumHealthyPercent and maximumPercent together "
      "allow neither to stop one nor to start one. Lower the one or raise the other.",
      draft.service().name));
}

bool plan_replicas(Draft& draft, const Census& census) {
  Pool pool = replica_pool(draft, census);
  hold_back(draft, pool);
  if (draft.service().deployments.front().id != draft.situation.service.deployments.front().id) {
    pool = replica_pool(draft, census);  // A hook's end has rolled it back.
  }
  rebalance(draft, pool);
  const auto& unplaced = draft.situation.unplaced;
  Moves moves = roll(draft, pool, unplaced ? unplaced->count : 0);
  say_deadlock(draft, pool, moves);
  const bool told = pool.may_replace && roll_on_full_gpus(draft, pool, moves.stops);
  const std::string id = draft.service().deployments.front().id;
  for (const Member& member : moves.stops) {
    if (member.phase == Phase::Unhealthy && member.task->started_by == id) note_unhealthy(draft);
    draft.stop(*member.task, stop_reason(member, id));
  }
  if (moves.start > 0) {
    draft.decisions.starts.push_back(
        {.id = id, .source = draft.service().source, .count = moves.start, .on = {}, .zone = {}});
  }
  if (!told) say_unplaced(draft, census);
  if (!told) say_waiting(draft, census);
  return pool.displaced.empty() && count_of(pool.current, Phase::Healthy) == pool.desired &&
         static_cast<int32_t>(pool.current.size()) == pool.desired;
}

int32_t members_of(const Census& census) {
  size_t count = 0;
  for (const auto& [id, members] : census.groups) count += members.size();
  return static_cast<int32_t>(count);
}

// As the services-stable waiter sees it: as many RUNNING as are wanted, all of the one deployment.
bool is_steady(const Draft& draft, const Census& census) {
  const model::Service& service = draft.service();
  const bool starts = std::ranges::any_of(draft.decisions.starts,
                                          [](const Start& one) { return one.zone.empty(); });
  if (service.deployments.size() != 1 || !draft.decisions.stops.empty() || starts) return false;
  const std::vector<Member>& current = census.group(service.deployments.front().id);
  return members_of(census) == static_cast<int32_t>(current.size()) &&
         static_cast<int32_t>(current.size()) == service.desired_count &&
         count_of(current, Phase::Waiting) == 0 && count_of(current, Phase::Starting) == 0 &&
         count_of(current, Phase::Unhealthy) == 0;
}

void follow_steadiness(Draft& draft, bool steady) {
  if (draft.service().steady == steady) return;
  draft.altered().steady = steady;
  if (steady) draft.decisions.events.push_back(steady_event(draft.service()));
}

}  // namespace

Decisions reconcile(const Situation& situation, base::Random& random) {
  Draft draft(situation, random);
  if (situation.service.status == model::ServiceStatus::Inactive) return draft.finish();
  const Census census = take_census(situation);
  draft.wake_at(census.wake);
  give_up_lost(draft, census);
  if (situation.service.status == model::ServiceStatus::Draining) {
    wind_down(draft, census);
    return draft.finish();
  }
  if (situation.service.controller == api::ecs::DeploymentControllerType::External) {
    const bool steady = plan_task_sets(draft, census);
    say_unplaced(draft, census);
    say_waiting(draft, census);
    follow_steadiness(draft, steady && draft.decisions.stops.empty());
    return draft.finish();
  }
  watch_primary(draft, census);
  const bool daemon = situation.service.scheduling == api::ecs::SchedulingStrategy::Daemon;
  const bool in_place = daemon ? plan_daemon(draft, census) : plan_replicas(draft, census);
  if (daemon) say_unplaced(draft, census);
  settle_deployments(draft, census, in_place && draft.decisions.stops.empty());
  follow_steadiness(draft, is_steady(draft, census));
  return draft.finish();
}

}  // namespace reconcile
