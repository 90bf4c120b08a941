#include "reconcile/queue/timeline.h"

#include <algorithm>

#include "model/derived.h"
#include "placement/assign.h"

namespace reconcile::queue {
namespace {

const model::TaskArn somebody("waiting");
constexpr base::Milliseconds shortest_stay = std::chrono::minutes(1);

// What an offer and a choice of GPUs look at, without what is costly to copy.
model::ContainerInstance outline_of(const model::ContainerInstance& instance) {
  model::ContainerInstance made;
  made.arn = instance.arn;
  made.status = instance.status;
  made.agent_connected = instance.agent_connected;
  made.agent_silent = instance.agent_silent;
  made.external = instance.external;
  made.emulated_instance_type = "outline";  // Cores are not pinned ahead of time.
  made.cpu_units = instance.cpu_units;
  made.memory_mib = instance.memory_mib;
  made.reserved_ports = instance.reserved_ports;
  made.cpu_units_held = instance.cpu_units_held;
  made.memory_mib_held = instance.memory_mib_held;
  made.ports_held = instance.ports_held;
  made.gpus.reserve(instance.gpus.size());
  for (const model::GpuSlot& slot : instance.gpus) {
    model::GpuSlot& kept = made.gpus.emplace_back();
    kept.device.uuid = slot.device.uuid;
    kept.device.memory_mib = slot.device.memory_mib;
    kept.device.mps_capable = slot.device.mps_capable;
    kept.device.healthy = slot.device.healthy;
    kept.device.mig_profile = slot.device.mig_profile;
    kept.device.mig_parent = slot.device.mig_parent;
    kept.state = slot.state;
    kept.holders = slot.holders;
  }
  return made;
}

void release(model::ContainerInstance& instance, const model::Task& task) {
  model::give_back(instance, task.arn, task.held);
}

// Puts one of these on the instance, where it has room.
bool add_need(model::ContainerInstance& instance, const Requirements& need) {
  const placement::Offer offer = placement::offer_of(instance);
  if (!placement::fits(offer, need.demand)) return false;
  std::optional<size_t> card;
  if (!need.demand.shares.empty()) card = placement::tightest_card(offer, need.demand);
  placement::PinnedCores no_cores;
  const model::ClusterState no_state;
  const placement::Site site{instance, offer, no_cores};
  model::take(instance, somebody,
              placement::assign(no_state, site, need.request.resources, need.demand, card));
  return true;
}

bool fits(const model::ContainerInstance& instance, const Requirements& need) {
  return placement::fits(placement::offer_of(instance), need.demand);
}

bool same_group(const Requirements& left, const Requirements& right) {
  return left.request.group == right.request.group;
}

// Whether a drained instance has less than before of what the one that it is drained for lacks.
bool hinders(const placement::Offer& before, const placement::Offer& after,
             const placement::Demand& demand) {
  const auto takes = [](int64_t had, int64_t has, int64_t wanted) {
    return has < had && has < wanted;
  };
  if (takes(before.cpu_free, after.cpu_free, demand.cpu_units)) return true;
  if (takes(before.memory_free, after.memory_free, demand.memory_mib)) return true;
  if (after.taken_ports.size() > before.taken_ports.size() && !demand.host_ports.empty()) {
    return true;
  }
  if (!demand.wants_gpu()) return false;
  if (!demand.shares.empty() || !demand.mig_profiles.empty()) return before.cards != after.cards;
  const int32_t wanted = demand.all_gpus ? before.whole_gpus : demand.whole_gpus;
  return takes(before.whole_gpus_free, after.whole_gpus_free, wanted);
}

}  // namespace

Requirements requirements_of(placement::Request request) {
  Requirements need;
  need.demand = placement::demand_of(request.resources);
  need.distinct_instance = std::ranges::any_of(request.constraints, [](const auto& constraint) {
    return constraint.type == api::ecs::PlacementConstraintType::DistinctInstance;
  });
  need.request = std::move(request);
  return need;
}

Timeline::Timeline(const model::ContainerInstance& instance, std::vector<RunningTask> running)
    : instance_(&instance) {
  set_running(std::move(running));
}

void Timeline::set_running(std::vector<RunningTask> running) {
  running_ = std::move(running);
  std::ranges::sort(running_, [](const RunningTask& a, const RunningTask& b) {
    return std::tie(a.until, a.task->arn) < std::tie(b.until, b.task->arn);
  });
  offers_.clear();
}

void Timeline::book(const Reservation& reservation) {
  reservations_.push_back(reservation);
  drained_ |= reservation.from == unknown_time;
}

const placement::Offer& Timeline::offer_at(base::Time at) {
  const auto gone = static_cast<size_t>(
      std::ranges::upper_bound(running_, at, {}, &RunningTask::until) - running_.begin());
  if (offers_.empty()) offers_.push_back(placement::offer_of(*instance_));
  while (offers_.size() <= gone) {
    if (offers_.size() == 1) emptying_ = outline_of(*instance_);
    release(emptying_, *running_[offers_.size() - 1].task);
    offers_.push_back(placement::offer_of(emptying_));
  }
  return offers_[gone];
}

bool Timeline::may_take(const placement::Demand& demand, base::Time at) {
  const placement::Offer& now = offer_at(base::Time::min());
  auto gpus = static_cast<size_t>(now.whole_gpus_free);
  int64_t cpu_units = now.cpu_free;
  for (const RunningTask& running_task : running_) {
    if (running_task.until > at) break;
    gpus += running_task.task->held.gpus.size();  // Each lets one GPU go at most.
    cpu_units += running_task.task->held.cpu_units;
  }
  return gpus >= static_cast<size_t>(demand.whole_gpus) &&
         (demand.cpu_units == 0 || cpu_units >= demand.cpu_units);
}

model::ContainerInstance Timeline::instance_at(base::Time at) const {
  model::ContainerInstance made = outline_of(*instance_);
  for (const RunningTask& running_task : running_) {
    if (running_task.until <= at && running_task.until != unknown_time) {
      release(made, *running_task.task);
    }
  }
  return made;
}

bool Timeline::group_is_here(const Requirements& need, base::Time at) const {
  return std::ranges::any_of(running_, [&](const RunningTask& running_task) {
    return (running_task.until > at || running_task.until == unknown_time) &&
           running_task.task->group == need.request.group;
  });
}

bool Timeline::fits_beside(const Requirements& need, base::Time at,
                           std::span<const Reservation> reservations,
                           std::span<const Requirements* const> others) const {
  model::ContainerInstance then = instance_at(at);
  for (const Reservation& reservation : reservations) {
    if (reservation.from > at || reservation.until <= at) continue;
    if (need.distinct_instance && same_group(*reservation.need, need)) return false;
    if (!add_need(then, *reservation.need)) return false;
  }
  for (const Requirements* const other : others) {
    if (need.distinct_instance && same_group(*other, need)) return false;
    if (!add_need(then, *other)) return false;
  }
  return fits(then, need);
}

void Timeline::append_ends(std::vector<base::Time>& times) const {
  for (const RunningTask& running_task : running_) {
    if (running_task.until != unknown_time) times.push_back(running_task.until);
  }
  for (const Reservation& reservation : reservations_) {
    if (reservation.until != unknown_time) times.push_back(reservation.until);
  }
}

void Timeline::append_openings(const Requirements& need, std::vector<base::Time>& times) {
  std::vector<base::Time> ends;
  append_ends(ends);
  std::ranges::sort(ends);
  const auto first = std::ranges::partition_point(
      ends, [&](base::Time end) { return !takes_but_for_reservations(need, end, {}); });
  times.insert(times.end(), first, ends.end());
}

bool Timeline::takes_but_for_reservations(const Requirements& need, base::Time at,
                                          std::span<const Requirements* const> others) {
  if (drained_ || !may_take(need.demand, at)) return false;
  if (!placement::fits(offer_at(at), need.demand)) return false;
  if (need.distinct_instance && group_is_here(need, at)) return false;
  return others.empty() || fits_beside(need, at, {}, others);
}

bool Timeline::takes(const Requirements& need, const Interval& interval,
                     std::span<const Requirements* const> others) {
  if (!takes_but_for_reservations(need, interval.from, others)) return false;
  if (reservations_.empty()) return true;
  if (!fits_beside(need, interval.from, reservations_, others)) return false;
  return std::ranges::all_of(reservations_, [&](const Reservation& reservation) {
    return reservation.from <= interval.from || reservation.from >= interval.until ||
           fits_beside(need, reservation.from, reservations_, others);
  });
}

bool Timeline::takes_when_empty(const Requirements& need,
                                std::span<const Requirements* const> others) const {
  model::ContainerInstance then = outline_of(*instance_);
  for (const RunningTask& running_task : running_) release(then, *running_task.task);
  for (const Requirements* const other : others) {
    if (need.distinct_instance && same_group(*other, need)) return false;
    if (!add_need(then, *other)) return false;
  }
  return fits(then, need);
}

bool Timeline::takes_when_drained(const Requirements& need,
                                  std::span<const Requirements* const> others,
                                  base::Time old) const {
  if (!reservations_.empty()) return false;
  model::ContainerInstance then = outline_of(*instance_);
  for (const RunningTask& running_task : running_) {
    const bool stays =
        running_task.until == unknown_time && (!model::service_of(*running_task.task).empty() ||
                                               running_task.task->started_at.value_or(old) < old);
    if (!stays) release(then, *running_task.task);
    if (stays && need.distinct_instance && running_task.task->group == need.request.group) {
      return false;
    }
  }
  for (const Requirements* const other : others) {
    if (need.distinct_instance && same_group(*other, need)) return false;
    if (!add_need(then, *other)) return false;
  }
  return fits(then, need);
}

Obstacles Timeline::obstacles_to(const Requirements& need, base::Time now) {
  const placement::Offer& offer = offer_at(base::Time::min());
  const bool lacks_cpu = offer.cpu_free < need.demand.cpu_units;
  const bool lacks_memory = offer.memory_free < need.demand.memory_mib;
  Obstacles found;
  for (const RunningTask& running_task : running_) {
    const model::HeldResources& held = running_task.task->held;
    const bool in_the_way = (need.demand.wants_gpu() && !held.gpus.empty()) ||
                            (lacks_cpu && held.cpu_units > 0) ||
                            (lacks_memory && held.memory_mib > 0) ||
                            (!need.demand.host_ports.empty() && !held.host_ports.empty());
    if (!in_the_way) continue;
    const base::Time began = running_task.task->started_at.value_or(unknown_time);
    found.youngest = std::max(found.youngest, began);
    found.stay += running_task.until != unknown_time
                      ? std::max(running_task.until - now, shortest_stay)
                      : std::max(now - began, shortest_stay);
  }
  return found;
}

int32_t Timeline::missing(const Requirements& need) const {
  const placement::Offer now = placement::offer_of(*instance_);
  return placement::missing_of(now, need.demand, placement::blockers_of(now, need.demand));
}

bool Timeline::holds(const Reservation& reservation,
                     std::span<const NewPlacement> placements) const {
  model::ContainerInstance then = instance_at(reservation.from);
  for (const NewPlacement& placement : placements) {
    if (placement.until > reservation.from) model::take(then, somebody, *placement.held);
  }
  for (const Reservation& other : reservations_) {
    if (other.from > reservation.from || other.until <= reservation.from) continue;
    if (!add_need(then, *other.need)) return false;
  }
  return true;
}

bool Timeline::keeps_reservations(std::span<const NewPlacement> placements) const {
  std::optional<placement::Offer> before;
  std::optional<placement::Offer> after;
  for (const Reservation& reservation : reservations_) {
    if (reservation.from != unknown_time) {
      const bool meets = std::ranges::any_of(placements, [&](const NewPlacement& placement) {
        return placement.until > reservation.from;
      });
      if (meets && !holds(reservation, placements)) return false;
      continue;
    }
    if (!before) {
      model::ContainerInstance now = outline_of(*instance_);
      before = placement::offer_of(now);
      for (const NewPlacement& placement : placements) model::take(now, somebody, *placement.held);
      after = placement::offer_of(now);
    }
    if (hinders(*before, *after, reservation.need->demand)) return false;
  }
  return true;
}

}  // namespace reconcile::queue
