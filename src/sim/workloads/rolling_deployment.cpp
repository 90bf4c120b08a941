#include "sim/workloads/workloads.h"

namespace sim {

// Services are rolled from one definition to the next, also to such as never start.
void rolling_deployment(base::Random& random, Rates& rates, WorkPlan& plan) {
  using enum PlannedServiceCall::Kind;
  plan.machines = some_machines(random, 3);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(5);
  plan.calls = some_calls(random, plan.families, 5, plan.faults_for);
  add_services(random, 3, plan);
  static constexpr PlannedServiceCall::Kind kinds[] = {Deploy, Deploy, Deploy, Force, Describe};
  add_service_calls(random, kinds, 15, plan);
  rates.server_crash_every = std::chrono::seconds(40);
}

}  // namespace sim
