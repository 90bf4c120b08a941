// The cluster as the control plane knows it: plain values in ordered containers; no I/O, no clock.
// Only apply() (model/change.h) alters a ClusterState; everyone else reads it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/generated/ecs.h"
#include "api/shape.h"
#include "base/time.h"
#include "model/capacity.h"
#include "model/gpu.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/service.h"

namespace model {

// ECS lastStatus and desiredStatus, in the order that a task goes through them.
// Source: ECS Developer Guide, "Amazon ECS task lifecycle".
enum class TaskStatus : uint8_t {
  Provisioning,
  Pending,
  Activating,
  Running,
  Deactivating,
  Stopping,
  Deprovisioning,
  Stopped,
};
API_DESCRIBED(TaskStatus);

enum class ClusterStatus : uint8_t { Active, Inactive };
API_DESCRIBED(ClusterStatus);

struct Cluster {
  ClusterName name;
  ClusterStatus status = ClusterStatus::Active;
  base::Time created_at;
  api::List<api::ecs::Tag> tags;
  api::List<api::ecs::ClusterSetting> settings;
  std::optional<api::ecs::ClusterConfiguration> configuration;
  std::string service_connect_namespace{};        // Of serviceConnectDefaults; empty: none.
  std::vector<std::string> capacity_providers{};  // As PutClusterCapacityProviders names them.
  api::List<api::ecs::CapacityProviderStrategyItem> default_capacity_provider_strategy{};
};
API_DESCRIBED(Cluster);

// One revision of a family. `definition` is what DescribeTaskDefinition answers.
struct TaskDefinition {
  std::string family;
  int32_t revision = 0;
  api::ecs::TaskDefinition definition;
  api::List<api::ecs::Tag> tags;
};
API_DESCRIBED(TaskDefinition);

enum class InstanceStatus : uint8_t { Registering, Active, Draining, Deregistering, Inactive };
API_DESCRIBED(InstanceStatus);

enum class GpuState : uint8_t {
  Idle,         // Proven empty; may be given out.
  Dedicated,    // Held whole by one container.
  NvidiaMps,    // Shared by containers through NVIDIA MPS.
  Releasing,    // Its task is stopping or stopped, and the agent has not proven it empty yet.
  Quarantined,  // Not given out until an operator clears it; `reason` says why.
};

// A share or the whole of a GPU in somebody's hands. Derived from the tasks.
struct GpuHolder {
  TaskArn task;
  std::string container;
  int64_t memory_mib = 0;  // The whole memory for a dedicated GPU.
  int32_t milli = 0;       // Thousandths: whole_gpu_milli for a dedicated GPU.
};

// What an agent last measured of a GPU.
struct GpuUsage {
  double utilization_percent = 0;
  int64_t memory_used_mib = 0;
  std::optional<double> temperature_celsius;
  std::optional<double> power_watts;
  base::Time at;
};

// What an agent last measured of a container.
struct ContainerUsage {
  double cpu_units = 0;  // 1024 a core.
  double memory_used_mib = 0;
  base::Time at;
};

struct GpuSlot {
  GpuDevice device;
  GpuState state = GpuState::Idle;
  std::string reason;  // Of Releasing and Quarantined; one sentence.
  // Of Quarantined: tasks that were given up without their agent's word. Each one's agent may still
  // prove the GPU empty; the last such proof ends the quarantine.
  std::set<TaskArn> unproven_tasks = {};
  // Its last release rests on the STOPPED of an agent that cannot prove a GPU empty.
  bool released_unproven = false;
  std::vector<GpuHolder> holders;
  std::optional<GpuUsage> usage = std::nullopt;  // In memory only.
};

// One of the checks that an agent makes of its own machine.
// Source: ECS API reference, "InstanceHealthCheckResult".
struct InstanceCheck {
  std::string type;    // "CONTAINER_RUNTIME", "ACCELERATED_COMPUTE", ...
  std::string status;  // "OK", "IMPAIRED", "INSUFFICIENT_DATA" or "INITIALIZING".
  std::string reason;  // Why it is not OK; may be empty.
  base::Time last_updated;
  base::Time last_status_change;
  friend bool operator==(const InstanceCheck&, const InstanceCheck&) = default;
};

// A container instance: a machine whose agent has registered it.
struct ContainerInstance {
  InstanceArn arn;
  ClusterName cluster;
  std::string ec2_instance_id;
  InstanceStatus status = InstanceStatus::Active;
  int64_t version = 1;  // Grows with each change that a client can see.
  base::Time registered_at;
  std::string agent_version;
  std::string agent_hash;
  std::string docker_version;
  bool external = false;  // Registered with ecs.capability.external: launch type EXTERNAL.
  std::string emulated_instance_type;  // Empty: a real machine.
  std::string gpu_driver_version;
  int64_t cpu_units = 0;                          // Registered.
  int64_t memory_mib = 0;                         // Registered.
  std::set<HostPort> reserved_ports;              // Taken by the machine itself from the start.
  std::map<std::string, std::string> attributes;  // Name to value; an empty value is no value.
  std::vector<GpuSlot> gpus;                      // In the agent's order.
  api::List<api::ecs::Tag> tags;
  // The one whose Auto Scaling group the machine is of; empty: it joined by itself, and the queue
  // of its cluster (berth_queue) has it.
  std::string capacity_provider;

  // Known in memory only, made anew after a restart.
  bool agent_connected = false;
  bool agent_silent =
      false;  // Its last connection has ended; counted as connected for a while yet.
  std::string status_reason;          // Why the agent is silent or not connected.
  base::Time connected_changed_at;    // When agent_connected or agent_silent was last set.
  std::vector<InstanceCheck> checks;  // As the agent last told, by type.

  // Derived from the tasks that are placed here and not STOPPED.
  int64_t cpu_units_held = 0;
  int64_t memory_mib_held = 0;
  std::map<HostPort, TaskArn> ports_held;
  std::set<TaskArn> tasks;
  std::map<std::string, int32_t, std::less<>> task_groups;  // How many of each group; none is 0.
  int32_t running_tasks = 0;
  int32_t pending_tasks = 0;
};

struct TaskContainer {
  std::string name;
  std::string arn;
  std::string image;
  std::string image_digest;
  std::string runtime_id;
  TaskStatus last_status = TaskStatus::Pending;  // Pending, Running or Stopped.
  std::optional<int32_t> exit_code;
  std::string reason;
  api::List<api::ecs::NetworkBinding> network_bindings;
  std::string health_status = "UNKNOWN";
  friend bool operator==(const TaskContainer&, const TaskContainer&) = default;
};
API_DESCRIBED(TaskContainer);

struct Task {
  TaskArn arn;
  ClusterName cluster;
  InstanceArn instance;  // Empty while it waits for one: PROVISIONING.
  TaskDefinitionArn definition;
  TaskStatus last_status = TaskStatus::Pending;
  TaskStatus desired_status = TaskStatus::Running;
  int64_t version = 1;
  std::string group;
  std::string started_by;
  std::string launch_type;  // "EC2" or "EXTERNAL".
  std::optional<api::ecs::TaskOverride> overrides;
  api::List<api::ecs::Tag> tags;
  bool enable_execute_command = false;
  HeldResources held;
  std::vector<TaskContainer> containers;  // In the definition's order.
  std::string stop_code;
  std::string stopped_reason;
  base::Time created_at;
  std::optional<base::Time> started_at;
  std::optional<base::Time> stopping_at;
  std::optional<base::Time> stopped_at;
  std::optional<base::Time> pull_started_at;
  std::optional<base::Time> pull_stopped_at;
  std::optional<base::Time> execution_stopped_at;
  std::string stage{};  // Of a task that is not yet RUNNING, as its agent tells: "PULLING".
  // Of that stage: how much of the images' bytes is there, where its agent tells.
  std::optional<int32_t> pull_percent{};
  std::string subnet{};  // Network mode awsvpc: what the call named.

  std::optional<base::Time> protected_until{};  // No scale-in and no deployment stops it before.

  std::string capacity_provider{};       // That it was placed with, or waits for.
  std::optional<WaitingTask> waiting{};  // While it has no instance.
  // Of a gang's member, once placed: what its containers learn of the others.
  std::map<std::string, std::string> gang_environment{};

  // Known in memory only: the agent has said that it holds the task's payload.
  bool acknowledged = false;
  // Known in memory only: why a waiting task was not placed when it was last tried.
  std::string wait_reason{};  // "RESOURCE:GPU".
  std::string wait_detail{};  // One sentence.
  // Known in memory only: by container's name.
  std::map<std::string, ContainerUsage> usage{};
};
API_DESCRIBED(Task);

// What a clientToken has bought: the same call again gets the same answer.
// Source: ECS API reference, RunTask, clientToken; "Ensuring idempotency".
struct ClientToken {
  ClusterName cluster;
  std::string token;
  std::string operation;     // "RunTask" or "StartTask".
  std::string request_hash;  // Of the request's members, the token left out.
  std::vector<TaskArn> tasks;
  api::List<api::ecs::Failure> failures;
  base::Time used_at;
};
API_DESCRIBED(ClientToken);

// A key with which one agent acts as one container instance. Its secret stands nowhere: it follows
// from the server's master key (auth/key_derivation.h).
struct AgentKey {
  std::string id;  // The access key id.
  ClusterName cluster;
  InstanceArn instance;  // Empty until an instance has registered with the key.
  base::Time created_at;
  std::string join_token;  // Id of the token it was given for; empty: made for an official agent.
};
API_DESCRIBED(AgentKey);

// What a machine shows to get an AgentKey. The token's text, too, follows from the master key.
struct JoinToken {
  std::string id;
  ClusterName cluster;
  base::Time created_at;
  base::Time expires_at;
  int32_t uses = 1;                           // How many machines may join with it in all.
  std::map<std::string, std::string> joined;  // The machine's own name to its access key id.
  // The key that it gives is for this instance; empty: for one that is yet to register.
  InstanceArn instance{};
};
API_DESCRIBED(JoinToken);

// Copied, moved and ended in one place, since each takes seconds to compile.
struct ClusterState {
  ClusterState();
  ClusterState(const ClusterState& other);
  ClusterState(ClusterState&& other) noexcept;
  ClusterState& operator=(const ClusterState& other);
  ClusterState& operator=(ClusterState&& other) noexcept;
  ~ClusterState();

  std::map<ClusterName, Cluster> clusters;
  // Family to revision to definition. INACTIVE revisions stay until they are deleted.
  std::map<std::string, std::map<int32_t, TaskDefinition>, std::less<>> task_definitions;
  // By family, where the newest was deleted: the number up to which none is given again.
  std::map<std::string, int32_t, std::less<>> deleted_revisions;
  std::map<InstanceArn, ContainerInstance> instances;
  std::map<TaskArn, Task> tasks;
  std::map<ServiceArn, Service> services;
  std::map<ServiceArn, ServiceEvents> service_events;
  std::map<ServiceRevisionArn, ServiceRevision> service_revisions;
  std::map<ServiceDeploymentArn, ServiceDeployment> service_deployments;
  std::map<std::string, CapacityProvider, std::less<>> capacity_providers;        // By name.
  std::map<std::string, AutoScalingGroup, std::less<>> auto_scaling_groups;       // By name.
  std::map<std::string, ScalingActivities, std::less<>> scaling_activities;       // By group.
  std::map<std::string, LaunchConfiguration, std::less<>> launch_configurations;  // By name.
  std::map<std::string, LaunchTemplate, std::less<>> launch_templates;            // By id.
  std::map<std::pair<ClusterName, std::string>, ClientToken> client_tokens;
  std::map<std::string, AgentKey, std::less<>> agent_keys;           // By access key id.
  std::map<std::string, JoinToken, std::less<>> join_tokens;         // By id.
  std::map<std::string, std::string, std::less<>> account_settings;  // Name to value, where put.
  int64_t sequence_numbers_reserved = 0;  // No agent was sent a number above it.

  // Derived indexes; apply() keeps them, rebuild_derived() makes them from the rest.
  std::map<std::pair<ClusterName, std::string>, std::set<TaskArn>> tasks_by_group;  // Not STOPPED.
  std::set<std::pair<base::Time, TaskArn>> stopped_tasks;  // By stopped_at: for expiry.
  std::map<ClusterName, std::set<TaskArn>> waiting_tasks;  // Without an instance, not STOPPED.
};

// Lookups; nullptr when there is none. The pointer lives until the next apply().
const Cluster* find_cluster(const ClusterState& state, const ClusterName& name);
const ContainerInstance* find_instance(const ClusterState& state, const InstanceArn& arn);
const Task* find_task(const ClusterState& state, const TaskArn& arn);
const Service* find_service(const ClusterState& state, const ServiceArn& arn);
const ServiceRevision* find_service_revision(const ClusterState& state,
                                             const ServiceRevisionArn& arn);
const ServiceDeployment* find_service_deployment(const ClusterState& state,
                                                 const ServiceDeploymentArn& arn);
// The service of a task that a service has started; empty for others.
std::string_view service_of(const Task& task);
// Those of its tasks that are not STOPPED; nullptr: none.
const std::set<TaskArn>* tasks_of(const ClusterState& state, const Service& service);
const TaskDefinition* find_task_definition(const ClusterState& state, const TaskDefinitionArn& arn);
// The newest ACTIVE revision of the family.
const TaskDefinition* latest_task_definition(const ClusterState& state, std::string_view family);

// Free is what is registered, less what tasks hold.
// Whether its agent has a connection now, or has just come and may still open one.
inline bool agent_answers(const ContainerInstance& i) {
  return i.agent_connected && !i.agent_silent;
}
inline int64_t cpu_units_free(const ContainerInstance& i) {
  return i.cpu_units - i.cpu_units_held;
}
inline int64_t memory_mib_free(const ContainerInstance& i) {
  return i.memory_mib - i.memory_mib_held;
}
const GpuSlot* find_gpu(const ContainerInstance& instance, std::string_view uuid);
// VRAM of the GPU that nobody holds, in MiB; 0 where the GPU may not be given out.
int64_t gpu_memory_mib_free(const GpuSlot& gpu);

// Wire names: "PROVISIONING", "ACTIVE", "NVIDIA_MPS"...
std::string_view to_string(TaskStatus status);
std::string_view to_string(ClusterStatus status);
std::string_view to_string(InstanceStatus status);
std::string_view to_string(GpuState state);
std::optional<TaskStatus> parse_task_status(std::string_view text);
std::optional<InstanceStatus> parse_instance_status(std::string_view text);

}  // namespace model
