#include "sim/workloads/workloads.h"

namespace sim {

// Containers name secrets, which are there, or come later, are replaced and deleted, while the
// server, agents and the secret store fail.
void secrets(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = some_machines(random, 3);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(4);
  plan.calls = some_calls(random, plan.families, 6, plan.faults_for);
  add_secrets(random, 25, rates, plan);
  rates.longest_life = std::chrono::seconds(10 + random.below(40));
  rates.server_crash_every = std::chrono::seconds(40);
  rates.agent_crash_every = std::chrono::seconds(30);
}

}  // namespace sim
