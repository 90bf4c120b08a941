#include "sim/workloads/workloads.h"

#include <algorithm>
#include <array>

namespace sim {
namespace {

constexpr std::array all_workloads{
    Workload{"mixed", "a bit of everything", mixed},
    Workload{"run_task_storm", "many RunTask calls in a few seconds", run_task_storm},
    Workload{"agent_churn", "agents and machines die, come back, are reinstalled and deregistered",
             agent_churn},
    Workload{"gpu_failures", "GPUs fall off the bus or keep memory after their process died",
             gpu_failures},
    Workload{"server_restarts", "the server dies in its commits, and its store fails",
             server_restarts},
    Workload{"trace_replay", "arrivals in the shape of a published GPU cluster's trace",
             trace_replay},
    Workload{"rolling_deployment", "services are rolled, also to definitions that never start",
             rolling_deployment},
    Workload{"drain", "instances are drained and taken back under running services", drain},
    Workload{"scale_in", "services grow, shrink and are made anew; some tasks are protected",
             scale_in},
    Workload{"queue", "tasks wait for GPUs, by priority, share and deadline", queue},
    Workload{"gangs", "gangs wait beside single tasks, and some never come together", gangs},
    Workload{"machines", "Auto Scaling groups grow and shrink with the tasks that wait for them",
             machines},
    Workload{"secrets", "containers name secrets that are put, replaced and deleted", secrets},
    Workload{"task_sets", "clients roll out their services with task sets of their own", task_sets},
};

}  // namespace

std::span<const Workload> workloads() {
  return all_workloads;
}

const Workload* find_workload(std::string_view name) {
  const auto* const found = std::ranges::find(all_workloads, name, &Workload::name);
  return found == all_workloads.end() ? nullptr : found;
}

}  // namespace sim
