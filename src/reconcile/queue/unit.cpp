#include "reconcile/queue/unit.h"

#include <algorithm>
#include <tuple>

namespace reconcile::queue {
namespace {

Unit unit_of(std::vector<const WaitingTask*> members) {
  Unit unit;
  const WaitingTask& first = *members.front();
  unit.priority = first.tags.priority;
  unit.share = first.share;
  unit.queued_at = first.queued_at;
  unit.max_run = first.tags.max_run;
  for (const WaitingTask* const member : members) {
    unit.priority = std::max(unit.priority, member->tags.priority);
    unit.queued_at = std::max(unit.queued_at, member->queued_at);
    if (!member->tags.max_run) unit.max_run.reset();
    if (unit.max_run) unit.max_run = std::max(*unit.max_run, *member->tags.max_run);
    if (!member->tags.queue_time) continue;
    const base::Time deadline = member->queued_at + *member->tags.queue_time;
    unit.deadline = std::min(unit.deadline.value_or(deadline), deadline);
  }
  unit.complete =
      first.gang.empty() || members.size() >= static_cast<size_t>(std::max(first.gang_size, 1));
  unit.members = std::move(members);
  return unit;
}

}  // namespace

std::vector<Unit> units_of(const std::vector<WaitingTask>& tasks) {
  std::vector<const WaitingTask*> by_age;
  for (const WaitingTask& task : tasks) by_age.push_back(&task);
  std::ranges::sort(by_age, [](const WaitingTask* a, const WaitingTask* b) {
    return std::tie(a->queued_at, a->arn) < std::tie(b->queued_at, b->arn);
  });
  std::vector<std::vector<const WaitingTask*>> members;
  std::map<std::pair<std::string, int32_t>, size_t> gathering;  // Gangs that are not complete.
  for (const WaitingTask* const task : by_age) {
    if (task->gang.empty()) {
      members.push_back({task});
      continue;
    }
    const auto [gang, added] =
        gathering.try_emplace(std::pair(task->gang, task->gang_size), members.size());
    if (added) members.emplace_back();
    std::vector<const WaitingTask*>& list = members[gang->second];
    list.push_back(task);
    if (list.size() >= static_cast<size_t>(task->gang_size)) gathering.erase(gang);
  }
  std::vector<Unit> units;
  for (auto& list : members) units.push_back(unit_of(std::move(list)));
  std::ranges::sort(units, [](const Unit& a, const Unit& b) {
    return std::tie(a.queued_at, a.members.front()->arn) <
           std::tie(b.queued_at, b.members.front()->arn);
  });
  return units;
}

}  // namespace reconcile::queue
