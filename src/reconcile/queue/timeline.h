// One instance over time: what is free there when, as far as its tasks have told how long they run
// and room is booked for tasks that wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "model/state.h"
#include "placement/demand.h"
#include "placement/offer.h"
#include "placement/place.h"

namespace reconcile::queue {

// When nobody knows, and never.
inline constexpr base::Time unknown_time = base::Time::max();

// A kind of waiting task: all that ask the same share one. Lives as long as the pass.
struct Requirements {
  placement::Request request;
  placement::Demand demand;
  bool distinct_instance = false;
};
Requirements requirements_of(placement::Request request);

struct RunningTask {
  const model::Task* task = nullptr;
  base::Time until = unknown_time;
};

// Room kept for a task that waits. Drained for it when `from` is not known: nothing else takes what
// it lacks there.
struct Reservation {
  const Requirements* need = nullptr;
  base::Time from = unknown_time;
  base::Time until = unknown_time;
};

// What a task that is placed now holds, and how long.
struct NewPlacement {
  const model::HeldResources* held = nullptr;
  base::Time until = unknown_time;
};

struct Interval {
  base::Time from;
  base::Time until = unknown_time;
};

// The tasks that hold something that another one lacks.
struct Obstacles {
  // When the youngest of them began; base::Time::min() without any, unknown_time where one is only
  // about to.
  base::Time youngest = base::Time::min();
  // To compare instances by: the longer, the longer the last of them is likely to stay. How long a
  // task has run is what is known of how much longer it will, where it has not told: lengths of
  // tasks have a long tail.
  base::Milliseconds stay{};
};

class Timeline {
 public:
  Timeline(const model::ContainerInstance& instance, std::vector<RunningTask> running);

  const model::ContainerInstance& instance() const { return *instance_; }
  // By their ends, those without a known one last.
  const std::vector<RunningTask>& running() const { return running_; }
  const std::vector<Reservation>& reservations() const { return reservations_; }
  bool is_drained() const { return drained_; }
  bool is_kept_clear() const { return kept_clear_; }

  void book(const Reservation& reservation);
  void keep_clear() { kept_clear_ = true; }
  // The tasks on it changed; reservations stay.
  void set_running(std::vector<RunningTask> running);

  // Appends the known ends of its tasks and reservations, in no order: there is never more room but
  // from one of these on.
  void append_ends(std::vector<base::Time>& times) const;
  // Of these those from which on it would have room for one of `need`, were nothing booked.
  void append_openings(const Requirements& need, std::vector<base::Time>& times);
  // Whether one more of `need` would have room at that time, beside `others` that came before, were
  // nothing booked. With the time there is only more.
  bool takes_but_for_reservations(const Requirements& need, base::Time at,
                                  std::span<const Requirements* const> others);
  // Whether one more of `need` has room all through the interval, beside `others` that came before.
  bool takes(const Requirements& need, const Interval& interval,
             std::span<const Requirements* const> others);
  // Whether it would have room beside `others` if all its tasks had ended.
  bool takes_when_empty(const Requirements& need,
                        std::span<const Requirements* const> others) const;
  // Whether it would have room if its tasks had ended, but for a service's and for those that began
  // before `old` and have not told how long they run: they are taken to stay.
  bool takes_when_drained(const Requirements& need, std::span<const Requirements* const> others,
                          base::Time old) const;
  Obstacles obstacles_to(const Requirements& need, base::Time now);
  // How much of the need is short now, in thousandths.
  int32_t missing(const Requirements& need) const;
  // Whether every reservation still holds when these are placed now.
  bool keeps_reservations(std::span<const NewPlacement> placements) const;

 private:
  const placement::Offer& offer_at(base::Time at);
  // False where a look at the sums shows that it cannot have room then.
  bool may_take(const placement::Demand& demand, base::Time at);
  model::ContainerInstance instance_at(base::Time at) const;
  bool fits_beside(const Requirements& need, base::Time at,
                   std::span<const Reservation> reservations,
                   std::span<const Requirements* const> others) const;
  bool holds(const Reservation& reservation, std::span<const NewPlacement> placements) const;
  bool group_is_here(const Requirements& need, base::Time at) const;

  const model::ContainerInstance* instance_;
  std::vector<RunningTask> running_;
  std::vector<Reservation> reservations_;
  bool drained_ = false;
  bool kept_clear_ = false;
  // offers_[n]: when the first n running have gone, reservations left out.
  std::vector<placement::Offer> offers_;
  model::ContainerInstance emptying_;  // As of offers_.back().
};

}  // namespace reconcile::queue
