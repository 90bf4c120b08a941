#include "sim/workloads/workloads.h"

namespace sim {

// More tasks than there is room for wait in the cluster's queue.
void queue(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = some_machines(random, 2 + random.below(2));
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(5);
  plan.calls = some_calls(random, plan.families, 10, plan.faults_for);
  add_queue_calls(random, 50, plan.faults_for, plan);
  add_gangs(random, 2, plan.faults_for, plan);
  if (random.chance(40)) {
    add_services(random, 1, plan);
    plan.services.front().queues = true;
  }
  rates.longest_life = std::chrono::seconds(30 + random.below(60));
}

}  // namespace sim
