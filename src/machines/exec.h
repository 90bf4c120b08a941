// Machines by the operator's own programs, in one folder:
//   launch TOKEN TYPE   makes a machine, or finds the one that it made for that token before, and
//                       prints its id as the last line of its output. Standard input: the user
//                       data. Environment: BERTH_GROUP, BERTH_AVAILABILITY_ZONE, BERTH_TAGS (a
//                       JSON object), BERTH_AGAIN (1 when the same launch may have been asked for
//                       before).
//   terminate ID        ends it; one that is not there is no error. Environment: BERTH_GROUP.
//   list                prints a line "TOKEN ID" for each machine that there is.
// A program fails by ending with another code than 0; what it printed to its standard error is told
// in the scaling activity.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "machines/provider.h"

namespace machines {

struct ExecOptions {
  std::filesystem::path folder;
  // Of one call; the program is killed then.
  base::Milliseconds launch_timeout = std::chrono::minutes(10);
  base::Milliseconds terminate_timeout = std::chrono::minutes(10);
  base::Milliseconds list_timeout = std::chrono::minutes(1);
};

// Errors: InvalidParameterException when one of the three programs is not there or may not be run.
base::Result<std::unique_ptr<MachineProvider>> exec_machines(ExecOptions options);

// The machines that `list` has printed. Errors: "Malformed" naming the line.
base::Result<std::vector<control::ListedMachine>> parse_list(std::string_view output);
// The id that `launch` has printed. Errors: "Malformed".
base::Result<std::string> parse_launched(std::string_view output);

}  // namespace machines
