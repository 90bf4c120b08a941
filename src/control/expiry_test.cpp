#include "control/expiry.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "control/testing.h"

namespace control {
namespace {

// A state with so many stopped tasks, all of the same moment.
model::ClusterState with_stopped_tasks(testing::Plane& plane, size_t count) {
  plane.create_cluster();
  plane.register_instance("c5.2xlarge", "one");
  plane.define("cpu", "");
  const auto answer = plane.run_task("cpu");
  CHECK(answer.has_value() && answer->tasks.size() == 1);
  const model::TaskArn first(*answer->tasks[0].task_arn);
  plane.report(first.str(), "STOPPED", 0);
  model::ClusterState state = plane.core.state();
  const model::Task task = *model::find_task(state, first);
  for (size_t i = 1; i < count; ++i) {
    model::Task copy = task;
    copy.arn = model::task_arn({}, task.cluster, base::format("{:032x}", i));
    state.stopped_tasks.emplace(*copy.stopped_at, copy.arn);
    state.tasks.emplace(copy.arn, std::move(copy));
  }
  return state;
}

TEST(Expiry, stopped_tasks_are_forgotten_as_fast_as_tasks_can_stop) {
  testing::Plane plane;
  plane.core = Core(with_stopped_tasks(plane, 20'000), Settings{}, 2, plane.now);
  plane.pass(Settings{}.stopped_task_kept - std::chrono::seconds(1));
  EXPECT_EQ(plane.core.state().tasks.size(), 20'000U);
  size_t most_a_step = 0;
  const base::Time end = plane.now + std::chrono::seconds(15);
  while (plane.core.next_timer() <= end) {
    plane.now = std::max(plane.now, plane.core.next_timer());
    most_a_step = std::max(most_a_step, plane.step(TimerDue{}).changes.size());
  }
  EXPECT_EQ(plane.core.state().tasks.size(), 0U);
  EXPECT_LE(most_a_step, 1'100U);
}

}  // namespace
}  // namespace control
