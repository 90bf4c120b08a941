// How much the work of services may take of one step: everybody else waits for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace control {

// In units of about ten nanoseconds, the time of one look at a container instance.
using Effort = int64_t;

// Some milliseconds: a fraction of what a step may take, since the rest of it comes on top.
inline constexpr Effort most_effort_at_once = 300'000;

inline constexpr Effort effort_of_pass = 5'000;
inline constexpr Effort effort_of_task_looked_at = 100;
inline constexpr Effort effort_of_plan = 2'000;
inline constexpr Effort effort_of_start = 6'000;  // Where the place is known.
inline constexpr Effort effort_of_stop = 3'000;

// Of finding a place: each strategy looks at the instances that the one before it has left.
inline Effort effort_of_place(size_t instances, size_t strategies) {
  return static_cast<Effort>(instances * (1 + strategies));
}

}  // namespace control
