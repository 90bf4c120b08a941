#include "agent/core/journal.h"

#include <algorithm>
#include <map>
#include <utility>

#include "agent/core/payload.h"
#include "api/describe.h"
#include "api/json.h"
#include "base/format.h"

namespace agent::core {

API_DESCRIBE(AgentRecord, API_MEMBER(cluster, "cluster"),
             API_MEMBER(container_instance_arn, "containerInstanceArn"),
             API_MEMBER(highest, "highest"));
API_DESCRIBE(RememberedRecord, API_MEMBER(until, "until"));
API_DESCRIBE_ENUM(ContainerStatus, {ContainerStatus::None, "NONE"},
                  {ContainerStatus::Created, "CREATED"}, {ContainerStatus::Running, "RUNNING"},
                  {ContainerStatus::Stopped, "STOPPED"});
API_DESCRIBE(ContainerRecord, API_REQUIRED(name, "name"), API_MEMBER(docker_name, "dockerName"),
             API_MEMBER(metadata_id, "metadataId"), API_MEMBER(runtime_id, "runtimeId"),
             API_MEMBER(image_id, "imageId"), API_MEMBER(image_digest, "imageDigest"),
             API_REQUIRED(status, "status"), API_MEMBER(exit_code, "exitCode"),
             API_MEMBER(reason, "reason"), API_MEMBER(started_at, "startedAt"),
             API_MEMBER(finished_at, "finishedAt"), API_MEMBER(restart_count, "restartCount"),
             API_MEMBER(logs_shipped, "logsShipped"), API_MEMBER(lost_by_docker, "lostByDocker"),
             API_MEMBER(network_bindings, "networkBindings"));
API_DESCRIBE(TaskRecord, API_REQUIRED(arn, "arn"), API_MEMBER(stop_desired, "stopDesired"),
             API_MEMBER(given_up, "givenUp"), API_MEMBER(stop_reason, "stopReason"),
             API_MEMBER(reached_running, "reachedRunning"), API_MEMBER(accepted, "accepted"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(pull_started_at, "pullStartedAt"),
             API_MEMBER(pull_stopped_at, "pullStoppedAt"),
             API_MEMBER(execution_stopped_at, "executionStoppedAt"),
             API_MEMBER(stopped_at, "stoppedAt"), API_MEMBER(containers, "containers"),
             API_MEMBER(gpu_release, "gpuRelease"));

namespace {

constexpr std::string_view agent_key = "agent";

template <class T>
base::Result<T> read(const std::string& key, const std::string& text) {
  base::Result<T> value = api::parse<T>(text);
  if (!value) {
    return base::fail(
        "JournalCorrupt",
        base::format("The agent's journal cannot be read at '{}': {}", key, value.error().message));
  }
  return value;
}

base::Result<void> load_agent(State& state, const std::string& text) {
  const AgentRecord record = TRY(read<AgentRecord>(std::string(agent_key), text));
  if (record.cluster != state.config.cluster) {
    return base::fail(
        "JournalOfAnotherCluster",
        base::format("This agent's data belong to the cluster '{}', not '{}': start it with that "
                     "cluster, or with another data directory.",
                     record.cluster, state.config.cluster));
  }
  state.instance_arn = record.container_instance_arn;
  state.progress.highest = record.highest;
  return {};
}

base::Result<void> load_task(State& state, const std::string& arn, const std::string& record_text,
                             const std::map<std::string, std::string>& payloads, base::Time now) {
  Task task;
  task.record = TRY(read<TaskRecord>(task_key(arn), record_text));
  const auto payload = payloads.find(arn);
  if (payload == payloads.end()) {
    return base::fail(
        "JournalCorrupt",
        base::format("The agent's journal has '{}' without its payload.", task_key(arn)));
  }
  task.payload = TRY(read<acs::Task>("payload/" + arn, payload->second));
  task.journaled = essence_of(task.record);
  const base::Result<void> complete = complete_task(task);
  const size_t containers = task.payload.containers.size();
  if (task.record.arn != arn || task.record.containers.size() != containers) {
    return base::fail(
        "JournalCorrupt",
        base::format("The agent's journal contradicts itself at '{}'.", task_key(arn)));
  }
  // A task that can never run was stopped when it was accepted.
  if (!complete) task.dependencies.assign(containers, {});
  for (size_t i = 0; i < containers; ++i) {
    const ContainerRecord& container = task.record.containers[i];
    task.work[i].may_exist = true;
    task.work[i].create_unsure = container.runtime_id.empty();
    task.work[i].start_asked = !container.runtime_id.empty();
    task.work[i].late_start_until = now + state.config.late_start_wait;
    if (container.status != ContainerStatus::None) task.admitted = true;
    if (!container.runtime_id.empty()) state.task_of_container[container.runtime_id] = arn;
  }
  for (GpuWork& gpu : task.gpus) {
    gpu.settled = std::ranges::any_of(
        task.record.gpu_release, [&](const auto& release) { return release.gpu_id == gpu.uuid; });
  }
  state.tasks.emplace(arn, std::move(task));
  return {};
}

}  // namespace

std::string task_key(const std::string& arn) {
  return "task/" + arn;
}

std::string essence_of(TaskRecord record) {
  record.pull_started_at.reset();
  record.pull_stopped_at.reset();
  for (ContainerRecord& container : record.containers) {
    container.image_id.clear();
    container.image_digest.clear();
  }
  return api::print(record);
}

JournalWrite agent_write(const State& state) {
  const AgentRecord record{state.config.cluster, state.instance_arn, state.progress.highest};
  return {std::string(agent_key), api::print(record)};
}

JournalWrite payload_write(const acs::Task& payload) {
  return {"payload/" + payload.arn, api::print(payload)};
}

JournalWrite remembered_write(const std::string& arn, base::Time until) {
  return {"stopped/" + arn, api::print(RememberedRecord{until})};
}

JournalWrite forget_write(std::string_view kind, const std::string& arn) {
  return {base::format("{}/{}", kind, arn), std::nullopt};
}

base::Result<void> load_journal(State& state, const std::vector<JournalRecord>& records,
                                base::Time now) {
  std::map<std::string, std::string> payloads;
  std::map<std::string, std::string> tasks;
  for (const JournalRecord& record : records) {
    const size_t slash = record.key.find('/');
    const std::string kind = record.key.substr(0, slash);
    const std::string arn = slash == std::string::npos ? "" : record.key.substr(slash + 1);
    if (record.key == agent_key) {
      TRY_VOID(load_agent(state, record.value));
    } else if (kind == "payload") {
      payloads[arn] = record.value;
    } else if (kind == "task") {
      tasks[arn] = record.value;
    } else if (kind == "stopped") {
      state.remembered[arn] = TRY(read<RememberedRecord>(record.key, record.value)).until;
    } else {
      return base::fail("JournalCorrupt",
                        base::format("The agent's journal has the unknown record '{}'; it was "
                                     "written by a newer version.",
                                     record.key));
    }
  }
  for (const auto& [arn, text] : tasks) TRY_VOID(load_task(state, arn, text, payloads, now));
  return {};
}

}  // namespace agent::core
