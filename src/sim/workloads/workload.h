// What the clients of a run do, on which machines, and which kinds of faults it puts first. One
// file each; all of them in workloads.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "sim/rates.h"

namespace sim {

// A task definition of one container.
struct Family {
  std::string name;
  std::string image = "fast";  // "missing...": the registry does not have it.
  int32_t cpu = 256;
  int32_t memory_mib = 256;
  int32_t gpus = 0;
  bool all_gpus = false;
  int64_t shared_mib = 0;  // Of one GPU, through NVIDIA MPS.
  uint16_t host_port = 0;
  bool logs = false;     // With awslogs.
  bool sidecar = false;  // A second container, which the first one waits for.
};

struct PlannedCall {
  enum class Kind : uint8_t { Run, Stop, Describe };
  base::Milliseconds at{};
  Kind kind = Kind::Run;
  std::string family;
  int32_t count = 1;
};

struct WorkPlan {
  std::vector<std::string> machines;  // Instance types.
  std::vector<Family> families;
  std::vector<PlannedCall> calls;
  base::Milliseconds faults_for{};  // The safety phase.
};

struct Workload {
  std::string_view name;
  std::string_view what;
  void (*prepare)(base::Random& random, Rates& rates, WorkPlan& plan);
};

// The families that most workloads use: CPU only, one GPU, two, all, shares, a fixed port, two
// containers, output to a log group, an image that is not there.
std::vector<Family> usual_families();
// `count` instance types of which one at least has GPUs.
std::vector<std::string> some_machines(base::Random& random, size_t count);
// Calls at random moments within `within`: mostly RunTask of any of the families.
std::vector<PlannedCall> some_calls(base::Random& random, const std::vector<Family>& families,
                                    size_t count, base::Milliseconds within);

}  // namespace sim
