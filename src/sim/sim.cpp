#include "sim/sim.h"

#include "base/format.h"
#include "sim/world.h"

namespace sim {

RunResult run_once(uint64_t seed, const Workload& workload, Plant* plant,
                   const Story::OnLine& on_line) {
  Plant none;
  World world(seed, workload, plant == nullptr ? none : *plant, on_line);
  const base::Time start = world.ground().events.now();
  world.run();
  const Ground& ground = world.ground();
  return {.seed = seed,
          .workload = std::string(workload.name),
          .hash = ground.story.hash(),
          .events = ground.events.done(),
          .lasted = ground.events.now() - start,
          .containers = world.fates().size(),
          .failure = ground.failure,
          .latest = ground.story.latest()};
}

RunResult run_twice(uint64_t seed, const Workload& workload, const Story::OnLine& on_line) {
  RunResult first = run_once(seed, workload, nullptr, on_line);
  if (first.failure) return first;
  const RunResult second = run_once(seed, workload);
  if (second.hash != first.hash) {
    first.failure = Failure{"determinism",
                            base::format("two runs of the seed differ: trace {:016x} and {:016x}",
                                         first.hash, second.hash),
                            first.lasted};
  }
  return first;
}

std::string command_of(const RunResult& result) {
  return base::format("berth-sim --seed {} --workload {}", result.seed, result.workload);
}

}  // namespace sim
