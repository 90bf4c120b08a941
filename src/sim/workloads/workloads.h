// All workloads, by name.
#pragma once

#include <span>
#include <string_view>

#include "sim/workloads/workload.h"

namespace sim {

void mixed(base::Random& random, Rates& rates, WorkPlan& plan);
void run_task_storm(base::Random& random, Rates& rates, WorkPlan& plan);
void agent_churn(base::Random& random, Rates& rates, WorkPlan& plan);
void gpu_failures(base::Random& random, Rates& rates, WorkPlan& plan);
void server_restarts(base::Random& random, Rates& rates, WorkPlan& plan);
void rolling_deployment(base::Random& random, Rates& rates, WorkPlan& plan);
void drain(base::Random& random, Rates& rates, WorkPlan& plan);
void scale_in(base::Random& random, Rates& rates, WorkPlan& plan);
void trace_replay(base::Random& random, Rates& rates, WorkPlan& plan);
void queue(base::Random& random, Rates& rates, WorkPlan& plan);
void gangs(base::Random& random, Rates& rates, WorkPlan& plan);
void machines(base::Random& random, Rates& rates, WorkPlan& plan);
void secrets(base::Random& random, Rates& rates, WorkPlan& plan);
void task_sets(base::Random& random, Rates& rates, WorkPlan& plan);

// The first is the default.
std::span<const Workload> workloads();
// nullptr when there is none of that name.
const Workload* find_workload(std::string_view name);

}  // namespace sim
