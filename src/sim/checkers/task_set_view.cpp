#include "sim/checkers/task_set_view.h"

#include <cmath>

namespace sim {

int32_t computed_count(int32_t desired_count, double percent) {
  // Of 33 % of 100 tasks the fraction is an error of the arithmetic.
  const double exact = std::round(desired_count * percent * 1e6) / 1e8;
  return static_cast<int32_t>(std::ceil(exact));
}

SetTasks tasks_of_set(const ServiceView& view, std::string_view id) {
  SetTasks found;
  for (const model::Task* const task : view.live()) {
    if (task->started_by != id) continue;
    const auto* const instance = model::find_instance(view.state, task->instance);
    const bool stays = instance == nullptr || instance->status == model::InstanceStatus::Active;
    (stays ? found.firm : found.leaving).push_back(task);
  }
  return found;
}

}  // namespace sim
