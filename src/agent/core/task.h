// What the agent knows about one task: read by the edges (task metadata, telemetry), changed by
// Core alone. The records are what the journal keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acs/payload.h"
#include "agent/core/dependencies.h"
#include "agent/core/runtime.h"
#include "api/generated/ecs.h"
#include "api/types.h"
#include "base/time.h"

namespace agent::core {

// Only ever moves forward. Pulling happens in None. A restart by its restartPolicy stays Running.
enum class ContainerStatus : uint8_t { None, Created, Running, Stopped };
API_DESCRIBED(ContainerStatus);

struct ContainerRecord {
  std::string name;
  std::string docker_name;  // Chosen when the payload was accepted.
  std::string metadata_id;  // Of its metadata endpoint: not to be guessed.
  std::string runtime_id;
  std::string image_id;
  std::string image_digest;
  ContainerStatus status = ContainerStatus::None;
  std::optional<int32_t> exit_code;
  std::string reason;  // "CannotPullContainerError: ..."
  std::optional<base::Time> started_at;
  std::optional<base::Time> finished_at;
  int32_t restart_count = 0;
  bool logs_shipped = false;  // All of its output is delivered.
  // Docker did not know that it ran, or that it had ended: what it tells of the end is not true.
  bool lost_by_docker = false;
  api::List<api::ecs::NetworkBinding> network_bindings;
};
API_DESCRIBED(ContainerRecord);

struct TaskRecord {
  std::string arn;
  bool stop_desired = false;
  // Whoever places tasks counts nowhere what it holds: its container instance is no more, or the
  // control plane has lost it with its disk.
  bool given_up = false;
  std::string stop_reason;  // Of the task, as reported.
  bool reached_running = false;
  // What the control plane has accepted: see report_fingerprint().
  std::string accepted;
  base::Time created_at{};
  std::optional<base::Time> pull_started_at;
  std::optional<base::Time> pull_stopped_at;
  std::optional<base::Time> execution_stopped_at;
  std::optional<base::Time> stopped_at;     // All its containers are stopped.
  std::vector<ContainerRecord> containers;  // In the payload's order.
  api::List<api::ecs::BerthGpuRelease> gpu_release;
};
API_DESCRIBED(TaskRecord);

enum class ImageStep : uint8_t {
  Undecided,
  Lookup,  // Is it on the machine?
  Pull,
  Confirm,   // Pulled: which one is it?
  Fallback,  // The pull failed: is an older one on the machine?
  Ready
};

// How a container is to be ended that no stop is for.
enum class Ending : uint8_t {
  No,
  Processes,  // What is in its cgroup, whatever Docker says.
  Container   // Through Docker: the cgroup cannot be looked at.
};

// In memory only, made anew after a restart.
struct ContainerWork {
  OperationId operation = 0;  // In flight; 0: none. One at a time.
  OperationId log_operation = 0;
  ImageStep image = ImageStep::Undecided;
  bool image_asks_for_gpus = false;  // The image sets NVIDIA_VISIBLE_DEVICES.
  std::string image_error;           // Of the last pull.
  uint64_t pull_bytes_done = 0;
  uint64_t pull_bytes_expected = 0;  // 0: the pull has not told.
  bool create_unsure = false;        // A create may have happened although runtime_id is empty.
  bool may_exist = false;            // A create was tried at some time.
  bool inspect_wanted = false;
  bool start_asked = false;  // By this process, or maybe by an earlier one.
  // A start whose answer says nothing of what came of it may come true until then.
  base::Time late_start_until{};
  std::string start_error;  // Of a start that was answered with an error; the container is to end.
  Ending ending = Ending::No;
  bool vanished = false;  // Docker does not know it any more.
  std::optional<base::Time>
      doubted_since;        // Docker says that it runs, the kernel that it does not.
  bool restarting = false;  // By its restartPolicy.
  bool lost_sight = false;  // Docker did not answer while it ran.
  bool oom = false;
  bool removed = false;
  uint32_t attempts = 0;  // Of the present step.
  uint32_t stop_attempts = 0;
  base::Time retry_at{};
  base::Time log_retry_at{};
  std::optional<base::Time> created_at;
  std::optional<int32_t> died_exit_code;  // Of the event; Docker may forget the container.
  HealthStatus health = HealthStatus::None;
  OperationId health_as_of = 0;  // What operations before this one saw of the health is older.
  std::optional<base::Time> health_since;
  std::string health_output;
  std::vector<std::string> ip_addresses;
};

struct GpuWork {
  std::string uuid;
  bool shared = false;
  OperationId operation = 0;
  base::Time retry_at{};
  std::string detail;  // Of the last probe.
  bool settled = false;
};

struct VolumeWork {
  std::string name;         // In the task.
  std::string docker_name;  // In Docker.
  bool of_the_task = true;  // Removed with the task.
  OperationId operation = 0;
  bool ready = false;
  bool removed = false;
  uint32_t attempts = 0;
  base::Time retry_at{};
};

struct Task {
  acs::Task payload;  // Without keys.
  TaskRecord record;
  std::vector<ContainerWork> work;  // As record.containers.
  std::vector<GpuWork> gpus;
  std::vector<VolumeWork> volumes;                    // Those that the agent makes.
  std::vector<std::vector<Dependency>> dependencies;  // As record.containers.
  bool admitted = false;                              // No other task has its GPUs.
  bool pulled = false;                                // An image had to be pulled.
  bool has_execution_keys = false;                    // The edges have its execution role's keys.
  std::string_view stage;                             // See report.cpp; static text.
  base::Time stage_since{};
  std::optional<int32_t> pull_percent;  // As told last; see pull_progress.cpp.
  base::Time pull_told_at{};
  uint64_t submit = 0;  // In flight; 0: none.
  std::string submit_fingerprint;
  uint32_t submit_attempts = 0;
  base::Time submit_at{};
  base::Time timer = base::Time::max();  // When it needs a look without any input.
  std::string journaled;                 // essence_of(record) as last written.

  bool all_stopped() const { return record.stopped_at.has_value(); }
  // The control plane knows that it stopped.
  bool settled() const;
};

// "0123..." of an ARN "arn:aws:ecs:...:task/cluster/0123...".
std::string task_id(std::string_view task_arn);

// The GPUs of one container, in the order of the payload's associations.
GpuAccess gpu_access(const acs::Task& task, const acs::Container& container);

}  // namespace agent::core
