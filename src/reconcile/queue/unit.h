// What starts together: a task alone, or a gang.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reconcile/queue/queue.h"

namespace reconcile::queue {

struct Unit {
  std::vector<const WaitingTask*> members;    // By rank: the oldest first.
  int32_t priority = 0;                       // The highest of them.
  std::string share;                          // The first one's.
  base::Time queued_at;                       // The youngest one's: since then it could start.
  std::optional<base::Milliseconds> max_run;  // The longest; none where one member has none.
  std::optional<base::Time> deadline;         // The earliest.
  bool complete = true;                       // All of its members are there.

  bool is_gang() const { return !members.front()->gang.empty(); }
  // When it will have ended if it starts then.
  base::Time end_of(base::Time start) const { return max_run ? start + *max_run : unknown_time; }
};

// The tasks as units, those that wait longest first. A gang that has more members than its size is
// several.
std::vector<Unit> units_of(const std::vector<WaitingTask>& tasks);

}  // namespace reconcile::queue
