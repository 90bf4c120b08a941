#include "reconcile/queue/forecast.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "placement/cluster.h"
#include "placement/refusal.h"
#include "reconcile/queue/kept_clear.h"

namespace reconcile::queue {
namespace {

// A task that should have ended is expected to within this time.
constexpr base::Milliseconds a_moment = std::chrono::minutes(1);
// One that is being stopped is as good as gone: whoever waits for its room is passed by nobody, not
// even by a task that promises to end soon.
constexpr base::Milliseconds as_good_as_now{1};

std::optional<base::Milliseconds> max_run_of(const model::Task& task) {
  const auto tags = read_tags(task.tags);
  return tags ? tags->max_run : std::nullopt;
}

base::Time end_of(const model::Task& task, base::Time now) {
  if (task.desired_status == model::TaskStatus::Stopped) return now + as_good_as_now;
  const auto max_run = max_run_of(task);
  if (!max_run) return unknown_time;
  const base::Time end = task.started_at.value_or(now) + *max_run;
  return end > now ? end : now + a_moment;
}

// The sum of what these ask, as one.
Requirements sum_of(const std::vector<const Requirements*>& needs) {
  Requirements sum;
  for (const Requirements* const need : needs) {
    const placement::Demand& more = need->demand;
    sum.demand.cpu_units += more.cpu_units;
    sum.demand.memory_mib += more.memory_mib;
    sum.demand.whole_gpus += more.whole_gpus;
    sum.demand.all_gpus |= more.all_gpus;
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(sum.demand.host_ports, more.host_ports);
    append(sum.demand.shares, more.shares);
    append(sum.demand.mig_profiles, more.mig_profiles);
  }
  return sum;
}

}  // namespace

Forecast::Forecast(const Input& input, base::Time now) : input_(input), now_(now) {
  for (const auto& [arn, instance] : input.state.instances) {
    if (instance.cluster != input.cluster) continue;
    timelines_.emplace_back(instance, running_on(instance));
  }
}

Timeline& Forecast::timeline_of(const model::InstanceArn& arn) {
  const auto found = std::ranges::lower_bound(
      timelines_, arn, {}, [](const Timeline& timeline) -> const model::InstanceArn& {
        return timeline.instance().arn;
      });
  CHECK(found != timelines_.end() && found->instance().arn == arn);
  return *found;
}

std::vector<RunningTask> Forecast::running_on(const model::ContainerInstance& instance) const {
  std::vector<RunningTask> running;
  running.reserve(instance.tasks.size());
  for (const model::TaskArn& arn : instance.tasks) {
    const model::Task* const task = model::find_task(input_.state, arn);
    if (task != nullptr) running.push_back({task, end_of(*task, now_)});
  }
  return running;
}

const std::vector<size_t>& Forecast::eligible(const Requirements& need) {
  const auto [found, added] = eligible_.try_emplace(&need);
  std::vector<size_t>& list = found->second;
  if (!added) return list;
  for (size_t i = 0; i < timelines_.size(); ++i) {
    const model::ContainerInstance& instance = timelines_[i].instance();
    if (instance.status != model::InstanceStatus::Active || !instance.agent_connected) continue;
    const placement::Offer offer = placement::offer_of(instance);
    const auto objections = placement::objections_of(need.request, need.demand, instance, offer);
    if (objections.attributes.empty() && !objections.blockers.never) list.push_back(i);
  }
  for (const api::ecs::PlacementConstraint& constraint : need.request.constraints) {
    if (constraint.type != api::ecs::PlacementConstraintType::MemberOf) continue;
    const auto matching =
        input_.engine.filter(input_.state, input_.cluster, constraint.expression.value_or(""));
    if (!matching) {
      list.clear();
      break;
    }
    std::erase_if(list, [&](size_t timeline) {
      return !std::ranges::binary_search(*matching, timelines_[timeline].instance().arn);
    });
  }
  return list;
}

// A timeline for each member, the first that takes it beside those before; empty: there is none for
// one of them. `preferred`: these timelines, in this order, instead of those eligible.
template <class Takes>
std::vector<size_t> Forecast::spread(const Unit& unit, const std::vector<size_t>* preferred,
                                     Takes takes) {
  std::vector<size_t> chosen;
  std::map<size_t, std::vector<const Requirements*>> there;
  const Requirements* last = nullptr;
  size_t from = 0;
  for (const WaitingTask* const member : unit.members) {
    const std::vector<size_t>& timelines =
        preferred != nullptr ? *preferred : eligible(*member->need);
    if (member->need != last) from = 0;  // Where an equal one did not fit, this one does not.
    last = member->need;
    while (from < timelines.size() &&
           !takes(timelines[from], *member->need, there[timelines[from]])) {
      ++from;
    }
    if (from == timelines.size()) return {};
    chosen.push_back(timelines[from]);
    there[timelines[from]].push_back(member->need);
  }
  return chosen;
}

std::optional<Opening> Forecast::opening_at(const Unit& unit, base::Time at) {
  const Interval interval{at, unit.end_of(at)};
  std::vector<size_t> chosen = spread(unit, nullptr,
                                      [&](size_t timeline, const Requirements& need,
                                          const std::vector<const Requirements*>& others) {
                                        return !is_clear_of(unit, timelines_[timeline]) &&
                                               timelines_[timeline].takes(need, interval, others);
                                      });
  if (chosen.empty()) return std::nullopt;
  return Opening{at, std::move(chosen)};
}

bool Forecast::has_room_but_for_reservations(const Unit& unit, base::Time at) {
  const auto chosen =
      spread(unit, nullptr,
             [&](size_t timeline, const Requirements& need,
                 const std::vector<const Requirements*>& others) {
               return !is_clear_of(unit, timelines_[timeline]) &&
                      timelines_[timeline].takes_but_for_reservations(need, at, others);
             });
  return !chosen.empty();
}

template <class Append>
std::vector<base::Time> Forecast::times_of(const Unit& unit, Append append) {
  std::vector<base::Time> times;
  const Requirements* last = nullptr;
  for (const WaitingTask* const member : unit.members) {
    if (member->need == last) continue;
    last = member->need;
    for (const size_t timeline : eligible(*member->need)) {
      if (!is_clear_of(unit, timelines_[timeline])) {
        append(timelines_[timeline], *member->need, times);
      }
    }
  }
  std::ranges::sort(times);
  const auto repeated = std::ranges::unique(times);
  times.erase(repeated.begin(), repeated.end());
  return times;
}

// The earliest, and so the same in every pass until something in it changes: one that is only early
// would move, and what has been told with it, as soon as another task came. Were nothing booked,
// there would be the more room the later: that finds the first time to look at. Where that one is
// taken, the next are those at which instances open, and few of these are booked.
std::optional<Opening> Forecast::earliest(const Unit& unit) {
  const std::vector<base::Time> ends =
      times_of(unit, [](const Timeline& timeline, const Requirements&,
                        std::vector<base::Time>& times) { timeline.append_ends(times); });
  const auto first = std::ranges::partition_point(
      ends, [&](base::Time time) { return !has_room_but_for_reservations(unit, time); });
  if (first == ends.end()) return std::nullopt;
  if (auto plan = opening_at(unit, *first)) return plan;
  const std::vector<base::Time> openings =
      times_of(unit, [](Timeline& timeline, const Requirements& need,
                        std::vector<base::Time>& times) { timeline.append_openings(need, times); });
  for (auto at = std::ranges::upper_bound(openings, *first); at != openings.end(); ++at) {
    if (auto plan = opening_at(unit, *at)) return plan;
  }
  return std::nullopt;
}

bool Forecast::could_ever_start(const Unit& unit) {
  const bool alike = std::ranges::all_of(unit.members, [&](const WaitingTask* const member) {
    return member->need == unit.members.front()->need;
  });
  if (!alike || timelines_.empty()) return true;
  for (const Timeline& timeline : timelines_) {
    const model::ContainerInstance& instance = timeline.instance();
    if (instance.status == model::InstanceStatus::Inactive) continue;
    const bool may_come_back =
        instance.status != model::InstanceStatus::Active || !instance.agent_connected;
    if (may_come_back) return true;
  }
  const auto chosen = spread(unit, nullptr,
                             [&](size_t timeline, const Requirements& need,
                                 const std::vector<const Requirements*>& others) {
                               return timelines_[timeline].takes_when_empty(need, others);
                             });
  return !chosen.empty();
}

void Forecast::book(const Unit& unit, const Opening& plan) {
  for (size_t i = 0; i < unit.members.size(); ++i) {
    timelines_[plan.timelines[i]].book({unit.members[i]->need, plan.at, unit.end_of(plan.at)});
  }
}

std::string Forecast::basis_of(const Opening& plan) const {
  const std::set<size_t> timelines(plan.timelines.begin(), plan.timelines.end());
  size_t told = 0;
  size_t waiting = 0;
  for (const size_t timeline : timelines) {
    for (const RunningTask& running_task : timelines_[timeline].running()) {
      told += running_task.until <= plan.at;
    }
    for (const Reservation& reservation : timelines_[timeline].reservations()) {
      waiting += reservation.from < plan.at;
    }
  }
  const auto tasks = [](size_t count) {
    return base::format("{} {}", count, count == 1 ? "task" : "tasks");
  };
  std::string text = base::format("by {} of {}", max_seconds_tag, tasks(told + waiting));
  if (waiting > 0) text += base::format(", {} of them waiting before it", waiting);
  return text;
}

namespace {

// A task whose end nobody knows; of several one that holds GPUs, where those are wanted. nullptr:
// every end is known.
const model::Task* in_the_way_of(const Requirements& need, const Timeline& timeline) {
  const model::Task* found = nullptr;
  for (const RunningTask& running_task : timeline.running()) {
    if (running_task.until != unknown_time) continue;
    const bool holds_gpus = !running_task.task->held.gpus.empty();
    if (found == nullptr || (need.demand.wants_gpu() && found->held.gpus.empty() && holds_gpus)) {
      found = running_task.task;
    }
  }
  return found;
}

}  // namespace

std::string Forecast::obstacle_of(const Unit& unit) {
  const Requirements& need = *unit.members.front()->need;
  Timeline* nearest = nullptr;
  for (const size_t timeline : eligible(need)) {
    if (nearest == nullptr || timelines_[timeline].missing(need) < nearest->missing(need)) {
      nearest = &timelines_[timeline];
    }
  }
  if (nearest == nullptr) return "unknown: no instance of the cluster can run it";
  if (is_clear_of(unit, *nearest)) {
    return base::format("unknown: instance {} is kept clear for tasks that need a whole one",
                        placement::name_of(nearest->instance()));
  }
  if (const model::Task* const task = in_the_way_of(need, *nearest)) {
    return base::format("unknown: task {} on instance {} has no {}",
                        model::short_id(task->arn.str()), placement::name_of(nearest->instance()),
                        max_seconds_tag);
  }
  if (!nearest->reservations().empty()) {
    return base::format("unknown: instance {} is kept for a task before it",
                        placement::name_of(nearest->instance()));
  }
  return unit.members.size() == 1
             ? "unknown: no instance has room for it even when its tasks have ended"
             : "unknown: the instances have no room for the whole gang even when their tasks have "
               "ended";
}

std::vector<size_t> Forecast::timelines_to_drain(const Unit& unit, base::Time old) {
  // What is kept clear is for whoever comes first.
  std::set<std::tuple<bool, base::Time, base::Milliseconds, size_t>> by_youngest;
  for (const WaitingTask* const member : unit.members) {
    for (const size_t timeline : eligible(*member->need)) {
      if (!timelines_[timeline].reservations().empty() || is_clear_of(unit, timelines_[timeline])) {
        continue;
      }
      const Obstacles found = timelines_[timeline].obstacles_to(*member->need, now_);
      by_youngest.emplace(timelines_[timeline].is_kept_clear(), found.youngest, found.stay,
                          timeline);
    }
  }
  std::vector<size_t> preferred;
  for (const auto& [clear, youngest, stay, timeline] : by_youngest) preferred.push_back(timeline);
  return spread(unit, &preferred,
                [&](size_t timeline, const Requirements& need,
                    const std::vector<const Requirements*>& others) {
                  return std::ranges::binary_search(eligible(need), timeline) &&
                         timelines_[timeline].takes_when_drained(need, others, old);
                });
}

void Forecast::keep_clear(size_t gpus, size_t count, base::Milliseconds longest) {
  longest_kept_off_ = longest;
  for (const size_t timeline : timelines_to_keep_clear(timelines_, gpus, count, now_)) {
    timelines_[timeline].keep_clear();
  }
}

bool Forecast::is_clear_of(const Unit& unit, const Timeline& timeline) const {
  return timeline.is_kept_clear() &&
         stays_off_clear(unit, timeline.instance().gpus.size(), now_, longest_kept_off_);
}

bool Forecast::is_clear_of(const Unit& unit, const model::InstanceArn& arn) {
  return is_clear_of(unit, timeline_of(arn));
}

bool Forecast::drain(const Unit& unit, size_t most_drained, base::Time old) {
  std::vector<size_t> chosen = timelines_to_drain(unit, old);
  if (chosen.empty()) chosen = timelines_to_drain(unit, base::Time::min());
  const std::set<size_t> timelines(chosen.begin(), chosen.end());
  if (timelines.empty() || (drained_ > 0 && drained_ + timelines.size() > most_drained)) {
    return false;
  }
  for (const size_t timeline : timelines) {
    std::vector<const Requirements*> needs;
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] == timeline) needs.push_back(unit.members[i]->need);
    }
    combined_.push_back(sum_of(needs));
    timelines_[timeline].book({.need = &combined_.back()});
  }
  drained_ += timelines.size();
  return true;
}

std::vector<model::InstanceArn> Forecast::delayed_by(const Unit& unit,
                                                     const std::vector<Start>& starts) {
  const base::Time until = unit.end_of(now_);
  std::map<model::InstanceArn, std::vector<NewPlacement>> placements;
  for (const Start& start : starts) {
    placements[start.placement.instance].push_back({&start.placement.held, until});
  }
  std::vector<model::InstanceArn> delayed;
  for (const auto& [arn, list] : placements) {
    const Timeline& timeline = timeline_of(arn);
    if (is_clear_of(unit, timeline) || !timeline.keeps_reservations(list)) delayed.push_back(arn);
  }
  return delayed;
}

void Forecast::tasks_came(const std::vector<Start>& starts) {
  for (const Start& start : starts) {
    Timeline& timeline = timeline_of(start.placement.instance);
    timeline.set_running(running_on(timeline.instance()));
  }
}

}  // namespace reconcile::queue
