#include "model/apply.h"
#include "model/derived.h"

namespace model {
namespace {

// A quarantine that only an operator ends outlasts one for want of a proof.
void quarantine(const TaskArn& task, const GpuRelease& release, GpuSlot& gpu) {
  const bool was = gpu.state == GpuState::Quarantined;
  if (release.kind == GpuReleaseKind::Unproven) {
    if (!was || !gpu.unproven_tasks.empty()) gpu.unproven_tasks.insert(task);
    if (was) return;
  } else {
    gpu.unproven_tasks.clear();
  }
  gpu.state = GpuState::Quarantined;
  gpu.reason = release.reason;
}

void settle_gpus(ContainerInstance& instance, const TaskReported& change) {
  for (const GpuRelease& release : change.gpu_releases) {
    GpuSlot& gpu = gpu_of(instance, release.gpu);
    if (release.kind == GpuReleaseKind::Proven || release.kind == GpuReleaseKind::OnWordAlone) {
      gpu.released_unproven = release.kind == GpuReleaseKind::OnWordAlone;
    } else {
      quarantine(change.arn, release, gpu);
    }
  }
}

}  // namespace

void apply_one(ClusterState& state, const TaskQueued& change) {
  CHECK(change.task.instance.str().empty() && change.task.waiting);
  CHECK(change.task.last_status == TaskStatus::Provisioning);
  const auto [queued, inserted] = state.tasks.emplace(change.task.arn, change.task);
  CHECK(inserted);
  wait(state, queued->second);
}

void apply_one(ClusterState& state, const TaskWaits& change) {
  Task& task = task_of(state, change.arn);
  task.wait_reason = change.reason;
  task.wait_detail = change.detail;
}

void apply_one(ClusterState& state, const TaskPlaced& change) {
  CHECK(!change.task.waiting);
  if (const auto waiting = state.tasks.find(change.task.arn); waiting != state.tasks.end()) {
    CHECK(waiting->second.waiting.has_value());
    wait_no_more(state, waiting->second);
    state.tasks.erase(waiting);
  }
  const auto [placed, inserted] = state.tasks.emplace(change.task.arn, change.task);
  for (const GpuAssignment& held : placed->second.held.gpus) {
    const GpuSlot& gpu = gpu_of(instance_of(state, placed->second.instance), held.gpu);
    CHECK(gpu.state == GpuState::Idle || (held.shared && gpu.state == GpuState::NvidiaMps));
  }
  CHECK(hold(state, placed->second));
}

void apply_one(ClusterState& state, const TaskStopRequested& change) {
  Task& task = task_of(state, change.arn);
  CHECK(task.last_status != TaskStatus::Stopped);
  if (task.desired_status == TaskStatus::Stopped) return;  // The first reason stands.
  task.desired_status = TaskStatus::Stopped;
  task.stop_code = change.stop_code;
  task.stopped_reason = change.reason;
  task.stopping_at = change.at;
  task.acknowledged = false;
  ++task.version;
  if (task.waiting) return;
  ContainerInstance& instance = instance_of(state, task.instance);
  for (GpuSlot& gpu : instance.gpus) refresh_gpu(state, gpu);
}

void apply_one(ClusterState& state, const TaskReported& change) {
  Task& task = task_of(state, change.arn);
  CHECK(task.last_status <= change.last_status);  // A status only moves forward.
  CHECK(task.last_status != TaskStatus::Stopped);
  if (!task.waiting) count_status(state, task, -1);
  task.last_status = change.last_status;
  task.containers = change.containers;
  task.stop_code = change.stop_code;
  task.stopped_reason = change.stopped_reason;
  task.started_at = change.started_at;
  task.stopping_at = change.stopping_at;
  task.stopped_at = change.stopped_at;
  task.pull_started_at = change.pull_started_at;
  task.pull_stopped_at = change.pull_stopped_at;
  task.execution_stopped_at = change.execution_stopped_at;
  task.stage = change.stage;
  task.pull_percent = change.pull_percent;
  ++task.version;
  if (!task.waiting) count_status(state, task, +1);
  if (change.last_status != TaskStatus::Stopped) return;
  CHECK(task.stopped_at.has_value());
  task.desired_status = TaskStatus::Stopped;
  if (task.waiting) {
    wait_no_more(state, task);
    task.waiting.reset();
  } else {
    let_go(state, task);
    settle_gpus(instance_of(state, task.instance), change);
  }
  state.stopped_tasks.emplace(*task.stopped_at, task.arn);
}

void apply_one(ClusterState& state, const ContainerHealthReported& change) {
  Task& task = task_of(state, change.arn);
  for (TaskContainer& container : task.containers) {
    const auto told = change.health.find(container.name);
    if (told != change.health.end()) container.health_status = told->second;
  }
  ++task.version;
}

void apply_one(ClusterState& state, const TaskAcknowledged& change) {
  task_of(state, change.arn).acknowledged = true;
}

void apply_one(ClusterState& state, const TaskExpired& change) {
  const Task& task = task_of(state, change.arn);
  CHECK(task.last_status == TaskStatus::Stopped);
  state.stopped_tasks.erase({*task.stopped_at, task.arn});
  state.tasks.erase(change.arn);
}

void apply_one(ClusterState& state, const TaskProtectionSet& change) {
  Task& task = task_of(state, change.arn);
  task.protected_until = change.until;
  ++task.version;
}

}  // namespace model
