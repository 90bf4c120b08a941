// The queue of a cluster's own machines (capacity provider BERTH_QUEUE): which of the waiting tasks
// start now, and what the others are told. A pure function of the state, the tasks and the time.
//
// Order: priority; then, of each priority, the task that has waited longest if that is longer than
// `patience`; then the share group that holds least GPU; then age (order.h). In that order each
// task is placed, or the time from which it has room is worked out from what running tasks say of
// their length (berth:max-seconds), and that room is booked for it. What comes later may pass it
// only where no reservation is delayed: conservative backfill. Where nobody knows when room comes
// free, a task that has waited longer than `patience` has instances drained for it, so that a
// stream of small tasks cannot starve it; and while tasks run that need a whole instance, some are
// kept clear for the next of them (kept_clear.h). Source of the name and idea: Feitelson and Weil,
// "Utilization and predictability in scheduling the IBM SP2 with backfilling", IPPS 1998.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "model/state.h"
#include "placement/place.h"
#include "reconcile/queue/tags.h"
#include "reconcile/queue/timeline.h"

namespace reconcile::queue {

struct Settings {
  // A task that has waited longer goes before the others of its priority, one such at a time, and
  // has instances drained for it.
  base::Milliseconds patience = std::chrono::minutes(10);
  // Room is booked ahead for so many kinds of waiting tasks, the first in order.
  size_t most_reserved = 16;
  // So many kinds of tasks are tried in one pass, the first in order.
  size_t most_tried = 256;
  // A task that has run for longer, and has not told for how long it will, is not waited for by
  // draining its instance where another one would do.
  base::Milliseconds long_run = std::chrono::hours(1);
  // Part of the cluster's instances that may stand drained at a time; always one at least.
  size_t most_drained_percent = 10;
  // Part of the cluster's instances that are kept clear for tasks that need a whole one, while one
  // runs; of small clusters none.
  size_t kept_clear_percent = 5;
  // Nothing is kept clear of a task that has waited longer.
  base::Milliseconds longest_kept_off = std::chrono::hours(1);
  // Nobody passes a task that waits: for comparison.
  bool strict_order = false;
};

struct WaitingTask {
  model::TaskArn arn;
  const Requirements* need = nullptr;  // Tasks that ask the same share one.
  base::Time queued_at;
  Tags tags;
  std::string share;      // tags.share, or the task's group.
  std::string gang;       // Equal for the members of one gang; empty: it starts alone.
  int32_t gang_size = 0;  // Of the members that the gang waits for.
};

struct Start {
  model::TaskArn task;
  placement::Placement placement;
};

// What a pass works on. The engine follows the state.
struct Input {
  const model::ClusterState& state;
  const model::ClusterName& cluster;
  placement::Engine& engine;
  base::Random& random;
  // Carries out these starts, all of them: a task alone, or a gang by rank. The state and the
  // engine know of them when it returns.
  std::function<void(const std::vector<Start>&)> commit;
};

inline constexpr std::string_view reason_gang = "GANG";         // Members are missing.
inline constexpr std::string_view reason_behind = "QUEUE";      // It would delay those before it.
inline constexpr std::string_view reason_deadline = "TIMEOUT";  // Of berth:queue-seconds.

// Of a task that waits on.
struct Verdict {
  model::TaskArn task;
  int32_t position = 0;  // From 1; a gang has one. 0: a gang that is not complete has none.
  int32_t length = 0;    // Of the queue, in tasks and gangs.
  std::string reason;    // "RESOURCE:GPU", "GANG", "QUEUE".
  std::string detail;    // One sentence or two.
  std::optional<base::Time> estimated_start;
  std::string basis;  // "by berth:max-seconds of 2 tasks", "unknown: ...".
  std::optional<base::Time> deadline;
  int32_t gang_present = 0;
};

// A task whose time in the queue is over.
struct Expired {
  model::TaskArn task;
  std::string reason;
};

struct Outcome {
  size_t started = 0;
  std::vector<Verdict> waiting;
  std::vector<Expired> expired;
  base::Time wake = base::Time::max();  // Look again then at the latest; max: when things change.
};

// Never alters the state but through `commit`. The same calls get the same answers.
Outcome run(const Input& input, const std::vector<WaitingTask>& tasks, base::Time now,
            const Settings& settings = {});

}  // namespace reconcile::queue
