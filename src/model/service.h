// A service and what belongs to it, as the control plane keeps them: plain values, altered by
// apply() (model/change.h) alone. What decides about them is src/reconcile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/generated/ecs.h"
#include "api/shape.h"
#include "base/time.h"
#include "model/ids.h"

namespace model {

// Draining: deleted, its tasks are still stopping. Inactive: gone, described for an hour more.
enum class ServiceStatus : uint8_t { Active, Draining, Inactive };
API_DESCRIBED(ServiceStatus);

// What tasks of a service are made from.
struct TaskSource {
  TaskDefinitionArn task_definition;
  std::string launch_type;  // "EC2", "EXTERNAL", or empty: either.
  api::List<api::ecs::CapacityProviderStrategyItem> capacity_provider_strategy;
  std::string platform_version;
  std::optional<api::ecs::NetworkConfiguration> network_configuration;
  friend bool operator==(const TaskSource&, const TaskSource&) = default;
};
API_DESCRIBED(TaskSource);

// A state of a service that can be rolled out and gone back to; never altered once made.
// Source: ECS API reference, ServiceRevision.
struct ServiceRevision {
  ServiceRevisionArn arn;
  ServiceArn service;
  base::Time created_at;
  TaskSource source;
};
API_DESCRIBED(ServiceRevision);

// The tasks of one revision that a service has now. Source: ECS API reference, Deployment.
struct Deployment {
  std::string id;  // "ecs-svc/<19 digits>": startedBy of its tasks.
  ServiceRevisionArn revision;
  ServiceDeploymentArn service_deployment;  // The rollout that it is of.
  base::Time created_at;
  base::Time updated_at;
  api::ecs::DeploymentRolloutState rollout_state = api::ecs::DeploymentRolloutState::InProgress;
  std::string rollout_state_reason;
  // Tasks that ended by themselves before they had settled (Settings::service_settle).
  int32_t failed_tasks = 0;      // In all, as described.
  int32_t breaker_failures = 0;  // As the circuit breaker counts them.
  int32_t failures_in_row = 0;   // Without one that settled in between: for the back-off.
  std::optional<base::Time> start_not_before;  // The back-off's end.
  int32_t healthy_seen = 0;                    // The most healthy tasks that it has had at a time.
};
API_DESCRIBED(Deployment);

// Tasks that a client with a deployment controller of its own wants. Source: ECS API reference,
// TaskSet.
struct TaskSet {
  std::string id;  // "ecs-svc/<19 digits>": startedBy of its tasks.
  std::string external_id;
  std::string started_by;
  std::string client_token;
  std::string request_hash;
  bool primary = false;
  bool draining = false;  // Deleted, its tasks are still stopping.
  TaskSource source;
  double scale_percent = 0;
  api::List<api::ecs::Tag> tags;
  base::Time created_at;
  base::Time updated_at;
  api::ecs::StabilityStatus stability = api::ecs::StabilityStatus::Stabilizing;
  base::Time stability_at;
  int32_t failures_in_row = 0;
  std::optional<base::Time> start_not_before;
};
API_DESCRIBED(TaskSet);

struct Service {
  ServiceArn arn;
  ClusterName cluster;
  std::string name;
  ServiceStatus status = ServiceStatus::Active;
  base::Time created_at;
  std::string created_by;
  std::string client_token;  // Of the call that made it, and that call's fingerprint.
  std::string request_hash;
  api::ecs::SchedulingStrategy scheduling = api::ecs::SchedulingStrategy::Replica;
  api::ecs::DeploymentControllerType controller = api::ecs::DeploymentControllerType::Ecs;
  int32_t desired_count = 0;  // Of a DAEMON: as many as instances are fit for it.
  TaskSource source;          // What the next deployment rolls out; of EXTERNAL: the default.
  api::ecs::DeploymentConfiguration deployment_configuration;  // With the defaults filled in.
  api::List<api::ecs::PlacementConstraint> placement_constraints;
  api::List<api::ecs::PlacementStrategy> placement_strategy;
  std::optional<int32_t> health_check_grace_period_seconds;
  api::ecs::AvailabilityZoneRebalancing zone_rebalancing =
      api::ecs::AvailabilityZoneRebalancing::Disabled;
  api::List<api::ecs::Tag> tags;
  bool enable_ecs_managed_tags = false;
  std::optional<api::ecs::PropagateTags> propagate_tags;
  bool enable_execute_command = false;
  std::vector<Deployment> deployments;    // The PRIMARY one first; of controller EXTERNAL: none.
  std::vector<TaskSet> task_sets;         // Of controller EXTERNAL.
  ServiceRevisionArn completed_revision;  // The last one that was rolled out: a rollback's aim.
  bool steady = false;                    // The event of its steady state has been written.
  std::optional<base::Time> inactive_at;
};
API_DESCRIBED(Service);

struct ServiceEvent {
  std::string id;
  base::Time created_at;
  std::string message;
};
API_DESCRIBED(ServiceEvent);

// The last ones, the oldest first: a record of its own, since it changes more often than the rest.
struct ServiceEvents {
  ServiceArn service;
  std::vector<ServiceEvent> events;
};
API_DESCRIBED(ServiceEvents);
inline constexpr size_t most_service_events = 100;

// One rollout, as it went. Source: ECS API reference, ServiceDeployment.
struct ServiceDeployment {
  ServiceDeploymentArn arn;
  ServiceArn service;
  base::Time created_at;
  base::Time updated_at;
  std::optional<base::Time> started_at;
  std::optional<base::Time> finished_at;
  std::optional<base::Time> stopped_at;
  std::vector<ServiceRevisionArn> sources;
  ServiceRevisionArn target;
  api::ecs::ServiceDeploymentStatus status = api::ecs::ServiceDeploymentStatus::Pending;
  std::string status_reason;
  api::ecs::DeploymentConfiguration configuration;
  std::optional<api::ecs::Rollback> rollback;
  api::ecs::ServiceDeploymentRollbackMonitorsStatus breaker =
      api::ecs::ServiceDeploymentRollbackMonitorsStatus::Disabled;
  int32_t failure_count = 0;
  int32_t threshold = 0;
  // The stage at which a PAUSE hook holds it, and what has come of the hooks so far.
  std::optional<api::ecs::DeploymentLifecycleHookStage> paused_at;
  api::List<api::ecs::DeploymentLifecycleHookDetail> hooks;
  std::optional<base::Time> baking_since;
};
API_DESCRIBED(ServiceDeployment);
// Finished ones beyond this number are forgotten, the oldest first.
inline constexpr size_t most_service_deployments = 100;

}  // namespace model
