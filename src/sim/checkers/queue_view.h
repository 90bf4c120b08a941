// The queue of the cluster as anybody can see it: from the records of waiting tasks and from what
// their callers asked for, without a word of src/reconcile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/state.h"
#include "sim/expectations.h"

namespace sim {

// A task that waits alone, or the members of a gang that wait for each other.
struct WaitingUnit {
  std::vector<model::TaskArn> members;  // The oldest first.
  const Family* family = nullptr;       // Of all members; nullptr: not of one.
  model::TaskDefinitionArn definition;  // Likewise; empty: not of one.
  int32_t priority = 0;                 // The highest of them.
  std::string share;
  base::Time queued_at;                            // The youngest one's.
  std::optional<base::Milliseconds> told_seconds;  // The longest; none where one has not told.
  std::optional<base::Time> deadline;              // The earliest.
  size_t size = 1;                                 // Members that it starts with.

  bool is_complete() const { return members.size() >= size; }
};

// Of the cluster's tasks that wait with the capacity provider BERTH_QUEUE.
std::vector<WaitingUnit> waiting_units(const model::ClusterState& state,
                                       const Expectations& expectations);

// The deadline of a waiting task by itself.
std::optional<base::Time> deadline_of(const model::Task& task, const Expectations& expectations);

// Whether `first` stands before `second`, whatever the shares hold: a higher priority, or an older
// one of the same priority and share.
bool stands_before(const WaitingUnit& first, const WaitingUnit& second);

// Whether the cluster's own instances can take all members of the unit at once: now, or when
// nothing else runs there. Of units of one family only; false for others.
bool has_room_now(const model::ClusterState& state, const WaitingUnit& unit);
bool has_room_when_empty(const model::ClusterState& state, const WaitingUnit& unit);

}  // namespace sim
