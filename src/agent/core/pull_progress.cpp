// How much of the images that a task waits for is there. It is told in steps: each report is a
// durable write on both sides.

#include <algorithm>

#include "agent/core/step.h"

namespace agent::core {
namespace {

constexpr int32_t leap = 10;  // Percent that are worth a report at once;
constexpr base::Milliseconds patience = std::chrono::seconds(5);  // fewer, after so long.

// Of all pulls; one that has not told its size yet is taken to be as large as the others on
// average. nullopt when none has told.
std::optional<int32_t> percent_now(const Task& task) {
  double done = 0;
  double expected = 0;
  double sized = 0;
  double unsized = 0;
  for (const ContainerWork& work : task.work) {
    done += static_cast<double>(std::min(work.pull_bytes_done, work.pull_bytes_expected));
    expected += static_cast<double>(work.pull_bytes_expected);
    if (work.pull_bytes_expected > 0) {
      ++sized;
    } else if (work.image == ImageStep::Pull) {
      ++unsized;
    }
  }
  if (sized <= 0) return std::nullopt;
  return static_cast<int32_t>(done / (expected * (sized + unsized) / sized) * 100);
}

}  // namespace

void begin_pull(Step& step, Task& task, size_t index) {
  ContainerWork& work = task.work[index];
  work.pull_bytes_done = 0;
  work.pull_bytes_expected = 0;
  task.pull_percent.reset();
  task.pull_told_at = step.now;
}

void end_pull(Task& task, size_t index) {
  ContainerWork& work = task.work[index];
  work.pull_bytes_done = work.pull_bytes_expected;
}

void on_pull_progress(Step& step, const PullProgress& input) {
  const auto found = step.state.operations.find(input.id);
  if (found == step.state.operations.end()) return;
  const auto task = step.state.tasks.find(found->second.task);
  if (task == step.state.tasks.end() || found->second.kind != Target::Kind::Container) return;
  ContainerWork& work = task->second.work[found->second.index];
  work.pull_bytes_done = input.bytes_done;
  work.pull_bytes_expected = input.bytes_expected;
  step.touched.insert(found->second.task);
}

// Never back while the same pulls go on: what is expected is partly a guess.
void advance_pull_percent(const Step& step, Task& task) {
  const std::optional<int32_t> now_is = percent_now(task);
  const int32_t told = task.pull_percent.value_or(0);
  if (!now_is || *now_is <= told) return;
  const base::Time due = task.pull_told_at + patience;
  if (*now_is < told + leap && step.now < due) return look_again(task, due);
  task.pull_percent = now_is;
  task.pull_told_at = step.now;
}

}  // namespace agent::core
