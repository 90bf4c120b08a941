// The members of the records of capacity providers, Auto Scaling groups and what machines are made
// from, and what they are called in JSON.
#include "api/describe.h"
#include "model/state.h"

namespace model {

API_DESCRIBE(CapacityProvider, API_MEMBER(name, "name"), API_MEMBER(status, "status"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(group, "autoScalingGroupProvider"),
             API_MEMBER(update_status, "updateStatus"),
             API_MEMBER(update_status_reason, "updateStatusReason"), API_MEMBER(tags, "tags"));
API_DESCRIBE(WaitingTask, API_MEMBER(constraints, "placementConstraints"),
             API_MEMBER(strategies, "placementStrategy"));

API_DESCRIBE_ENUM(MachineState, {MachineState::Wanted, "WANTED"},
                  {MachineState::Pending, "PENDING"}, {MachineState::InService, "IN_SERVICE"},
                  {MachineState::Terminating, "TERMINATING"});
API_DESCRIBE(Machine, API_MEMBER(token, "token"), API_MEMBER(id, "id"),
             API_MEMBER(instance_type, "instanceType"),
             API_MEMBER(availability_zone, "availabilityZone"),
             API_MEMBER(launch_name, "launchName"), API_MEMBER(launch_version, "launchVersion"),
             API_MEMBER(state, "state"), API_MEMBER(scale_in_protected, "scaleInProtected"),
             API_MEMBER(healthy, "healthy"), API_MEMBER(changed_at, "changedAt"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(reason, "reason"));
API_DESCRIBE(GroupTag, API_MEMBER(key, "key"), API_MEMBER(value, "value"),
             API_MEMBER(propagate_at_launch, "propagateAtLaunch"));
API_DESCRIBE(AutoScalingGroup, API_MEMBER(name, "name"), API_MEMBER(id, "id"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(min_size, "minSize"),
             API_MEMBER(max_size, "maxSize"), API_MEMBER(desired_capacity, "desiredCapacity"),
             API_MEMBER(default_cooldown_s, "defaultCooldown"),
             API_MEMBER(health_check_grace_s, "healthCheckGracePeriod"),
             API_MEMBER(health_check_type, "healthCheckType"),
             API_MEMBER(launch_configuration, "launchConfiguration"),
             API_MEMBER(launch_template, "launchTemplate"),
             API_MEMBER(launch_template_version, "launchTemplateVersion"),
             API_MEMBER(instance_type, "instanceType"),
             API_MEMBER(availability_zones, "availabilityZones"), API_MEMBER(subnets, "subnets"),
             API_MEMBER(termination_policies, "terminationPolicies"),
             API_MEMBER(new_machines_protected, "newMachinesProtected"),
             API_MEMBER(deleting, "deleting"), API_MEMBER(tags, "tags"),
             API_MEMBER(machines, "machines"), API_MEMBER(launch_not_before, "launchNotBefore"),
             API_MEMBER(launch_failures, "launchFailures"), API_MEMBER(points_below, "pointsBelow"),
             API_MEMBER(echoed, "echoed"));
API_DESCRIBE(ScalingActivity, API_MEMBER(id, "id"), API_MEMBER(group, "group"),
             API_MEMBER(started_at, "startedAt"), API_MEMBER(ended_at, "endedAt"),
             API_MEMBER(status, "status"), API_MEMBER(status_message, "statusMessage"),
             API_MEMBER(description, "description"), API_MEMBER(cause, "cause"));
API_DESCRIBE(ScalingActivities, API_MEMBER(group, "group"), API_MEMBER(activities, "activities"));
API_DESCRIBE(LaunchConfiguration, API_MEMBER(name, "name"), API_MEMBER(id, "id"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(instance_type, "instanceType"),
             API_MEMBER(user_data, "userData"), API_MEMBER(echoed, "echoed"));
API_DESCRIBE(LaunchTemplateVersion, API_MEMBER(number, "number"),
             API_MEMBER(description, "description"), API_MEMBER(created_at, "createdAt"),
             API_MEMBER(instance_type, "instanceType"), API_MEMBER(user_data, "userData"),
             API_MEMBER(data, "data"), API_MEMBER(client_token, "clientToken"),
             API_MEMBER(request_hash, "requestHash"));
API_DESCRIBE(LaunchTemplate, API_MEMBER(id, "id"), API_MEMBER(name, "name"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(client_token, "clientToken"),
             API_MEMBER(request_hash, "requestHash"), API_MEMBER(default_version, "defaultVersion"),
             API_MEMBER(latest_version, "latestVersion"), API_MEMBER(versions, "versions"),
             API_MEMBER(tags, "tags"));

}  // namespace model
