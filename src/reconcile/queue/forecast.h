// When there will be room for tasks that wait, and the room that is booked for them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "reconcile/queue/lane.h"
#include "reconcile/queue/queue.h"
#include "reconcile/queue/unit.h"

namespace reconcile::queue {

// Room for a unit: a lane for each member, in the members' order.
struct Plan {
  base::Time at;
  std::vector<size_t> lanes;
};

// Tasks without berth:max-seconds are taken to run for ever; one that has outrun it, or is
// stopping, to end in a moment. Lives for one pass.
class Forecast {
 public:
  Forecast(const Ground& ground, base::Time now);

  // The earliest end of a task at which all members have room at once, and keep it, whatever is
  // booked. nullopt: nobody knows.
  std::optional<Plan> earliest(const Unit& unit);
  void book(const Unit& unit, const Plan& plan);
  // How many tasks' berth:max-seconds the plan rests on.
  std::string basis_of(const Plan& plan) const;
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
  bool has_room_now(const Unit& unit) { return plan_at(unit, now_).has_value(); }
  // The instances on which these placements would delay a booking, or that are kept clear of them.
  std::vector<model::InstanceArn> delayed_by(const Unit& unit, const std::vector<Start>& starts);
  // Tasks were placed there.
  void tasks_came(const std::vector<Start>& starts);
  size_t instances() const { return lanes_.size(); }

 private:
  bool is_clear_of(const Unit& unit, const Lane& lane) const;
  Lane& lane_of(const model::InstanceArn& arn);
  std::vector<Occupant> occupants_of(const model::ContainerInstance& instance) const;
  // The lanes that could run it as far as attributes and constraints go.
  const std::vector<size_t>& eligible(const Need& need);
  std::optional<Plan> plan_at(const Unit& unit, base::Time at);
  bool has_room_but_for_bookings(const Unit& unit, base::Time at);
  // What `append` takes from the lanes that its members may run on, the earliest first.
  template <class Append>
  std::vector<base::Time> times_of(const Unit& unit, Append append);
  std::vector<size_t> lanes_to_drain(const Unit& unit, base::Time old);
  template <class Takes>
  std::vector<size_t> spread(const Unit& unit, const std::vector<size_t>* preferred, Takes takes);

  const Ground& ground_;
  base::Time now_;
  std::vector<Lane> lanes_;                              // By the ARNs of their instances.
  std::map<const Need*, std::vector<size_t>> eligible_;  // Looked up, never iterated.
  std::deque<Need> combined_;  // What instances are drained for; bookings point to it.
  size_t drained_ = 0;
  base::Milliseconds longest_kept_off_{};
};

}  // namespace reconcile::queue
