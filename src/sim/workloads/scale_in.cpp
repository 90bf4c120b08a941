#include "sim/workloads/workloads.h"

namespace sim {

// Services grow and shrink, are deleted and made again; some of their tasks are protected.
void scale_in(base::Random& random, Rates&, WorkPlan& plan) {
  using enum PlannedServiceCall::Kind;
  plan.machines = some_machines(random, 3);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(5);
  plan.calls = some_calls(random, plan.families, 5, plan.faults_for);
  add_services(random, 3, plan);
  static constexpr PlannedServiceCall::Kind kinds[] = {Scale,   Scale,  Scale,   Scale,
                                                       Protect, Remake, Protect, Describe};
  add_service_calls(random, kinds, 30, plan);
}

}  // namespace sim
