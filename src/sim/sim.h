// The simulator's front: one run of one seed, with its verdict.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "sim/ground.h"
#include "sim/planted/plant.h"
#include "sim/story.h"
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
  std::deque<StoryLine> latest;  // The end of the story.
};

// One run. `plant`: a planted fault; null: none.
RunResult run_once(uint64_t seed, const Workload& workload, Plant* plant = nullptr,
                   const Story::OnLine& on_line = {});

// Two runs of the seed: a failure of the first, or "determinism" when they differ. `on_line` hears
// the first.
RunResult run_twice(uint64_t seed, const Workload& workload, const Story::OnLine& on_line = {});

// "berth-sim --seed 17 --workload mixed".
std::string command_of(const RunResult& result);

}  // namespace sim
