// What people have asked the control plane for: the other side of what it says it does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/workloads/workload.h"

namespace sim {

// One wish for tasks: a RunTask call with all its retries.
struct Wish {
  std::string family;
  int32_t count = 0;
  std::optional<Queueing> queueing = {};
  bool answered = false;
};

struct Ledger {
  std::map<std::string, Family> families;  // By name.
  std::map<std::string, Wish> wishes;      // By startedBy.
  std::set<std::string> stops;             // ARNs of tasks that StopTask was sent for.
  std::set<std::string> deregistered;      // Instances given up by the operator, ARNs.
  uint64_t server_disks_lost = 0;
};

}  // namespace sim
