// Why a container instance cannot take a task, by a plain look at its records.
#pragma once

#include <set>
#include <string>

#include "model/state.h"
#include "sim/workloads/workload.h"

namespace sim {

// Empty: it can. "AGENT", "RESOURCE:CPU", "RESOURCE:MEMORY", "RESOURCE:PORTS", "RESOURCE:GPU".
std::set<std::string> obstacles(const model::ContainerInstance& instance, const Family& family);

}  // namespace sim
