#include "reconcile/rolling.h"

#include <algorithm>

#include "base/format.h"
#include "reconcile/scale_in.h"

namespace reconcile {
namespace {

// Stops of one pass, and what they leave.
class StopList {
 public:
  StopList(Plan& plan, const Pool& pool)
      : plan_(plan), pool_(pool), displaced_(pool.displaced), current_(pool.current) {
    serving_ = serving_of(pool);
  }

  // Those that have not started serve nobody.
  void stop_starting_displaced() {
    std::vector<Member> starting;
    std::ranges::copy_if(displaced_, std::back_inserter(starting), [](const Member& one) {
      return one.phase == Phase::Waiting || one.phase == Phase::Starting;
    });
    for (const Member& one : starting) {
      if (room() == 0) {
        plan_.decisions.more = true;
        return;
      }
      take(displaced_, one);
    }
  }
  // `count` at most, healthy ones only down to the healthy minimum.
  void stop_current(int32_t count) { stop_from(current_, count); }
  int32_t stop_displaced(int32_t count) { return stop_from(displaced_, count); }

  int32_t current() const { return static_cast<int32_t>(current_.size()); }
  int32_t displaced() const { return static_cast<int32_t>(displaced_.size()); }
  int32_t healthy_current() const { return count_of(current_, Phase::Healthy); }
  bool has(Phase phase) const { return count_of(displaced_, phase) > 0; }
  std::vector<Member> stops() && { return std::move(stops_); }

 private:
  // So many more may one pass stop.
  int32_t room() const {
    return std::max(plan_.input.options.most_at_once - static_cast<int32_t>(stops_.size()), 0);
  }

  int32_t stop_from(std::vector<Member>& members, int32_t count) {
    if (count > room()) plan_.decisions.more = true;
    count = std::min(count, room());
    if (count <= 0) return 0;
    int32_t stopped = 0;
    for (const Member& member : first_to_go(plan_, members, static_cast<size_t>(count))) {
      if (serves(members, member) && serving_ - 1 < pool_.limits.lower) break;
      take(members, member);
      ++stopped;
    }
    return stopped;
  }

  // An old task that runs serves; a new one does once it is known to be healthy.
  bool serves(const std::vector<Member>& members, const Member& member) const {
    return member.phase == Phase::Healthy ||
           (&members == &displaced_ && member.phase == Phase::Settling);
  }

  void take(std::vector<Member>& members, const Member& member) {
    if (serves(members, member)) --serving_;
    stops_.push_back(member);
    std::erase_if(members, [&](const Member& one) { return one.task == member.task; });
  }

  Plan& plan_;
  const Pool& pool_;
  std::vector<Member> displaced_;
  std::vector<Member> current_;
  std::vector<Member> stops_;
  int32_t serving_ = 0;
};

// Displaced tasks that are in the way. Not healthy ones go one by one, and only while nothing else
// is on the move: each may yet recover.
void make_room(StopList& stop_list, const Pool& pool, int32_t count) {
  if (count <= 0) return;
  const bool moving = pool.stopping > 0 || count_of(pool.current, Phase::Starting) > 0;
  if (stop_list.has(Phase::Unhealthy)) {
    if (!moving) stop_list.stop_displaced(1);
    return;
  }
  stop_list.stop_displaced(count);
}

}  // namespace

Limits limits_of(int32_t desired, int32_t minimum_healthy_percent, int32_t maximum_percent) {
  const int64_t wanted = desired;
  return {.lower = static_cast<int32_t>((wanted * minimum_healthy_percent + 99) / 100),
          .upper = static_cast<int32_t>(wanted * maximum_percent / 100)};
}

Limits limits_of(const model::Service& service, int32_t desired) {
  const bool daemon = service.scheduling == api::ecs::SchedulingStrategy::Daemon;
  const auto& configuration = service.deployment_configuration;
  return limits_of(desired, configuration.minimum_healthy_percent.value_or(daemon ? 0 : 100),
                   configuration.maximum_percent.value_or(daemon ? 100 : 200));
}

int32_t tried_in_vain(const Pool& pool) {
  return static_cast<int32_t>(std::ranges::count_if(pool.current, [](const Member& member) {
    return member.phase == Phase::Waiting && !member.task->wait_reason.empty();
  }));
}

int32_t serving_of(const Pool& pool) {
  return count_of(pool.current, Phase::Healthy) + count_of(pool.displaced, Phase::Healthy) +
         count_of(pool.displaced, Phase::Settling);
}

Moves roll(Plan& plan, const Pool& pool, int32_t unplaced) {
  Moves moves;
  StopList stop_list(plan, pool);
  if (pool.may_replace) stop_list.stop_starting_displaced();
  stop_list.stop_current(stop_list.current() - pool.desired - pool.spare);
  if (pool.may_replace) {
    stop_list.stop_displaced(std::min(
        stop_list.displaced(), stop_list.healthy_current() + stop_list.displaced() - pool.desired));
  }
  const int32_t wanted = pool.may_start ? std::max(pool.desired - stop_list.current(), 0) : 0;
  if (unplaced > 0) {
    // What is stopping already gives back room.
    if (pool.may_replace) make_room(stop_list, pool, std::min(wanted, unplaced) - pool.stopping);
    moves.blocked = wanted;
  } else {
    const int32_t room = pool.limits.upper - stop_list.current() - stop_list.displaced();
    const int32_t fits = std::clamp(room, 0, wanted);
    const int32_t most = plan.input.options.most_at_once;
    moves.start = std::min(fits, most);
    if (fits > most) plan.decisions.more = true;
    moves.blocked = wanted - fits;
    // Those that were tried and found no place are as blocked as those that may not start; what is
    // stopping already gives back room.
    const int32_t stuck = std::max(tried_in_vain(pool) - pool.stopping, 0);
    if (pool.may_replace) make_room(stop_list, pool, moves.blocked + stuck);
  }
  moves.stops = std::move(stop_list).stops();
  return moves;
}

std::string stop_reason(const Member& member, std::string_view id) {
  const std::string_view instance = model::short_id(member.task->instance.str());
  if (member.footing == Footing::Draining) {
    return base::format("Container instance {} is DRAINING: the task is replaced elsewhere",
                        instance);
  }
  if (member.phase == Phase::Unhealthy) return "Task failed container health checks";
  return base::format("Scaling activity initiated by (deployment {})", id);
}

}  // namespace reconcile
