// The task sets of a service as anybody can see them: from the records and ECS's own rule, without
// a word of src/reconcile.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/checkers/service_view.h"

namespace sim {

// "calculated by multiplying the service's desiredCount by the task set's scale percentage. The
// result is always rounded up." Source: ECS API reference, TaskSet, computedDesiredCount.
int32_t computed_count(int32_t desired_count, double percent);

// The tasks of one task set that are wanted to run, where an agent can be reached.
struct SetTasks {
  std::vector<const model::Task*> firm;     // On ACTIVE instances, or waiting for one.
  std::vector<const model::Task*> leaving;  // On others: they are replaced.
};
SetTasks tasks_of_set(const ServiceView& view, std::string_view id);

}  // namespace sim
