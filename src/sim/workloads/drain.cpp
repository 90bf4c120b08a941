#include "sim/workloads/workloads.h"

namespace sim {

// Container instances are drained, and taken back, while services run on them.
void drain(base::Random& random, Rates&, WorkPlan& plan) {
  using enum PlannedServiceCall::Kind;
  plan.machines = some_machines(random, 4);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(6);
  plan.calls = some_calls(random, plan.families, 5, plan.faults_for);
  add_services(random, 3, plan);
  static constexpr PlannedServiceCall::Kind kinds[] = {Drain, Drain, Activate, Describe, Deploy};
  add_service_calls(random, kinds, 14, plan);
}

}  // namespace sim
