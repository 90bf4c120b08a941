#include "sim/workloads/workloads.h"

namespace sim {

// What the seed has drawn, as it is.
void mixed(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = some_machines(random, 2 + random.below(3));
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(3 + random.below(4));
  plan.calls = some_calls(random, plan.families, 20 + random.below(50), plan.faults_for);
  add_queue_calls(random, random.below(10), plan.faults_for, plan);
  add_gangs(random, random.below(4), plan.faults_for, plan);
  using enum PlannedServiceCall::Kind;
  static constexpr PlannedServiceCall::Kind kinds[] = {Deploy,   Force,  Scale, Protect,
                                                       Describe, Remake, Drain, Activate};
  add_services(random, 1 + random.below(2), plan);
  if (random.chance(30)) add_external_services(random, 1, 6, plan);
  if (random.chance(30)) add_secrets(random, 6, rates, plan);
  add_service_calls(random, kinds, 4 + random.below(8), plan);
}

}  // namespace sim
