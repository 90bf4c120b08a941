// The simulator's front: one run of one seed, with its verdict.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "sim/environment.h"
#include "sim/mutants/mutant.h"
#include "sim/trace.h"
#include "sim/workloads/workload.h"

namespace sim {

struct RunResult {
  uint64_t seed = 0;
  std::string workload;
  uint64_t hash = 0;  // Of all that happened.
  uint64_t events = 0;
  base::Milliseconds lasted{};  // Virtual time.
  size_t containers = 0;        // That ran.
  std::optional<Failure> failure;
  std::deque<TraceLine> latest;  // The end of the trace.
};

// One run. `mutant` may be null.
RunResult run_once(uint64_t seed, const Workload& workload, Mutant* mutant = nullptr,
                   const Trace::OnLine& on_line = {});

// Two runs of the seed: a failure of the first, or "determinism" when they differ. `on_line` hears
// the first.
RunResult run_twice(uint64_t seed, const Workload& workload, const Trace::OnLine& on_line = {});

// "berth-sim --seed 17 --workload mixed".
std::string command_of(const RunResult& result);

}  // namespace sim
