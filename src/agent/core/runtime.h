// What the agent's core asks of the container runtime, and what it hears from it. The edges turn
// these into calls of docker::ContainerRuntime and gpu::Devices.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "acs/payload.h"
#include "base/time.h"
#include "container/error.h"
#include "container/facts.h"
#include "json/value.h"

namespace agent::core {

using container::Binding;
using container::Cause;
using container::ContainerEvent;
using container::ContainerInfo;
using container::CreatedContainer;
using container::EventKind;
using container::HealthStatus;
using container::ImageInfo;
using container::Processes;
using container::RuntimeStatus;
using OperationError = container::Error;

// Labels of every container that an agent makes: the agent's name, and its data directory.
inline constexpr const char* label_of_agent = "berth.agent";
inline constexpr const char* label_of_agent_data = "berth.agent-data";
inline constexpr const char* label_of_task = "com.amazonaws.ecs.task-arn";

// Unique within the life of a process.
using OperationId = uint64_t;

// Answer: ImageInfo. Not on this machine: Cause::NotFound.
struct InspectImage {
  std::string image;
};

struct PullImage {
  std::string image;
  // How to log in to the registry, as the payload says it; nullopt: as the machine is set up.
  std::optional<acs::RegistryAuthentication> auth;
  std::string task_arn = {};  // Whose execution role has the keys for it.
};

// A container's share of one GPU through NVIDIA MPS. The core sets the CUDA_MPS_* variables and the
// pipe directory's mount itself; the edge makes sure that the MPS daemon of that GPU runs.
struct GpuSharing {
  int64_t memory_mib = 0;
  std::optional<int32_t> max_compute_percent;
  friend bool operator==(const GpuSharing&, const GpuSharing&) = default;
};

// Which GPUs a container gets: the edge merges gpu::Devices::container_setup(uuids) over `body`,
// for a container without GPUs as well (an empty list hides them all).
struct GpuAccess {
  std::vector<std::string> uuids;
  std::optional<GpuSharing> sharing;
  friend bool operator==(const GpuAccess&, const GpuAccess&) = default;
};

// The image of the container that holds a task's namespaces. Where InspectImage does not find it
// the edge makes it: it is in no registry.
inline constexpr std::string_view pause_image = "berth/pause:1";

struct PortRange {
  int32_t first = 0;  // Of the container.
  int32_t last = 0;
  bool udp = false;
  friend bool operator==(const PortRange&, const PortRange&) = default;
};

// What the containers of a task may use together; 0: no limit.
struct TaskLimits {
  std::string task_id;
  int64_t cpu_milli = 0;  // Thousandths of a core.
  int64_t memory_mib = 0;
  friend bool operator==(const TaskLimits&, const TaskLimits&) = default;
};

// Answer: CreatedContainer. The edge completes the body with what only the machine knows; a failure
// of that is "ResourceInitializationError".
struct CreateContainer {
  std::string name;
  json::Value body;  // Of POST /containers/create.
  GpuAccess gpus;
  std::string task_arn;
  std::vector<PortRange> port_ranges;  // To be bound to host ports that lie side by side.
  // Their variables are added where neither the body nor an earlier file has them: "file:///path",
  // "arn:aws:s3:::bucket/key", "s3://bucket/key".
  std::vector<std::string> environment_files;
  std::vector<acs::Secret> secrets;  // Fetched with the keys of the task's execution role.
  // The container goes below a cgroup of the task with these limits, which lives until the task is
  // forgotten.
  std::optional<TaskLimits> limits;
  std::vector<std::string> host_paths{};  // Of the machine, mounted for the task, as spelled.
};

// Answer: Done, or ContainerInfo where the edge has looked at the container already.
struct StartContainer {
  std::string runtime_id;
};

struct StopContainer {
  std::string runtime_id;
  base::Milliseconds timeout{};  // Between the stop signal and SIGKILL.
};

struct KillContainer {  // With SIGKILL.
  std::string runtime_id;
};

// With its anonymous volumes; a container that is gone already is success.
struct RemoveContainer {
  std::string runtime_id_or_name;
};

// Answer: ContainerInfo.
struct InspectContainer {
  std::string runtime_id_or_name;
};

// All containers, stopped ones included, with the label berth.agent=`agent_name`, and those with
// the label berth.agent-data=`agent_data`: of an agent of another name that had the same data
// directory. Answer: Snapshot, all or nothing.
struct ListContainers {
  std::string agent_name;
  std::string agent_data;  // Empty: those of the name alone.
};

struct CreateVolume {
  std::string name;
  std::string driver;
  std::map<std::string, std::string> driver_options;
  std::map<std::string, std::string> labels;
  bool must_exist = false;  // Do not make it: fail with Cause::NotFound when it is not there.
};

struct RemoveVolume {
  std::string name;
};

// Ships the container's output from where it was left (the edge keeps the position in its own
// journal) until the container has stopped and all is delivered; only then it is answered. The
// edge itself tries again when the log service does not answer; Cause::Unreachable is Docker's.
struct ShipLogs {
  std::string task_arn;
  std::string container_name;
  std::string runtime_id;
  std::string group;
  std::string stream;  // "prefix/container/task-id".
  std::string region;
  bool create_group = false;
  std::map<std::string, std::string> options;  // All awslogs-* options as given.
};

// Answer: GpuUse, without what the containers of `sharers` have on it. It is empty when nothing is
// on the device and none of `containers` has a process left, whatever Docker says of them; what
// cannot be looked at is not empty. A UUID that this machine does not have: Cause::NotFound.
struct ProbeGpu {
  std::string uuid;
  std::vector<std::string> containers = {};  // runtime_ids of those that may have it still.
  std::vector<std::string> sharers = {};     // runtime_ids of containers of other tasks.
};

// Kills what runs in the container's cgroup, whatever Docker says of it. Answer: ProcessesSeen,
// what is left.
struct EndProcesses {
  std::string runtime_id;
};

using Request =
    std::variant<InspectImage, PullImage, CreateContainer, StartContainer, StopContainer,
                 KillContainer, RemoveContainer, InspectContainer, ListContainers, CreateVolume,
                 RemoveVolume, ShipLogs, ProbeGpu, EndProcesses>;

struct Operation {
  OperationId id = 0;
  Request request;
};

struct Done {};

struct Snapshot {
  std::vector<ContainerInfo> containers;
};

struct GpuUse {
  bool empty = true;
  std::string detail;  // What is on it: "1 process (pid 4711), 1024 MiB above its baseline".
};

struct ProcessesSeen {
  Processes left = Processes::Unknown;
  std::string reason;  // Of Unknown: why it cannot be told.
};

using OperationValue =
    std::variant<Done, ImageInfo, CreatedContainer, ContainerInfo, Snapshot, GpuUse, ProcessesSeen>;
using OperationResult = std::expected<OperationValue, OperationError>;

}  // namespace agent::core
