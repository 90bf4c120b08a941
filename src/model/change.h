// Every durable fact is a small named change. A change is what apply() performs in memory and what
// decides which records the store writes; loading the records makes the same state again.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/state.h"

namespace model {

struct ClusterCreated {
  Cluster cluster;
};
struct ClusterDeleted {  // Status INACTIVE: still described, no longer listed.
  ClusterName cluster;
};

struct TaskDefinitionRegistered {
  TaskDefinition task_definition;
};
struct TaskDefinitionDeregistered {
  TaskDefinitionArn arn;
  base::Time at;
};

// New, or registered again after its agent restarted: the derived members of `instance` are
// ignored, and what tasks hold stays. GPUs that are still held stay held.
struct InstanceRegistered {
  ContainerInstance instance;
};
struct InstanceDeregistered {
  InstanceArn arn;
  base::Time at;
};
struct AgentConnectionChanged {
  InstanceArn arn;
  bool connected = false;
  std::string reason;
  base::Time at;
};
struct AttributesPut {
  InstanceArn arn;
  std::map<std::string, std::string> attributes;
};
struct AttributesDeleted {
  InstanceArn arn;
  std::vector<std::string> names;
};
struct GpuQuarantined {
  InstanceArn arn;
  std::string gpu;  // UUID.
  std::string reason;
};
struct GpuCleared {  // By an operator, or proven empty.
  InstanceArn arn;
  std::string gpu;
};

// Gone for good: it was INACTIVE for its hour.
struct InstanceForgotten {
  InstanceArn arn;
};

struct TaskPlaced {
  Task task;
};
struct TaskStopRequested {
  TaskArn arn;
  std::string stop_code;  // "UserInitiated", "TaskFailedToStart", ...
  std::string reason;
  base::Time at;
};
// What became of a GPU when its task let go of it.
struct GpuRelease {
  std::string gpu;     // UUID.
  bool empty = true;   // False: quarantined.
  std::string reason;  // Why not empty, or that it was not proven.
};
// What an agent reported, merged by the caller: the members replace those of the task. When
// `last_status` is Stopped the task lets go of all it holds; its GPUs become Idle or, where
// `gpu_releases` says that one is not empty, Quarantined.
struct TaskReported {
  TaskArn arn;
  TaskStatus last_status = TaskStatus::Pending;
  std::vector<TaskContainer> containers;
  std::string stop_code;
  std::string stopped_reason;
  std::optional<base::Time> started_at;
  std::optional<base::Time> stopping_at;
  std::optional<base::Time> stopped_at;
  std::optional<base::Time> pull_started_at;
  std::optional<base::Time> pull_stopped_at;
  std::optional<base::Time> execution_stopped_at;
  std::vector<GpuRelease> gpu_releases;
};
struct TaskAcknowledged {  // In memory only: the agent holds the payload.
  TaskArn arn;
};
struct TaskExpired {  // A stopped task is forgotten, about an hour after it stopped.
  TaskArn arn;
};

struct ClientTokenUsed {
  ClientToken token;
};
struct ClientTokenExpired {
  ClusterName cluster;
  std::string token;
};

using Change =
    std::variant<ClusterCreated, ClusterDeleted, TaskDefinitionRegistered,
                 TaskDefinitionDeregistered, InstanceRegistered, InstanceDeregistered,
                 AgentConnectionChanged, AttributesPut, AttributesDeleted, GpuQuarantined,
                 GpuCleared, InstanceForgotten, TaskPlaced, TaskStopRequested, TaskReported,
                 TaskAcknowledged, TaskExpired, ClientTokenUsed, ClientTokenExpired>;

// Performs the change. A change that the state cannot take (a GPU given twice, a status that goes
// back, an unknown task) is a broken invariant: CHECK.
void apply(ClusterState& state, const Change& change);

// The instances whose picture a change alters, for caches over the state.
void touched_instances(const ClusterState& state, const Change& change,
                       std::vector<InstanceArn>& touched);

// Breaks with a CHECK when a derived index disagrees with the records, or a resource is held twice
// or beyond what is registered. O(state); for tests and the simulator.
void check_invariants(const ClusterState& state);

}  // namespace model
