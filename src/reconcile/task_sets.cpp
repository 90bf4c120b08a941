#include "reconcile/task_sets.h"

#include <algorithm>
#include <cmath>

#include "reconcile/rolling.h"

namespace reconcile {
namespace {

bool known(const model::Service& service, std::string_view id) {
  return std::ranges::find(service.task_sets, id, &model::TaskSet::id) != service.task_sets.end();
}

// Its own tasks that have to move count as displaced: each set is a pool of its own.
Pool pool_of(const Plan& plan, const ClassifiedTasks& classified, const model::TaskSet& set) {
  Pool pool;
  pool.desired = computed_desired_count(plan.service(), set);
  pool.limits = limits_of(plan.service(), pool.desired);
  pool.stopping = classified.stopping;
  for (const Member& member : classified.group(set.id)) {
    const bool stays = member.footing == Footing::Firm && member.phase != Phase::Unhealthy;
    (stays ? pool.current : pool.displaced).push_back(member);
  }
  return pool;
}

bool in_place(const Pool& pool) {
  return pool.displaced.empty() && static_cast<int32_t>(pool.current.size()) == pool.desired &&
         count_of(pool.current, Phase::Healthy) == pool.desired;
}

// Once all that it wants has proved itself, the failures of before count for nothing.
void forgive_failures(Plan& plan, size_t index, const Pool& pool) {
  if (plan.service().task_sets[index].failures_in_row == 0) return;
  if (pool.desired == 0 || count_of(pool.current, Phase::Healthy) < pool.desired) return;
  model::TaskSet& set = plan.altered().task_sets[index];
  set.failures_in_row = 0;
  set.start_not_before.reset();
}

void follow_stability(Plan& plan, size_t index, bool steady) {
  using Stability = api::ecs::StabilityStatus;
  const Stability now = steady ? Stability::SteadyState : Stability::Stabilizing;
  if (plan.service().task_sets[index].stability == now) return;
  model::TaskSet& set = plan.altered().task_sets[index];
  set.stability = now;
  set.stability_at = plan.input.now;
  set.updated_at = plan.input.now;
}

void plan_one(Plan& plan, const model::TaskSet& set, Pool pool) {
  if (set.start_not_before && *set.start_not_before > plan.input.now) {
    pool.may_start = false;
    plan.wake_at(*set.start_not_before);
    plan.say(backoff_event(plan.service()));
  }
  const auto& unplaced = plan.input.unplaced;
  const Moves moves = roll(plan, pool, unplaced ? unplaced->count : 0);
  for (const Member& member : moves.stops) plan.stop(*member.task, stop_reason(member, set.id));
  if (moves.start > 0) {
    plan.decisions.starts.push_back(
        {.id = set.id, .source = set.source, .count = moves.start, .on = {}, .zone = {}});
  }
}

void remove_drained(Plan& plan, const ClassifiedTasks& classified) {
  const auto gone = [&](const model::TaskSet& set) {
    return set.draining && classified.group(set.id).empty() &&
           !classified.stopping_of.contains(set.id);
  };
  if (std::ranges::none_of(plan.service().task_sets, gone)) return;
  std::erase_if(plan.altered().task_sets, gone);
}

}  // namespace

int32_t computed_desired_count(const model::Service& service, const model::TaskSet& set) {
  if (set.draining) return 0;
  return static_cast<int32_t>(std::ceil(service.desired_count * set.scale_percent / 100.0 - 1e-9));
}

bool plan_task_sets(Plan& plan, const ClassifiedTasks& classified) {
  bool all_in_place = true;
  for (const auto& [id, members] : classified.groups) {
    if (known(plan.service(), id)) continue;
    all_in_place = false;
    for (const Member& member : members) {
      if (plan.stops_enough()) break;
      plan.stop(*member.task, stop_reason(member, id));
    }
  }
  for (size_t i = 0; i < plan.service().task_sets.size(); ++i) {
    const model::TaskSet& set = plan.service().task_sets[i];
    Pool pool = pool_of(plan, classified, set);
    const bool steady = in_place(pool);
    forgive_failures(plan, i, pool);
    plan_one(plan, set, std::move(pool));
    follow_stability(plan, i, steady);
    all_in_place = all_in_place && steady;
  }
  remove_drained(plan, classified);
  return all_in_place;
}

}  // namespace reconcile
