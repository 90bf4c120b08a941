#include "sim/group_clients.h"

#include <utility>

#include "api/generated/autoscaling.h"

namespace sim {
namespace {

using api::autoscaling::AutoScalingGroup;

api::ecs::CreateCapacityProviderRequest provider_of(const PlannedGroup& group) {
  api::ecs::CreateCapacityProviderRequest request;
  request.name = group.name;
  auto& provider = request.auto_scaling_group_provider.emplace();
  provider.auto_scaling_group_arn = group.name;
  auto& scaling = provider.managed_scaling.emplace();
  scaling.status = group.managed_scaling ? api::ecs::ManagedScalingStatus::Enabled
                                         : api::ecs::ManagedScalingStatus::Disabled;
  if (group.managed_scaling) scaling.target_capacity = group.target_capacity;
  provider.managed_draining = group.managed_draining ? api::ecs::ManagedDraining::Enabled
                                                     : api::ecs::ManagedDraining::Disabled;
  provider.managed_termination_protection = group.protects_busy
                                                ? api::ecs::ManagedTerminationProtection::Enabled
                                                : api::ecs::ManagedTerminationProtection::Disabled;
  return request;
}

}  // namespace

GroupClients::GroupClients(Environment& environment, Server& server, Caller& caller,
                           const std::vector<PlannedGroup>& groups)
    : environment_(environment), server_(server), caller_(caller), groups_(groups) {}

void GroupClients::provide() {
  for (const PlannedGroup& group : groups_) {
    make_source(group.type, [this, &group] { make_group(group); });
  }
}

// A launch configuration of the type's name; it may be there already.
void GroupClients::make_source(const std::string& type, const std::function<void()>& then) {
  api::autoscaling::CreateLaunchConfigurationType request;
  request.launch_configuration_name = type;
  request.instance_type = type;
  request.image_id = "ami-1";
  using Response = api::autoscaling::CreateLaunchConfigurationResponse;
  caller_.insist<Response>("CreateLaunchConfiguration", request,
                           [then](const base::Result<Response>&) { then(); });
}

void GroupClients::make_group(const PlannedGroup& group) {
  environment_.tell(client_name, "makes {} of {}: {} to {}, {} now", group.name, group.type,
                    group.min_size, group.max_size, group.desired);
  api::autoscaling::CreateAutoScalingGroupType request;
  request.auto_scaling_group_name = group.name;
  request.launch_configuration_name = group.type;
  request.min_size = group.min_size;
  request.max_size = group.max_size;
  request.desired_capacity = group.desired;
  request.availability_zones = {"us-east-1a", "us-east-1b"};
  request.new_instances_protected_from_scale_in = group.protects_busy;
  using Response = api::autoscaling::CreateAutoScalingGroupResponse;
  caller_.insist<Response>(
      "CreateAutoScalingGroup", request, [this, &group](const base::Result<Response>& made) {
        if (!made) environment_.tell(client_name, "{}: {}", group.name, made.error().message);
        make_provider(group);
      });
}

void GroupClients::make_provider(const PlannedGroup& group) {
  using Response = api::ecs::CreateCapacityProviderResponse;
  caller_.insist<Response>("CreateCapacityProvider", provider_of(group),
                           [this, &group](const base::Result<Response>& made) {
                             if (!made) {
                               environment_.tell(client_name, "{}: {}", group.name,
                                                 made.error().message);
                             }
                             associate(group.name);
                           });
}

void GroupClients::associate(const std::string& provider) {
  providers_.push_back(provider);
  api::ecs::PutClusterCapacityProvidersRequest request;
  request.cluster = "default";
  for (const std::string& one : providers_) request.capacity_providers.push_back(one);
  request.default_capacity_provider_strategy.set_present();
  using Response = api::ecs::PutClusterCapacityProvidersResponse;
  caller_.insist<Response>("PutClusterCapacityProviders", request,
                           [this, provider](const base::Result<Response>& put) {
                             environment_.tell(client_name, "{} {}", provider,
                                               put ? "is the cluster's" : put.error().message);
                           });
}

void GroupClients::act(const PlannedGroupCall& call) {
  using enum PlannedGroupCall::Kind;
  if (call.kind == EndOne) return end_one(call.group);
  if (call.kind == Delete) return remove(call.group);
  if (call.kind == SetDesired) {
    environment_.tell(client_name, "{}: wants {} machine(s)", call.group, call.desired);
    api::autoscaling::SetDesiredCapacityType request;
    request.auto_scaling_group_name = call.group;
    request.desired_capacity = call.desired;
    return caller_.call<api::autoscaling::SetDesiredCapacityResponse>("SetDesiredCapacity",
                                                                      request);
  }
  api::autoscaling::UpdateAutoScalingGroupType request;
  request.auto_scaling_group_name = call.group;
  using Response = api::autoscaling::UpdateAutoScalingGroupResponse;
  if (call.kind == Limits) {
    environment_.tell(client_name, "{}: at most {} machine(s)", call.group, call.max_size);
    request.min_size = 0;
    request.max_size = call.max_size;
    return caller_.call<Response>("UpdateAutoScalingGroup", request);
  }
  environment_.tell(client_name, "{}: machines are {} from now on", call.group, call.type);
  request.launch_configuration_name = call.type;
  make_source(call.type,
              [this, request] { caller_.call<Response>("UpdateAutoScalingGroup", request); });
}

void GroupClients::end_one(const std::string& group) {
  const model::ClusterState* const state = server_.state();
  if (state == nullptr) return;
  const auto found = state->auto_scaling_groups.find(group);
  if (found == state->auto_scaling_groups.end() || found->second.machines.empty()) return;
  const auto& machines = found->second.machines;
  const model::Machine& machine = machines[environment_.random.below(machines.size())];
  if (machine.id.empty()) return;
  environment_.tell(client_name, "{}: ends {}", group, machine.id);
  api::autoscaling::TerminateInstanceInAutoScalingGroupType request;
  request.instance_id = machine.id;
  request.should_decrement_desired_capacity = environment_.random.chance(50);
  caller_.call<api::autoscaling::ActivityType>("TerminateInstanceInAutoScalingGroup", request);
}

void GroupClients::remove(const std::string& group) {
  environment_.tell(client_name, "deletes {}", group);
  api::autoscaling::DeleteAutoScalingGroupType request;
  request.auto_scaling_group_name = group;
  request.force_delete = true;
  using Response = api::autoscaling::DeleteAutoScalingGroupResponse;
  caller_.insist<Response>("DeleteAutoScalingGroup", request, [](const base::Result<Response>&) {});
}

void GroupClients::delete_all() {
  for (const PlannedGroup& group : groups_) remove(group.name);
}

}  // namespace sim
