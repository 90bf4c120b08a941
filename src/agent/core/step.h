// The rooms of Core::step: each handles one kind of input and marks the tasks it touched; then
// advance() does for each of them whatever is possible now. For agent/core only.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "agent/core/core.h"
#include "agent/core/state.h"

namespace agent::core {

struct Step {
  State& state;
  Output& out;
  base::Time now;
  std::set<std::string> touched;  // ARNs of tasks to advance.
};

void note(Step& step, Note::Level level, std::string text);
void touch_all(Step& step);

// Issues an operation and remembers what it is about.
OperationId begin(Step& step, Target target, Request request);

// control_stream.cpp: registration, the session, and what the server says.
void on_registered(Step& step, const Registered& input);
void on_register_failed(Step& step, const RegisterFailed& input);
void on_session_closed(Step& step, const SessionClosed& input);
void on_message(Step& step, acs::ServerMessage& message);
void tick_session(Step& step);

// runtime_link.cpp: whether Docker answers, snapshots, events.
void on_runtime_ready(Step& step);
void lose_runtime(Step& step, const std::string& reason);
void on_event(Step& step, const ContainerEvent& event);
void on_snapshot(Step& step, const OperationResult& result);
void tick_snapshot(Step& step);

// results.cpp: what became of an operation on a container or volume.
void on_container_result(Step& step, Task& task, const Target& target,
                         const OperationResult& result);
void on_volume_result(Step& step, Task& task, const Target& target, const OperationResult& result);

// observed.cpp: what a container does.
// What Docker said of the container when it was asked by operation `asked`. False: it is not a
// container of this task.
bool apply_info(Step& step, Task& task, size_t index, const ContainerInfo& info, OperationId asked);
// Its name is taken by such a container.
void refuse_stranger(Step& step, Task& task, size_t index);
// Docker does not know the container any more: what may run of it is ended first.
void lose_container(Step& step, Task& task, size_t index);
// Nothing is left of it.
void vanish(Step& step, Task& task, size_t index);

// strays.cpp: containers of this agent that no task answers for.
void find_strays(Step& step, const Snapshot& snapshot);
void advance_strays(Step& step);
void on_stray_result(Step& step, const Target& target, const OperationResult& result);

// advance.cpp: starting and stopping.
void advance(Step& step, Task& task);
void begin_stop(Step& step, Task& task, const std::string& reason);
// The container will never start; an essential one takes its task with it.
void fail_container(Step& step, Task& task, size_t index, const std::string& reason);
void mark_stopped(Step& step, Task& task, size_t index);
// `timer` is the task's next look at itself unless it is earlier already.
void look_again(Task& task, base::Time when);
// The wait before the next try of the container's present step.
base::Milliseconds retry_wait(uint32_t attempts);

// finish.cpp: the output's delivery, the GPUs' release, the clean-up.
void advance_logs(Step& step, Task& task);
void advance_release(Step& step, Task& task);
void on_gpu_result(Step& step, Task& task, const Target& target, const OperationResult& result);
void on_log_result(Step& step, Task& task, const Target& target, const OperationResult& result);
void on_removal_result(Step& step, Task& task, const Target& target, const OperationResult& result);
bool logs_delivered(const Task& task);
bool gpus_settled(const Task& task);
// True: nothing is left of the task, and it must be erased.
bool advance_cleanup(Step& step, Task& task);

// pull_progress.cpp: how far the pulls of a task are.
void on_pull_progress(Step& step, const PullProgress& input);
void begin_pull(Step& step, Task& task, size_t index);
void end_pull(Task& task, size_t index);
// Brings Task::pull_percent forward when the difference is worth a report.
void advance_pull_percent(const Step& step, Task& task);

// report.cpp: what the control plane is told.
void advance_report(Step& step, Task& task);
void on_submit_done(Step& step, const SubmitDone& done);

}  // namespace agent::core
