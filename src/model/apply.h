// What each change does to the state, divided by what it is about. A part of change.h; nobody else
// includes it.
#pragma once

#include "model/change.h"

namespace model {

// Those that a change names; CHECKs that they are there.
ContainerInstance& instance_of(ClusterState& state, const InstanceArn& arn);
Task& task_of(ClusterState& state, const TaskArn& arn);
GpuSlot& gpu_of(ContainerInstance& instance, std::string_view uuid);

// apply_instances.cpp
void apply_one(ClusterState& state, const InstanceRegistered& change);
void apply_one(ClusterState& state, const InstanceDeregistered& change);
void apply_one(ClusterState& state, const InstanceForgotten& change);
void apply_one(ClusterState& state, const AgentConnectionChanged& change);
void apply_one(ClusterState& state, const AttributesPut& change);
void apply_one(ClusterState& state, const AttributesDeleted& change);
void apply_one(ClusterState& state, const GpuQuarantined& change);
void apply_one(ClusterState& state, const GpuCleared& change);
void apply_one(ClusterState& state, const GpuProven& change);
void apply_one(ClusterState& state, const InstanceStatusChanged& change);
void apply_one(ClusterState& state, const InstanceObserved& change);

// apply_tasks.cpp
void apply_one(ClusterState& state, const TaskQueued& change);
void apply_one(ClusterState& state, const TaskWaits& change);
void apply_one(ClusterState& state, const TaskPlaced& change);
void apply_one(ClusterState& state, const TaskStopRequested& change);
void apply_one(ClusterState& state, const TaskReported& change);
void apply_one(ClusterState& state, const ContainerHealthReported& change);
void apply_one(ClusterState& state, const TaskAcknowledged& change);
void apply_one(ClusterState& state, const TaskExpired& change);
void apply_one(ClusterState& state, const TaskProtectionSet& change);

// apply_services.cpp
void apply_one(ClusterState& state, const ServicePut& change);
void apply_one(ClusterState& state, const ServiceEventAdded& change);
void apply_one(ClusterState& state, const ServiceRevisionPut& change);
void apply_one(ClusterState& state, const ServiceDeploymentPut& change);
void apply_one(ClusterState& state, const ServiceDeploymentForgotten& change);
void apply_one(ClusterState& state, const ServiceRevisionForgotten& change);
void apply_one(ClusterState& state, const ServiceForgotten& change);

// apply_capacity.cpp
void apply_one(ClusterState& state, const CapacityProviderPut& change);
void apply_one(ClusterState& state, const CapacityProviderForgotten& change);
void apply_one(ClusterState& state, const AutoScalingGroupPut& change);
void apply_one(ClusterState& state, const AutoScalingGroupForgotten& change);
void apply_one(ClusterState& state, const ScalingActivityPut& change);
void apply_one(ClusterState& state, const LaunchConfigurationPut& change);
void apply_one(ClusterState& state, const LaunchConfigurationForgotten& change);
void apply_one(ClusterState& state, const LaunchTemplatePut& change);
void apply_one(ClusterState& state, const LaunchTemplateForgotten& change);

}  // namespace model
