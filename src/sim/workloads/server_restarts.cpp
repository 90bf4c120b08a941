#include "sim/workloads/workloads.h"

namespace sim {

void server_restarts(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = some_machines(random, 2);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(5);
  plan.calls = some_calls(random, plan.families, 40, plan.faults_for);
  rates.server_crash_every = std::chrono::seconds(8);
  rates.longest_downtime = std::chrono::seconds(10);
  rates.store.commit_not_written = 5;
  rates.store.commit_written = 5;
  rates.store.commit_late = 5;
  rates.store.lost_leadership = 3;
  rates.store.campaign_fails = 15;
  rates.store.load_fails = 15;
}

}  // namespace sim
