#include <algorithm>

#include "sim/workloads/workloads.h"

namespace sim {

void gpu_failures(base::Random& random, Rates& rates, WorkPlan& plan) {
  plan.machines = {"p3.8xlarge", "g4dn.12xlarge"};
  plan.families = usual_families();
  std::erase_if(plan.families, [](const Family& family) {
    return family.gpus == 0 && !family.all_gpus && family.shared_mib == 0;
  });
  plan.faults_for = std::chrono::minutes(6);
  plan.calls = some_calls(random, plan.families, 40, plan.faults_for);
  rates.gpu_fall_every = std::chrono::seconds(40);
  rates.vram_lingers = 500;
  rates.vram_lingers_long = 120;
  rates.reboot_every = std::chrono::minutes(2);
}

}  // namespace sim
