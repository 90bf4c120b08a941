#include "sim/workloads/workloads.h"

namespace sim {

// Services with the deployment controller EXTERNAL: their clients make, scale, promote and delete
// task sets, also such as never start, and services go with all that they have.
void task_sets(base::Random& random, Rates& rates, WorkPlan& plan) {
  using enum PlannedServiceCall::Kind;
  plan.machines = some_machines(random, 3);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(5);
  plan.calls = some_calls(random, plan.families, 5, plan.faults_for);
  add_external_services(random, 1 + random.below(3), 10, plan);
  static constexpr PlannedServiceCall::Kind kinds[] = {Scale,  Scale, Protect, Describe,
                                                       Remake, Drain, Activate};
  add_service_calls(random, kinds, 8, plan);
  rates.server_crash_every = std::chrono::seconds(40);
}

}  // namespace sim
