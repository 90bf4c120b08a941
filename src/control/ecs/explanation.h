// berthExplain: what RunTask and StartTask would do, without doing it, and what a task holds. The
// same engine that places tasks explains; the state stays as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step/step.h"
#include "control/tasks/task_plan.h"

namespace control::ecs {

using Explanations = api::List<api::ecs::BerthExplanation>;

// One explanation for each task of the plan, each as if those before it had been placed, with these
// capacity providers in turn; empty: the task goes by its launch type.
// Errors: InvalidParameterException from constraints and strategies.
base::Result<Explanations> explain_run(Step& step, const TaskPlan& plan,
                                       const std::vector<std::string>& capacity_providers);

// One explanation for each instance named, each as if the tasks before it had been placed.
Explanations explain_start(Step& step, const TaskPlan& plan,
                           const std::vector<model::InstanceArn>& instances);

// What the task holds and where, and what would become of it if it were started again now; the
// constraints and strategies of its call are not kept, so they do not count. Of one that waits:
// what it waits for.
api::ecs::BerthExplanation explain_held(Step& step, const model::Task& task);

inline constexpr size_t most_detail_bytes = 1000;
// An explanation looks at every instance: in a larger cluster that would hold up every other call
// for each task that finds no place, so details are of the nearest instance alone there.
inline constexpr size_t most_instances_explained = 1000;

// The details of refusals of one plan: all that blocks, the nearest fit, the smallest change. The
// explanation behind them is made once, with the first: a task that is refused leaves the state as
// it was, so that the next one of the same plan is refused for the same.
class RefusalDetails {
 public:
  RefusalDetails(Step& step, const TaskPlan& plan) : step_(step), plan_(plan) {}
  std::string detail_of(const placement::Refusal& refusal);

 private:
  bool is_large() const;

  Step& step_;
  const TaskPlan& plan_;
  std::string refused_;
  std::string detail_;
};

}  // namespace control::ecs
