#include "sim/checkers/queue_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/format.h"
#include "sim/checkers/obstacles.h"

namespace sim {
namespace {

const Wish* wish_of(const model::Task& task, const Expectations& expectations) {
  const auto wish = expectations.wishes.find(task.started_by);
  return wish == expectations.wishes.end() || !wish->second.queueing ? nullptr : &wish->second;
}

// Equal for tasks that start together: of one call, or of one named gang of one size.
std::string gang_of(const model::Task& task, const Wish& wish) {
  const Queueing& queueing = *wish.queueing;
  if (queueing.gang.empty()) return {};
  if (queueing.gang == "all") return "call " + task.started_by;
  return base::format("gang {} of {}", queueing.gang, queueing.gang_size);
}

size_t size_of(const Wish& wish) {
  if (wish.queueing->gang.empty()) return 1;
  return static_cast<size_t>(wish.queueing->gang == "all" ? wish.count : wish.queueing->gang_size);
}

void join(const model::Task& task, const Wish& wish, const Expectations& expectations,
          WaitingUnit& unit) {
  const Queueing& queueing = *wish.queueing;
  const auto family = expectations.families.find(wish.family);
  const Family* const own = family == expectations.families.end() ? nullptr : &family->second;
  const std::optional<base::Milliseconds> told =
      queueing.max_seconds == 0
          ? std::nullopt
          : std::optional<base::Milliseconds>(std::chrono::seconds(queueing.max_seconds));
  if (unit.members.empty()) {
    unit.family = own;
    unit.definition = task.definition;
    unit.priority = queueing.priority;
    unit.share = queueing.share.empty() ? task.group : queueing.share;
    unit.told_seconds = told;
    unit.size = size_of(wish);
  }
  if (unit.family != own) unit.family = nullptr;
  if (unit.definition != task.definition) unit.definition = {};
  unit.priority = std::max(unit.priority, queueing.priority);
  unit.queued_at = std::max(unit.queued_at, task.created_at);
  unit.told_seconds = told && unit.told_seconds ? std::max(told, unit.told_seconds) : std::nullopt;
  if (const auto deadline = deadline_of(task, expectations)) {
    unit.deadline = std::min(unit.deadline.value_or(*deadline), *deadline);
  }
  unit.members.push_back(task.arn);
}

// It asks for nothing but its turn; what it needs is not looked into.
WaitingUnit of_service(const model::Task& task) {
  WaitingUnit unit;
  unit.members.push_back(task.arn);
  unit.share = task.group;
  unit.queued_at = task.created_at;
  return unit;
}

template <class Room>
bool has_room(const model::ClusterState& state, const WaitingUnit& unit, Room room) {
  if (unit.family == nullptr) return false;
  size_t found = 0;
  for (const auto& [arn, instance] : state.instances) {
    // Machines of groups are not the queue's.
    if (!instance.capacity_provider.empty()) continue;
    found += static_cast<size_t>(std::max(0, room(instance, *unit.family)));
  }
  return found >= unit.members.size();
}

}  // namespace

std::vector<WaitingUnit> waiting_units(const model::ClusterState& state,
                                       const Expectations& expectations) {
  std::vector<const model::Task*> by_age;
  for (const auto& [arn, task] : state.tasks) {
    const bool queues = task.instance.empty() &&
                        task.last_status == model::TaskStatus::Provisioning &&
                        task.capacity_provider == model::berth_queue;
    if (queues) by_age.push_back(&task);
  }
  std::ranges::sort(by_age, [](const model::Task* a, const model::Task* b) {
    return std::tie(a->created_at, a->arn) < std::tie(b->created_at, b->arn);
  });
  std::vector<WaitingUnit> units;
  std::map<std::string, size_t> gathering;
  for (const model::Task* const task : by_age) {
    const Wish* const wish = wish_of(*task, expectations);
    if (wish == nullptr) {
      units.push_back(of_service(*task));
      continue;
    }
    const std::string gang = gang_of(*task, *wish);
    size_t index = units.size();
    if (!gang.empty()) index = gathering.try_emplace(gang, index).first->second;
    if (index == units.size()) units.emplace_back();
    join(*task, *wish, expectations, units[index]);
    if (!gang.empty() && units[index].is_complete()) gathering.erase(gang);
  }
  return units;
}

std::optional<base::Time> deadline_of(const model::Task& task, const Expectations& expectations) {
  const Wish* const wish = wish_of(task, expectations);
  if (wish == nullptr || wish->queueing->queue_seconds == 0) return std::nullopt;
  return task.created_at + std::chrono::seconds(wish->queueing->queue_seconds);
}

bool stands_before(const WaitingUnit& first, const WaitingUnit& second) {
  if (first.priority != second.priority) return first.priority > second.priority;
  return first.share == second.share && first.queued_at < second.queued_at;
}

bool has_room_now(const model::ClusterState& state, const WaitingUnit& unit) {
  return has_room(state, unit, room_now);
}

bool has_room_when_empty(const model::ClusterState& state, const WaitingUnit& unit) {
  return has_room(state, unit, room_when_empty);
}

}  // namespace sim
