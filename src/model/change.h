// Every durable fact is a small named change. A change is what apply() performs in memory and what
// decides which records the store writes; loading the records makes the same state again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/state.h"

namespace model {

// New, or as it is from now on.
struct ClusterPut {
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
struct TaskDefinitionDeleteRequested {  // Status DELETE_IN_PROGRESS.
  TaskDefinitionArn arn;
  base::Time at;
};
struct TaskDefinitionDeleted {  // Gone for good: nothing is made of it any more.
  TaskDefinitionArn arn;
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
  bool silent = false;  // With `connected`: its last connection has ended, its grace has not.
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
struct GpuCleared {  // By an operator.
  InstanceArn arn;
  std::string gpu;
};
// The agent of a task that was given up has told after all that the GPU is empty of it. Once no
// other task of GpuSlot::unproven_tasks is left, the quarantine ends.
struct GpuProven {
  InstanceArn arn;
  std::string gpu;
  TaskArn task;
  bool on_word_alone = false;  // STOPPED of an agent that cannot prove it.
};
// Between ACTIVE and DRAINING, by an operator.
struct InstanceStatusChanged {
  InstanceArn arn;
  InstanceStatus status = InstanceStatus::Active;
};

// In memory only: what the agent tells of its machine.
struct InstanceObserved {
  InstanceArn arn;
  std::vector<InstanceCheck> checks;      // Each replaces the one of its type.
  std::map<std::string, GpuUsage> usage;  // By UUID; others stay as they are.
  // By task and container's name; others stay as they are.
  std::map<TaskArn, std::map<std::string, ContainerUsage>> containers{};
};

// Gone for good: it was INACTIVE for its hour.
struct InstanceForgotten {
  InstanceArn arn;
};

// Accepted without an instance: PROVISIONING, until TaskPlaced gives it one.
struct TaskQueued {
  Task task;
};
// New, or a task that was PROVISIONING until now, as it is from here on.
struct TaskPlaced {
  Task task;
};
struct TaskWaits {  // In memory only: why a waiting task was not placed.
  TaskArn arn;
  std::string reason;
  std::string detail;
};
struct TaskStopRequested {
  TaskArn arn;
  std::string stop_code;  // "UserInitiated", "TaskFailedToStart", ...
  std::string reason;
  base::Time at;
};
// What became of a GPU when its task let go of it.
enum class GpuReleaseKind : uint8_t {
  Proven,       // Empty: seen by Berth's agent.
  OnWordAlone,  // Taken as empty, since the agent is one that cannot prove it.
  NotEmpty,     // Quarantined until an operator clears it.
  Unproven      // Quarantined until the task's agent proves it empty, or an operator clears it.
};
struct GpuRelease {
  std::string gpu;  // UUID.
  GpuReleaseKind kind = GpuReleaseKind::Proven;
  std::string reason;  // Of a quarantine.
};
// What an agent reported, merged by the caller: the members replace those of the task. When
// `last_status` is Stopped the task lets go of all it holds; its GPUs become Idle or, where
// `gpu_releases` says that one is not empty or not proven to be, Quarantined.
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
  std::string stage{};
  std::optional<int32_t> pull_percent{};
  std::vector<GpuRelease> gpu_releases;
};
// Health comes on the telemetry stream, apart from everything else that is told of a task.
struct ContainerHealthReported {
  TaskArn arn;
  std::map<std::string, std::string> health;  // Container's name to "HEALTHY", "UNHEALTHY", ...
};
struct TaskAcknowledged {  // In memory only: the agent holds the payload.
  TaskArn arn;
};
struct TaskExpired {  // A stopped task is forgotten, about an hour after it stopped.
  TaskArn arn;
};

// Until when neither a scale-in nor a deployment stops the task; without a value: it may.
struct TaskProtectionSet {
  TaskArn arn;
  std::optional<base::Time> until;
};

// New, or as it is from now on.
struct ServicePut {
  Service service;
};
struct ServiceEventAdded {
  ServiceArn arn;
  ServiceEvent event;
};
struct ServiceRevisionPut {
  ServiceRevision revision;
};
struct ServiceDeploymentPut {
  ServiceDeployment deployment;
};
struct ServiceDeploymentForgotten {
  ServiceDeploymentArn arn;
};
struct ServiceRevisionForgotten {
  ServiceRevisionArn arn;
};
// Gone for good with its events: it was INACTIVE for its hour, or another one has taken its name.
struct ServiceForgotten {
  ServiceArn arn;
};

// TagResource and UntagResource: the tags of the resource from now on.
struct TagsSet {
  std::variant<ClusterName, InstanceArn, TaskDefinitionArn, TaskArn, ServiceArn,
               CapacityProviderName>
      resource;
  api::List<api::ecs::Tag> tags;
};

// New, or as it is from now on.
struct CapacityProviderPut {
  CapacityProvider provider;
};
struct CapacityProviderForgotten {
  std::string name;
};
struct AutoScalingGroupPut {
  AutoScalingGroup group;
};
struct AutoScalingGroupForgotten {  // With its activities.
  std::string name;
};
// New, or the one of the same id as it is from now on.
struct ScalingActivityPut {
  ScalingActivity activity;
};
struct LaunchConfigurationPut {
  LaunchConfiguration configuration;
};
struct LaunchConfigurationForgotten {
  std::string name;
};
struct LaunchTemplatePut {
  LaunchTemplate launch_template;
};
struct LaunchTemplateForgotten {
  std::string id;
};

struct ClientTokenUsed {
  ClientToken token;
};
struct ClientTokenExpired {
  ClusterName cluster;
  std::string token;
};

// New, or bound to the instance that has registered with it.
struct AgentKeyPut {
  AgentKey key;
};
struct AgentKeyRemoved {
  std::string id;
};
// New, or with one more machine that has joined.
struct JoinTokenPut {
  JoinToken token;
};
struct JoinTokenRemoved {
  std::string id;
};

struct AccountSettingPut {
  std::string name;
  std::string value;
};
struct AccountSettingRemoved {
  std::string name;
};

// Sequence numbers of payloads and manifests up to this one may be sent from now on.
struct SequenceNumbersReserved {
  int64_t until = 0;
};

using AnyChange = std::variant<
    ClusterPut, ClusterDeleted, TaskDefinitionRegistered, TaskDefinitionDeregistered,
    TaskDefinitionDeleteRequested, TaskDefinitionDeleted, InstanceRegistered, InstanceDeregistered,
    AgentConnectionChanged, AttributesPut, AttributesDeleted, GpuQuarantined, GpuCleared, GpuProven,
    InstanceStatusChanged, InstanceObserved, InstanceForgotten, TaskQueued, TaskPlaced, TaskWaits,
    TaskStopRequested, TaskReported, ContainerHealthReported, TaskAcknowledged, TaskExpired,
    TagsSet, ClientTokenUsed, ClientTokenExpired, AgentKeyPut, AgentKeyRemoved, JoinTokenPut,
    JoinTokenRemoved, TaskProtectionSet, ServicePut, ServiceEventAdded, ServiceRevisionPut,
    ServiceDeploymentPut, ServiceDeploymentForgotten, ServiceRevisionForgotten, ServiceForgotten,
    CapacityProviderPut, CapacityProviderForgotten, AutoScalingGroupPut, AutoScalingGroupForgotten,
    ScalingActivityPut, LaunchConfigurationPut, LaunchConfigurationForgotten, LaunchTemplatePut,
    LaunchTemplateForgotten, AccountSettingPut, AccountSettingRemoved, SequenceNumbersReserved>;

template <class One, class... All>
consteval bool is_one_of(const std::variant<All...>* /*these*/) {
  return (std::is_same_v<One, All> || ...);
}
template <class One>
concept OneChange = is_one_of<One>(static_cast<const AnyChange*>(nullptr));

// One of them. Making, copying, moving and ending so many shapes is compiled once, in change.cpp,
// not wherever a change is made.
struct Change : AnyChange {
  template <OneChange One>
  Change(One one) : Change(of(std::move(one))) {}
  Change(const Change& other);
  Change(Change&& other) noexcept;
  Change& operator=(const Change& other);
  Change& operator=(Change&& other) noexcept;
  ~Change();

 private:
  template <OneChange One>
  static Change of(One one);
  explicit Change(AnyChange&& any);
};

// Performs the change. A change that the state cannot take (a GPU given twice, a status that goes
// back, an unknown task) is a broken invariant: CHECK.
void apply(ClusterState& state, const Change& change);

// Whether a change of instances may make room for tasks that had none. Tasks that end do too, and
// are not looked at here.
bool gives_capacity(const Change& change);

// The instances whose picture a change alters, for caches over the state.
void touched_instances(const ClusterState& state, const Change& change,
                       std::vector<InstanceArn>& touched);

// Breaks with a CHECK when a derived index disagrees with the records, or a resource is held twice
// or beyond what is registered. O(state); for tests and the simulator.
void check_invariants(const ClusterState& state);

}  // namespace model
