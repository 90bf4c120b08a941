#include "sim/sim.h"

#include "base/format.h"
#include "sim/world.h"

namespace sim {

RunResult run_once(uint64_t seed, const Workload& workload, Mutant* mutant,
                   const Trace::OnLine& on_line) {
  Mutant none;
  World world(seed, workload, mutant == nullptr ? none : *mutant, on_line);
  const base::Time start = world.environment().events.now();
  world.run();
  const Environment& environment = world.environment();
  return {.seed = seed,
          .workload = std::string(workload.name),
          .hash = environment.trace.hash(),
          .events = environment.events.done(),
          .lasted = environment.events.now() - start,
          .containers = world.fates().size(),
          .failure = environment.failure,
          .latest = environment.trace.latest()};
}

RunResult run_twice(uint64_t seed, const Workload& workload, const Trace::OnLine& on_line) {
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
