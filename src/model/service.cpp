#include "model/service.h"

#include "api/describe.h"

namespace model {

API_DESCRIBE_ENUM(ServiceStatus, {ServiceStatus::Active, "ACTIVE"},
                  {ServiceStatus::Draining, "DRAINING"}, {ServiceStatus::Inactive, "INACTIVE"});

API_DESCRIBE(TaskSource, API_MEMBER(task_definition, "taskDefinition"),
             API_MEMBER(launch_type, "launchType"),
             API_MEMBER(capacity_provider_strategy, "capacityProviderStrategy"),
             API_MEMBER(platform_version, "platformVersion"),
             API_MEMBER(network_configuration, "networkConfiguration"));

API_DESCRIBE(ServiceRevision, API_MEMBER(arn, "arn"), API_MEMBER(service, "service"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(source, "source"));

API_DESCRIBE(
    Deployment, API_MEMBER(id, "id"), API_MEMBER(revision, "revision"),
    API_MEMBER(service_deployment, "serviceDeployment"), API_MEMBER(created_at, "createdAt"),
    API_MEMBER(updated_at, "updatedAt"), API_MEMBER(rollout_state, "rolloutState"),
    API_MEMBER(rollout_state_reason, "rolloutStateReason"), API_MEMBER(failed_tasks, "failedTasks"),
    API_MEMBER(breaker_failures, "breakerFailures"), API_MEMBER(failures_in_row, "failuresInRow"),
    API_MEMBER(start_not_before, "startNotBefore"), API_MEMBER(healthy_seen, "healthySeen"));

API_DESCRIBE(TaskSet, API_MEMBER(id, "id"), API_MEMBER(external_id, "externalId"),
             API_MEMBER(started_by, "startedBy"), API_MEMBER(client_token, "clientToken"),
             API_MEMBER(request_hash, "requestHash"), API_MEMBER(primary, "primary"),
             API_MEMBER(draining, "draining"), API_MEMBER(source, "source"),
             API_MEMBER(scale_percent, "scalePercent"), API_MEMBER(tags, "tags"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(updated_at, "updatedAt"),
             API_MEMBER(stability, "stability"), API_MEMBER(stability_at, "stabilityAt"),
             API_MEMBER(failures_in_row, "failuresInRow"),
             API_MEMBER(start_not_before, "startNotBefore"));

API_DESCRIBE(Service, API_MEMBER(arn, "arn"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(name, "name"), API_MEMBER(status, "status"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(created_by, "createdBy"),
             API_MEMBER(client_token, "clientToken"), API_MEMBER(request_hash, "requestHash"),
             API_MEMBER(scheduling, "scheduling"), API_MEMBER(controller, "controller"),
             API_MEMBER(desired_count, "desiredCount"), API_MEMBER(source, "source"),
             API_MEMBER(deployment_configuration, "deploymentConfiguration"),
             API_MEMBER(placement_constraints, "placementConstraints"),
             API_MEMBER(placement_strategy, "placementStrategy"),
             API_MEMBER(health_check_grace_period_seconds, "healthCheckGracePeriodSeconds"),
             API_MEMBER(zone_rebalancing, "zoneRebalancing"), API_MEMBER(tags, "tags"),
             API_MEMBER(enable_ecs_managed_tags, "enableECSManagedTags"),
             API_MEMBER(propagate_tags, "propagateTags"),
             API_MEMBER(enable_execute_command, "enableExecuteCommand"),
             API_MEMBER(deployments, "deployments"), API_MEMBER(task_sets, "taskSets"),
             API_MEMBER(completed_revision, "completedRevision"), API_MEMBER(steady, "steady"),
             API_MEMBER(inactive_at, "inactiveAt"));

API_DESCRIBE(ServiceEvent, API_MEMBER(id, "id"), API_MEMBER(created_at, "createdAt"),
             API_MEMBER(message, "message"));
API_DESCRIBE(ServiceEvents, API_MEMBER(service, "service"), API_MEMBER(events, "events"));

API_DESCRIBE(ServiceDeployment, API_MEMBER(arn, "arn"), API_MEMBER(service, "service"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(updated_at, "updatedAt"),
             API_MEMBER(started_at, "startedAt"), API_MEMBER(finished_at, "finishedAt"),
             API_MEMBER(stopped_at, "stoppedAt"), API_MEMBER(sources, "sources"),
             API_MEMBER(target, "target"), API_MEMBER(status, "status"),
             API_MEMBER(status_reason, "statusReason"), API_MEMBER(configuration, "configuration"),
             API_MEMBER(rollback, "rollback"), API_MEMBER(breaker, "breaker"),
             API_MEMBER(failure_count, "failureCount"), API_MEMBER(threshold, "threshold"),
             API_MEMBER(paused_at, "pausedAt"), API_MEMBER(hooks, "hooks"),
             API_MEMBER(baking_since, "bakingSince"));

}  // namespace model
