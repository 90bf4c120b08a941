// Why a container instance cannot take a task, by a plain look at its records.
#pragma once

#include <set>
#include <string>

#include "model/state.h"
#include "sim/workloads/workload.h"

namespace sim {

// Empty: it can. "AGENT", "RESOURCE:CPU", "RESOURCE:MEMORY", "RESOURCE:PORTS", "RESOURCE:GPU".
std::set<std::string> obstacles(const model::ContainerInstance& instance, const Family& family);
// How many tasks of the family it can take at once: 0 where there are obstacles, or where it is not
// ACTIVE.
int32_t room_now(const model::ContainerInstance& instance, const Family& family);
// As many as it could if no other task were there, and its agent were.
int32_t room_when_empty(const model::ContainerInstance& instance, const Family& family);

// Some ACTIVE instance has room for the family now.
bool has_place(const model::ClusterState& state, const Family& family);

}  // namespace sim
