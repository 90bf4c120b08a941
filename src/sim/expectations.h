// What people have asked the control plane for: the other side of what it says it does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/workloads/workload.h"

namespace sim {

// One wish for tasks: a RunTask call with all its retries.
struct Wish {
  std::string family;
  int32_t count = 0;
  std::optional<Queueing> queueing = {};
  bool answered = false;
};

// One time that an agent fetched the secrets of a container.
struct SecretsFetched {
  base::Time began;
  std::optional<base::Time> ended;  // None: its agent died over it.
  std::string error;                // Empty: it has got them all.
};

struct Expectations {
  std::map<std::string, Family> families;                      // By name.
  std::map<std::string, Wish> wishes;                          // By startedBy.
  std::map<std::string, std::vector<SecretsFetched>> fetches;  // By task ARN.
  std::set<std::string> stops;         // ARNs of tasks that StopTask was sent for.
  std::set<std::string> deregistered;  // Instances given up by the operator, ARNs.
  uint64_t server_disks_lost = 0;
};

}  // namespace sim
