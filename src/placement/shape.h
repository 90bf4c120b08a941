// One shape of request, with the score of each instance for it, kept up to date as instances
// change.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "placement/demand.h"
#include "placement/filters.h"
#include "placement/fleet.h"
#include "placement/place.h"
#include "placement/rules.h"
#include "placement/workload_model.h"

namespace placement {

struct Shape {
  Demand demand;
  Rules rules;
  std::vector<uint32_t> filters;
  pack::Kind kind;
  // What the shares take of a GPU with so much memory: kept from one instance to the next.
  int64_t share_sum_for_mib = -1;
  ShareSum share_sum;
  int32_t share_milli = 0;
  bool refused = false;  // The last one of this shape found no place.

  // Per entry: 0 and above, the packing objective's level, with answers_bonus; below 0, does not
  // fit: -1 - distance_of(); never_considered: not an ACTIVE instance.
  std::vector<int32_t> scores;
  // The highest of each `block` scores.
  std::vector<int32_t> block_best;
  uint64_t synced_at = 0;
  uint64_t pass_since = 0;  // Profiles that changed after this ask for scores anew, ...
  uint64_t pass_until = 0;  // ... up to this,
  size_t pass_next = 0;     // ... from this one of the scores on,
  size_t pass_left = 0;     // ... so many of them.
};

inline constexpr size_t block = 64;
inline constexpr int32_t never_considered = INT32_MIN;
// Added to the level of an instance whose agent answers: above every level of the objective, so
// that any such instance goes before those that are silent.
inline constexpr int32_t answers_bonus = 1 << 20;
// When the typical workload changes, at most so many instances are judged anew in one decision, so
// that no decision waits for all of them; the others keep their rank a little longer. Whether a
// task fits is never out of date.
inline constexpr size_t most_rescored = 1024;

// All that makes a shape: equal keys, equal shapes. Appended to `key`.
void append_shape_key(const Request& request, std::string& key);

// Errors: InvalidParameterException from the constraints and strategies.
base::Result<Shape> make_shape(const Request& request, Filters& filters);

// The score of one entry; the fleet's filters and workload model must be synced.
pack::Score score_entry(Shape& shape, Fleet& fleet, uint32_t index, const Filters& filters,
                        const WorkloadModel& workload_model);

void sync_scores(Shape& shape, Fleet& fleet, const Filters& filters,
                 const WorkloadModel& workload_model);

// Forgets the scores, for a fleet that begins anew.
void forget_scores(Shape& shape);

// The entry with the highest score, the lowest index of equals; none when there are no entries.
uint32_t best_entry(const Shape& shape);

}  // namespace placement
