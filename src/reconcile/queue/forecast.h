// When there will be room for tasks that wait, and the room that is booked for them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "reconcile/queue/queue.h"
#include "reconcile/queue/timeline.h"
#include "reconcile/queue/unit.h"

namespace reconcile::queue {

// Room for a unit: a timeline for each member, in the members' order.
struct Opening {
  base::Time at;
  std::vector<size_t> timelines;
};

// Tasks without berth:max-seconds are taken to run for ever; one that has outrun it, or is
// stopping, to end in a moment. Lives for one pass.
class Forecast {
 public:
  Forecast(const Input& input, base::Time now);

  // The earliest end of a task at which all members have room at once, and keep it, whatever is
  // booked. nullopt: nobody knows.
  std::optional<Opening> earliest(const Unit& unit);
  // Whether its members would have room if nothing else ran and nothing were booked. Also true
  // where that is not known: of a gang whose members do not ask the same, and while an instance is
  // draining or away, which may come back.
  bool could_ever_start(const Unit& unit);
  void book(const Unit& unit, const Opening& plan);
  // How many tasks' berth:max-seconds the plan rests on.
  std::string basis_of(const Opening& plan) const;
  // Why nobody knows: one sentence.
  std::string obstacle_of(const Unit& unit);

  // Books instances for the unit that nothing else may take what it lacks of. Those go first where
  // the youngest task in its way is the oldest: an instance that is drained gets no younger ones,
  // so that the next pass chooses it again, and the unit waits no longer than the tasks run that
  // were there before. Tasks that come meanwhile and are in nobody's way change nothing of that.
  // Tasks that began before `old` are not waited for where that can be helped.
  // False: even when drained none would do, or too many stand drained already.
  bool drain(const Unit& unit, size_t most_drained, base::Time old);

  // Keeps at most so many instances with so many GPUs clear for tasks that need a whole one, of
  // those that have waited for less than `longest` (kept_clear.h).
  void keep_clear(size_t gpus, size_t count, base::Milliseconds longest);
  // Whether that instance is kept clear of this unit.
  bool is_clear_of(const Unit& unit, const model::InstanceArn& arn);

  // Whether all members have room now beside what is booked.
  bool has_room_now(const Unit& unit) { return opening_at(unit, now_).has_value(); }
  // The instances on which these placements would delay a reservation, or that are kept clear of
  // them.
  std::vector<model::InstanceArn> delayed_by(const Unit& unit, const std::vector<Start>& starts);
  // Tasks were placed there.
  void tasks_came(const std::vector<Start>& starts);
  size_t instances() const { return timelines_.size(); }

 private:
  bool is_clear_of(const Unit& unit, const Timeline& timeline) const;
  Timeline& timeline_of(const model::InstanceArn& arn);
  std::vector<RunningTask> running_on(const model::ContainerInstance& instance) const;
  // The timelines that could run it as far as attributes and constraints go.
  const std::vector<size_t>& eligible(const Requirements& need);
  std::optional<Opening> opening_at(const Unit& unit, base::Time at);
  bool has_room_but_for_reservations(const Unit& unit, base::Time at);
  // What `append` takes from the timelines that its members may run on, the earliest first.
  template <class Append>
  std::vector<base::Time> times_of(const Unit& unit, Append append);
  std::vector<size_t> timelines_to_drain(const Unit& unit, base::Time old);
  template <class Takes>
  std::vector<size_t> spread(const Unit& unit, const std::vector<size_t>* preferred, Takes takes);

  const Input& input_;
  base::Time now_;
  std::vector<Timeline> timelines_;                              // By the ARNs of their instances.
  std::map<const Requirements*, std::vector<size_t>> eligible_;  // Looked up, never iterated.
  std::deque<Requirements> combined_;  // What instances are drained for; reservations point to it.
  size_t drained_ = 0;
  base::Milliseconds longest_kept_off_{};
};

}  // namespace reconcile::queue
