// Containers of this agent that no task answers for: those of tasks that it has forgotten with its
// journal, and those of stopped tasks that came to life late.

#include <utility>

#include "agent/core/step.h"
#include "base/format.h"

namespace agent::core {
namespace {

const ContainerRecord* record_of(const Task& task, const ContainerInfo& info) {
  for (const ContainerRecord& container : task.record.containers) {
    const bool same = container.runtime_id.empty() ? container.docker_name == info.name
                                                   : container.runtime_id == info.runtime_id;
    if (same) return &container;
  }
  return nullptr;
}

void add_stray(Step& step, const ContainerInfo& info, bool of_no_task) {
  const auto [stray, first] = step.state.strays.try_emplace(info.runtime_id);
  if (!first) return;
  stray->second.of_no_task = of_no_task;
  stray->second.retry_at = step.now;
  note(step, Note::Level::Warning,
       of_no_task
           ? base::format("Container {} is of this agent and of no task that it knows: its journal "
                          "was lost. The container is ended.",
                          info.name)
           : base::format("Container {} runs although its task has stopped: it is ended.",
                          info.name));
}

}  // namespace

void find_strays(Step& step, const Snapshot& snapshot) {
  for (const ContainerInfo& info : snapshot.containers) {
    const auto arn = info.labels.find(label_of_task);
    const auto task = step.state.tasks.find(arn == info.labels.end() ? std::string() : arn->second);
    if (task != step.state.tasks.end()) {
      const ContainerRecord* const known = record_of(task->second, info);
      const bool over = known != nullptr && known->status == ContainerStatus::Stopped;
      if (over && info.processes == Processes::Some) add_stray(step, info, false);
      continue;
    }
    const auto data = info.labels.find(label_of_agent_data);
    const bool ours = data != info.labels.end() && !step.state.config.agent_data.empty() &&
                      data->second == step.state.config.agent_data;
    if (ours) add_stray(step, info, true);
  }
}

void advance_strays(Step& step) {
  if (!step.state.runtime_ready) return;
  for (auto& [id, stray] : step.state.strays) {
    if (stray.operation != 0 || step.now < stray.retry_at) continue;
    Request request = EndProcesses{id};
    if (stray.ended) request = RemoveContainer{id};
    stray.operation = begin(step, {.kind = Target::Kind::Stray, .task = id}, std::move(request));
  }
}

void on_stray_result(Step& step, const Target& target, const OperationResult& result) {
  const auto found = step.state.strays.find(target.task);
  if (found == step.state.strays.end()) return;
  Stray& stray = found->second;
  stray.operation = 0;
  const auto* const seen = result ? std::get_if<ProcessesSeen>(&*result) : nullptr;
  if (seen != nullptr && seen->left != Processes::Some) {
    stray.ended = true;
    if (!stray.of_no_task) step.state.strays.erase(found);
    return;
  }
  const bool removed = result && seen == nullptr;
  if (removed || (!result && result.error().cause == Cause::NotFound)) {
    step.state.strays.erase(found);
    return;
  }
  stray.retry_at = step.now + retry_wait(++stray.attempts);
}

}  // namespace agent::core
