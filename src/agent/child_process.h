// Runs a short-lived program and waits for it, with a limit.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace agent {

struct ChildProgram {
  std::string path;
  std::vector<std::string> arguments = {};
  std::map<std::string, std::string> environment = {};  // Over this process's own.
  std::string input = {};                               // Its standard input.
  base::Milliseconds timeout{5'000};     // Killed after that, with its process group.
  std::function<bool()> cancelled = {};  // Asked a few times a second; true: killed at once.
  bool errors_apart = false;             // Standard error does not go into the output.
};

struct ChildEnd {
  int exit_code = 0;        // 128 and the signal's number when a signal ended it.
  std::string output = {};  // Standard output and error; at most 64 KiB of it.
  std::string errors = {};  // Standard error, where it is apart; as much.
};

// Blocks. The child has none of this process's files and signals' settings; what it leaves running
// is not waited for. Errors: "IoError" when it cannot be started, "Timeout", "Cancelled".
base::Result<ChildEnd> run_child(const ChildProgram& program);

}  // namespace agent
