// What a container does, from Docker's word and the kernel's together: the one table of all states
// that Docker can tell. One that Docker does not know (any more) has no state: see lose_container.
#pragma once

#include <cstdint>

#include "agent/core/runtime.h"

namespace agent::core {

enum class Truth : uint8_t {
  NotStarted,  // It was made, and nothing of it has run.
  Runs,
  Doubtful,  // Docker says that it runs, and no process of it is there.
  Lingers,   // Docker says that it does not run, and its processes are there.
  Ended
};

// `ran`: the agent has seen it run. Where the kernel's word is not to be had, Docker's must do.
// Pure.
Truth truth_of(RuntimeStatus said, Processes left, bool ran);

}  // namespace agent::core
