#include "sim/workloads/workloads.h"

namespace sim {

void agent_churn(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = some_machines(random, 3);
  plan.families = usual_families();
  plan.faults_for = std::chrono::minutes(6);
  plan.calls = some_calls(random, plan.families, 30, plan.faults_for);
  rates.agent_crash_every = std::chrono::seconds(10);
  rates.reboot_every = std::chrono::seconds(60);
  rates.machine_loss_every = std::chrono::minutes(2);
  rates.deregister_every = std::chrono::minutes(2);
  rates.partition_every = std::chrono::seconds(45);
  rates.docker_restart_every = std::chrono::seconds(45);
}

}  // namespace sim
