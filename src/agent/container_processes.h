// What the kernel says of containers' processes. Docker's word and the truth may differ: a start
// that was answered with an error may have happened, and a daemon that restarts may lose sight of
// what its predecessor started.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agent/core/runtime.h"

namespace agent {

// Thread-safe. Containers are named by Docker's id. What it cannot tell is Processes::Unknown, with
// the reason.
class ContainerProcesses {
 public:
  virtual ~ContainerProcesses() = default;
  // In the order of the ids.
  virtual std::vector<core::ProcessesSeen> look(std::span<const std::string> runtime_ids) = 0;
  // Kills every process of the container, waits for their end for two seconds at most, and says
  // what is left.
  virtual core::ProcessesSeen end(const std::string& runtime_id) = 0;

  core::ProcessesSeen look_at(const std::string& runtime_id) {
    return look({&runtime_id, 1}).front();
  }
};

}  // namespace agent
