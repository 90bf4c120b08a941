#include "sim/workloads/workloads.h"

namespace sim {

void run_task_storm(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = some_machines(random, 3);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(3);
  plan.calls = some_calls(random, plan.families, 100, std::chrono::seconds(20));
  rates.duplicate += 20;
  rates.longest_life = std::chrono::seconds(20);
}

}  // namespace sim
