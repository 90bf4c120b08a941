#include "agent/core/core.h"

#include <algorithm>
#include <utility>

#include "agent/core/journal.h"
#include "agent/core/step.h"
#include "api/json.h"
#include "base/format.h"

namespace agent::core {
namespace {

void on_operation_done(Step& step, const OperationDone& done) {
  const auto found = step.state.operations.find(done.id);
  if (found == step.state.operations.end()) return;  // Its result no longer matters.
  const Target target = found->second;
  step.state.operations.erase(found);
  if (!done.result && done.result.error().cause == Cause::Unreachable &&
      target.kind != Target::Kind::Gpu && target.kind != Target::Kind::Snapshot) {
    lose_runtime(step, done.result.error().message);
  }
  if (target.kind == Target::Kind::Snapshot) return on_snapshot(step, done.result);
  if (target.kind == Target::Kind::Stray) return on_stray_result(step, target, done.result);
  const auto task = step.state.tasks.find(target.task);
  if (task == step.state.tasks.end()) return;
  step.touched.insert(target.task);
  switch (target.kind) {
    case Target::Kind::Snapshot:
    case Target::Kind::Stray:
      break;
    case Target::Kind::Container:
      return on_container_result(step, task->second, target, done.result);
    case Target::Kind::Volume:
      return on_volume_result(step, task->second, target, done.result);
    case Target::Kind::Removal:
    case Target::Kind::VolumeRemoval:
      return on_removal_result(step, task->second, target, done.result);
    case Target::Kind::Logs:
      return on_log_result(step, task->second, target, done.result);
    case Target::Kind::Gpu:
      return on_gpu_result(step, task->second, target, done.result);
  }
}

void on_stop_all(Step& step, const StopAllTasks& input) {
  for (auto& [arn, task] : step.state.tasks) begin_stop(step, task, input.reason);
}

struct Dispatch {
  Step& step;
  void operator()(const Tick&) const {}
  void operator()(const Registered& input) const { on_registered(step, input); }
  void operator()(const RegisterFailed& input) const { on_register_failed(step, input); }
  void operator()(const SessionOpened&) const {
    step.state.session.connected(step.state.random, step.now);
  }
  void operator()(const SessionClosed& input) const { on_session_closed(step, input); }
  void operator()(SessionMessage& input) const { on_message(step, input.message); }
  void operator()(const OperationDone& input) const { on_operation_done(step, input); }
  void operator()(const PullProgress& input) const { on_pull_progress(step, input); }
  void operator()(const RuntimeReady&) const { on_runtime_ready(step); }
  void operator()(const RuntimeLost& input) const {
    step.state.subscribed = false;
    lose_runtime(step, input.reason);
  }
  void operator()(const ContainerEvent& input) const { on_event(step, input); }
  void operator()(const SubmitDone& input) const { on_submit_done(step, input); }
  void operator()(const StopAllTasks& input) const { on_stop_all(step, input); }
  void operator()(const DiskSpace& input) const {
    step.state.disk_low = input.low;
    if (input.low) touch_all(step);
  }
};

// Tasks whose own timer has come.
void touch_due(Step& step) {
  auto& timers = step.state.timers;
  for (auto it = timers.begin(); it != timers.end() && it->first <= step.now; ++it) {
    step.touched.insert(it->second);
  }
}

void erase_task(Step& step, const std::string& arn) {
  State& state = step.state;
  Task& task = state.tasks.at(arn);
  state.timers.erase({task.timer, arn});
  for (const ContainerRecord& container : task.record.containers) {
    state.task_of_container.erase(container.runtime_id);
  }
  const base::Time until = step.now + state.config.remember_stopped;
  state.remembered[arn] = until;
  step.out.journal.push_back(remembered_write(arn, until));
  step.out.journal.push_back(forget_write("payload", arn));
  step.out.journal.push_back(forget_write("task", arn));
  step.out.forgotten_tasks.push_back(arn);
  state.tasks.erase(arn);
  std::erase_if(state.remembered, [&](const auto& entry) {
    if (entry.second > step.now) return false;
    step.out.journal.push_back(forget_write("stopped", entry.first));
    return true;
  });
}

void advance_one(Step& step, const std::string& arn) {
  const auto found = step.state.tasks.find(arn);
  if (found == step.state.tasks.end()) return;
  Task& task = found->second;
  step.state.timers.erase({task.timer, arn});
  task.timer = base::Time::max();
  advance(step, task);
  advance_logs(step, task);
  advance_release(step, task);
  advance_report(step, task);
  if (advance_cleanup(step, task)) return erase_task(step, arn);
  if (task.timer != base::Time::max()) step.state.timers.emplace(task.timer, arn);
  std::string essence = essence_of(task.record);
  if (essence == task.journaled) return;
  step.out.journal.push_back({task_key(arn), api::print(task.record)});
  task.journaled = std::move(essence);
}

base::Time next_session_wake(const State& state, base::Time now) {
  if (!state.registered) return state.registering ? base::Time::max() : state.register_at;
  const base::Time leave_at = state.runtime_lost_at + state.config.runtime_grace;
  if (state.runtime_ready) return state.session.next_tick();
  if (now < leave_at) return std::min(state.session.next_tick(), leave_at);
  // Gone because of Docker: there is nothing to do until Docker is back.
  const bool waiting = state.session.state() == acs::AgentSession::State::Waiting;
  return state.runtime_loss_told && waiting ? base::Time::max() : state.session.next_tick();
}

base::Time next_wake(const State& state, base::Time now) {
  base::Time wake = next_session_wake(state, now);
  if (!state.timers.empty()) wake = std::min(wake, state.timers.begin()->first);
  for (const auto& [id, stray] : state.strays) {
    if (stray.operation == 0) wake = std::min(wake, stray.retry_at);
  }
  if (state.subscribed && state.snapshot == 0) wake = std::min(wake, state.snapshot_at);
  return wake;
}

}  // namespace

void note(Step& step, Note::Level level, std::string text) {
  step.out.notes.push_back({level, std::move(text)});
}

void touch_all(Step& step) {
  for (const auto& [arn, task] : step.state.tasks) step.touched.insert(arn);
}

OperationId begin(Step& step, Target target, Request request) {
  const OperationId id = step.state.next_id++;
  target.request = request.index();
  step.state.operations.emplace(id, std::move(target));
  step.out.operations.push_back({id, std::move(request)});
  return id;
}

base::Result<Core> Core::create(Config config, const std::vector<JournalRecord>& journal,
                                base::Time now) {
  State state(std::move(config), now);
  TRY_VOID(load_journal(state, journal, now));
  for (auto& [arn, task] : state.tasks) {
    task.timer = now;
    state.timers.emplace(now, arn);
  }
  return Core(std::move(state));
}

Output Core::step(Input input, base::Time now) {
  Output out;
  Step step{state_, out, now, {}};
  const std::string agent_before = *agent_write(state_).value;
  std::visit(Dispatch{step}, input);
  tick_snapshot(step);
  advance_strays(step);
  touch_due(step);
  while (!step.touched.empty()) {
    const std::string arn = *step.touched.begin();
    step.touched.erase(step.touched.begin());
    advance_one(step, arn);
  }
  tick_session(step);
  JournalWrite agent_after = agent_write(state_);
  if (agent_after.value != agent_before) out.journal.push_back(std::move(agent_after));
  out.wake_at = next_wake(state_, now);
  return out;
}

bool Core::idle() const {
  return std::ranges::all_of(state_.tasks,
                             [](const auto& entry) { return entry.second.all_stopped(); });
}

std::optional<acs::PublishHealthRequest> health_report(const Core& core, base::Time now) {
  acs::PublishHealthRequest report;
  report.timestamp = now;
  report.metadata.emplace();
  report.metadata->cluster = core.config().cluster;
  report.metadata->container_instance = core.container_instance_arn();
  report.metadata->fin = true;
  for (const auto& [arn, task] : core.tasks()) {
    acs::TaskHealth health;
    health.task_arn = arn;
    health.cluster_arn = task.payload.task_cluster_arn;
    health.task_definition_family = task.payload.family;
    health.task_definition_version = task.payload.version;
    for (size_t i = 0; i < task.work.size(); ++i) {
      if (task.work[i].health == HealthStatus::None || task.all_stopped()) continue;
      const HealthStatus status = task.work[i].health;
      health.containers.push_back({.container_name = task.record.containers[i].name,
                                   .health_status = status == HealthStatus::Healthy ? "HEALTHY"
                                                    : status == HealthStatus::Unhealthy
                                                        ? "UNHEALTHY"
                                                        : "UNKNOWN",
                                   .status_since = task.work[i].health_since.value_or(now),
                                   .status_message = task.work[i].health_output});
    }
    if (!health.containers.empty()) report.tasks.push_back(std::move(health));
  }
  if (report.tasks.empty()) return std::nullopt;
  return report;
}

}  // namespace agent::core
