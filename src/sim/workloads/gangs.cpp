#include "sim/workloads/workloads.h"

namespace sim {

// Gangs wait for room for all of their members, while single tasks and machines come and go.
void gangs(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = some_machines(random, 3);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(5);
  plan.calls = some_calls(random, plan.families, 8, plan.faults_for);
  add_queue_calls(random, 15, plan.faults_for, plan);
  add_gangs(random, 14, plan.faults_for, plan);
  rates.longest_life = std::chrono::seconds(20 + random.below(60));
  rates.server_crash_every = std::chrono::seconds(30);
}

}  // namespace sim
