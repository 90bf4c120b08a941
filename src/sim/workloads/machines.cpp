#include "sim/workloads/workloads.h"

namespace sim {

// Groups of machines that come for waiting tasks and go when they are not needed any more.
void machines(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = some_machines(random, 1);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(8);
  add_groups(random, 1 + random.below(2), plan);
  if (random.chance(50)) add_services(random, 1, plan);
  add_queue_calls(random, 4, plan.faults_for, plan);
  // A lost disk forgets the groups, and nobody is left to end their machines.
  rates.server_disk_loss_every = base::Milliseconds{0};
  rates.longest_life = std::chrono::seconds(20 + random.below(80));
}

}  // namespace sim
