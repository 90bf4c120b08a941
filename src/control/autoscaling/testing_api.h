// Calls of Auto Scaling and EC2 in a test's hand.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "api/generated/autoscaling.h"
#include "api/generated/ec2.h"
#include "control/testing.h"

namespace control::testing {

class ScalingPlane : public Plane {
 public:
  using Plane::Plane;

  template <class Response, class Request>
  base::Result<Response> scaling(std::string_view operation, Request request) {
    return of_service<Response>(api::autoscaling_service(), operation, std::move(request));
  }
  template <class Response, class Request>
  base::Result<Response> ec2(std::string_view operation, Request request) {
    return of_service<Response>(api::ec2_service(), operation, std::move(request));
  }

  void create_configuration(const std::string& name, const std::string& type = "p3.2xlarge") {
    api::autoscaling::CreateLaunchConfigurationType request;
    request.launch_configuration_name = name;
    request.instance_type = type;
    request.image_id = "ami-1";
    const auto made = scaling<api::autoscaling::CreateLaunchConfigurationResponse>(
        "CreateLaunchConfiguration", request);
    ASSERT_TRUE(made) << made.error().message;
  }

  // Its id.
  std::string create_template(const std::string& name, const std::string& type = "p3.2xlarge") {
    api::ec2::CreateLaunchTemplateRequest request;
    request.launch_template_name = name;
    request.launch_template_data.emplace().instance_type = type;
    const auto made =
        ec2<api::ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", std::move(request));
    CHECK(made.has_value());
    return *made->launch_template->launch_template_id;
  }

  // A request that is right as it stands, given the configuration "lc".
  static api::autoscaling::CreateAutoScalingGroupType group_request(const std::string& name) {
    api::autoscaling::CreateAutoScalingGroupType request;
    request.auto_scaling_group_name = name;
    request.launch_configuration_name = "lc";
    request.min_size = 0;
    request.max_size = 4;
    request.availability_zones = {"us-east-1a"};
    return request;
  }
  base::Result<api::autoscaling::CreateAutoScalingGroupResponse> create(
      const api::autoscaling::CreateAutoScalingGroupType& request) {
    return scaling<api::autoscaling::CreateAutoScalingGroupResponse>("CreateAutoScalingGroup",
                                                                     request);
  }
  base::Result<api::autoscaling::UpdateAutoScalingGroupResponse> update(
      const api::autoscaling::UpdateAutoScalingGroupType& request) {
    return scaling<api::autoscaling::UpdateAutoScalingGroupResponse>("UpdateAutoScalingGroup",
                                                                     request);
  }
  base::Result<api::autoscaling::DeleteAutoScalingGroupResponse> remove(const std::string& name,
                                                                        bool force = false) {
    api::autoscaling::DeleteAutoScalingGroupType request;
    request.auto_scaling_group_name = name;
    request.force_delete = force;
    return scaling<api::autoscaling::DeleteAutoScalingGroupResponse>("DeleteAutoScalingGroup",
                                                                     request);
  }

  api::autoscaling::AutoScalingGroup group(const std::string& name) {
    api::autoscaling::AutoScalingGroupNamesType request;
    request.auto_scaling_group_names = {name};
    const auto told =
        scaling<api::autoscaling::AutoScalingGroupsType>("DescribeAutoScalingGroups", request);
    CHECK(told.has_value() && told->auto_scaling_groups.size() == 1);
    return told->auto_scaling_groups.front();
  }

  // Puts machines i-0, i-1, ... that are in service into the group, as if they had been launched.
  // Those whose container instances are not registered are soon found to be unhealthy.
  void put_machines(const std::string& name, int32_t count) {
    model::ClusterState state = core.state();
    model::AutoScalingGroup altered = state.auto_scaling_groups.at(name);
    altered.desired_capacity = count;
    altered.machines.clear();
    for (int32_t index = 0; index < count; ++index) {
      model::Machine& machine = altered.machines.emplace_back();
      machine.token = "token-" + std::to_string(index);
      machine.id = "i-" + std::to_string(index);
      machine.instance_type = altered.instance_type;
      machine.availability_zone = "us-east-1a";
      machine.launch_name = altered.launch_configuration;
      machine.state = model::MachineState::InService;
      machine.changed_at = machine.created_at = now;
    }
    const model::AutoScalingGroupPut change{std::move(altered)};
    model::apply(state, change);
    changes.push_back(change);
    core = Core(std::move(state), Settings{}, ++reseed, now);
  }

 private:
  template <class Response, class Request>
  base::Result<Response> of_service(const api::Service& service, std::string_view operation,
                                    Request request) {
    const Action* const action = find_action(service.name, operation);
    CHECK(action != nullptr);
    caller.service = service.name;
    Output output = step(ApiCall{++last_id, action, api::Any::make(std::move(request)), caller});
    CHECK(output.replies.size() == 1);
    auto& result = output.replies.front().result;
    if (!result) return base::fail(result.error());
    return std::move(result->template as<Response>());
  }
};

}  // namespace control::testing
