#include "control/autoscaling/group_settings.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "api/json.h"
#include "base/format.h"
#include "control/autoscaling/errors.h"
#include "control/autoscaling/lookup.h"
#include "control/capacity/groups/machines.h"
#include "control/request/echo.h"

namespace control::autoscaling {
namespace {

std::unexpected<base::Error> refused(std::string_view member, std::string_view why) {
  return validation_error(base::format("{} is not offered: {}.", member, why));
}

base::Result<void> refuse_unsupported_settings(
    const api::autoscaling::UpdateAutoScalingGroupType& request) {
  if (request.mixed_instances_policy) {
    return refused("MixedInstancesPolicy",
                   "a group has one instance type; make one group for each type, with a capacity "
                   "provider each");
  }
  if (!request.availability_zone_ids.empty()) {
    return refused("AvailabilityZoneIds", "name the zones in AvailabilityZones");
  }
  if (request.max_instance_lifetime.value_or(0) != 0) {
    return refused("MaxInstanceLifetime", "machines are kept until a scale-in; leave it out");
  }
  if (request.desired_capacity_type.value_or("units") != "units") {
    return refused("DesiredCapacityType", "capacity is counted in units, one for each machine");
  }
  if (request.instance_lifecycle_policy) {
    return refused("InstanceLifecyclePolicy", "there are no lifecycle hooks");
  }
  using Preference = api::autoscaling::CapacityReservationPreference;
  const auto& reservation = request.capacity_reservation_specification;
  const Preference preference =
      reservation ? reservation->capacity_reservation_preference.value_or(Preference::Default)
                  : Preference::Default;
  if ((preference != Preference::Default && preference != Preference::None) ||
      (reservation && reservation->capacity_reservation_target)) {
    return refused("CapacityReservationSpecification", "there are no capacity reservations");
  }
  return {};
}

base::Result<void> check_not_negative(const std::optional<int32_t>& value, std::string_view what) {
  if (value.value_or(0) >= 0) return {};
  return validation_error(
      base::format("{} is {}; it must be zero or greater.", what, value.value_or(0)));
}

base::Result<void> take_sizes(const api::autoscaling::UpdateAutoScalingGroupType& request,
                              model::AutoScalingGroup& group) {
  TRY_VOID(check_not_negative(request.min_size, "MinSize"));
  TRY_VOID(check_not_negative(request.max_size, "MaxSize"));
  TRY_VOID(check_not_negative(request.desired_capacity, "DesiredCapacity"));
  group.min_size = request.min_size.value_or(group.min_size);
  group.max_size = request.max_size.value_or(group.max_size);
  if (group.min_size > group.max_size) {
    return validation_error(
        base::format("Max bound, {}, must be greater than or equal to min bound, {}",
                     group.max_size, group.min_size));
  }
  group.desired_capacity = request.desired_capacity.value_or(
      std::clamp(group.desired_capacity, group.min_size, group.max_size));
  if (group.desired_capacity < group.min_size || group.desired_capacity > group.max_size) {
    return validation_error(base::format(
        "Desired capacity:{} must be between the specified min size:{} and max size:{}",
        group.desired_capacity, group.min_size, group.max_size));
  }
  return {};
}

base::Result<void> take_source(const Step& step,
                               const api::autoscaling::UpdateAutoScalingGroupType& request,
                               model::AutoScalingGroup& group) {
  if (request.launch_configuration_name && request.launch_template) {
    return validation_error(
        "Valid requests must contain either LaunchTemplate or LaunchConfigurationName, not both.");
  }
  if (request.launch_configuration_name) {
    const std::string& name = *request.launch_configuration_name;
    if (!step.state().launch_configurations.contains(name)) {
      return validation_error(base::format(
          "Launch configuration name not found - Launch configuration {} not found", name));
    }
    group.launch_configuration = name;
    group.launch_template.clear();
    group.launch_template_version.clear();
  } else if (request.launch_template) {
    group.launch_template = TRY(require_launch_template(step, *request.launch_template))->id;
    group.launch_template_version = request.launch_template->version.value_or("$Default");
    group.launch_configuration.clear();
  } else {
    return {};
  }
  return take_instance_type(step, group);
}

base::Result<void> take_zones(const Step& step,
                              const api::autoscaling::UpdateAutoScalingGroupType& request,
                              model::AutoScalingGroup& group) {
  if (request.vpc_zone_identifier) {
    group.subnets = *request.vpc_zone_identifier;
    // Which zones they are in is not known here, so they stand for this machine room.
    if (group.availability_zones.empty()) {
      group.availability_zones = {step.settings.account.region + "a"};
    }
  }
  if (request.availability_zones.present()) {
    for (const std::string& zone : request.availability_zones) {
      if (zone.size() > step.settings.account.region.size() &&
          zone.starts_with(step.settings.account.region)) {
        continue;
      }
      return validation_error(
          base::format("Invalid Availability Zones are specified: {}. Those of this server begin "
                       "with {}, such as {}a.",
                       zone, step.settings.account.region, step.settings.account.region));
    }
    if (!request.availability_zones.empty()) group.availability_zones = request.availability_zones;
  }
  if (group.availability_zones.empty()) {
    return validation_error("At least one Availability Zone or VPC Subnet is required.");
  }
  return {};
}

constexpr std::array<std::string_view, 4> health_checks{"EC2", "ELB", "VPC_LATTICE", "EBS"};

base::Result<void> check_health_check_type(std::string_view types) {
  while (!types.empty()) {
    const size_t comma = std::min(types.find(','), types.size());
    if (std::ranges::find(health_checks, types.substr(0, comma)) == health_checks.end()) {
      return validation_error(base::format("HealthCheckType {} is not one of: {}.",
                                           types.substr(0, comma),
                                           base::join(health_checks, ", ")));
    }
    types.remove_prefix(std::min(comma + 1, types.size()));
  }
  return {};
}

constexpr std::array<std::string_view, 7> termination_policies{"AllocationStrategy",
                                                               "ClosestToNextInstanceHour",
                                                               "Default",
                                                               "NewestInstance",
                                                               "OldestInstance",
                                                               "OldestLaunchConfiguration",
                                                               "OldestLaunchTemplate"};

base::Result<void> take_behaviour(const api::autoscaling::UpdateAutoScalingGroupType& request,
                                  model::AutoScalingGroup& group) {
  TRY_VOID(check_not_negative(request.default_cooldown, "DefaultCooldown"));
  TRY_VOID(check_not_negative(request.health_check_grace_period, "HealthCheckGracePeriod"));
  group.default_cooldown_s = request.default_cooldown.value_or(group.default_cooldown_s);
  group.health_check_grace_s =
      request.health_check_grace_period.value_or(group.health_check_grace_s);
  group.health_check_type = request.health_check_type.value_or(group.health_check_type);
  TRY_VOID(check_health_check_type(group.health_check_type));
  group.new_machines_protected =
      request.new_instances_protected_from_scale_in.value_or(group.new_machines_protected);
  for (const std::string& policy : request.termination_policies) {
    if (std::ranges::find(termination_policies, policy) == termination_policies.end()) {
      return validation_error(base::format("The termination policy {} is not one of: {}.", policy,
                                           base::join(termination_policies, ", ")));
    }
  }
  if (!request.termination_policies.empty()) {
    group.termination_policies = request.termination_policies;
  }
  if (group.termination_policies.empty()) group.termination_policies = {"Default"};
  return {};
}

void take_echoed(const api::autoscaling::UpdateAutoScalingGroupType& request,
                 model::AutoScalingGroup& group) {
  auto echo = read_echo<api::autoscaling::AutoScalingGroup>(group.echoed);
  const auto take = [](auto& kept, const auto& given) {
    if (given) kept = given;
  };
  take(echo.placement_group, request.placement_group);
  take(echo.service_linked_role_arn, request.service_linked_role_arn);
  take(echo.max_instance_lifetime, request.max_instance_lifetime);
  take(echo.capacity_rebalance, request.capacity_rebalance);
  take(echo.context, request.context);
  take(echo.desired_capacity_type, request.desired_capacity_type);
  take(echo.default_instance_warmup, request.default_instance_warmup);
  take(echo.instance_maintenance_policy, request.instance_maintenance_policy);
  take(echo.deletion_protection, request.deletion_protection);
  take(echo.availability_zone_distribution, request.availability_zone_distribution);
  take(echo.availability_zone_impairment_policy, request.availability_zone_impairment_policy);
  take(echo.capacity_reservation_specification, request.capacity_reservation_specification);
  // An empty name, a warm-up of -1 and percentages of -1 take the member away again.
  if (echo.placement_group == "") echo.placement_group.reset();
  if (echo.default_instance_warmup == -1) echo.default_instance_warmup.reset();
  const auto& maintenance = echo.instance_maintenance_policy;
  if (maintenance && maintenance->min_healthy_percentage.value_or(-1) == -1 &&
      maintenance->max_healthy_percentage.value_or(-1) == -1) {
    echo.instance_maintenance_policy.reset();
  }
  group.echoed = api::print(echo);
}

}  // namespace

base::Result<void> take_instance_type(const Step& step, model::AutoScalingGroup& group) {
  group.instance_type.clear();
  const auto source = launch_source(step.state(), group);
  constexpr std::string_view lead = "You must use a valid fully-formed launch template.";
  if (!source) {
    return validation_error(base::format(
        "{} Could not find the specified version {} for the launch template with ID {}.", lead,
        group.launch_template_version, group.launch_template));
  }
  if (source->instance_type.empty()) {
    return validation_error(base::format(
        "{} The request must contain the parameter InstanceType, which version {} of the launch "
        "template {} does not name.",
        lead, source->version, source->name));
  }
  group.instance_type = source->instance_type;
  return {};
}

base::Result<void> take_settings(const Step& step,
                                 const api::autoscaling::UpdateAutoScalingGroupType& request,
                                 model::AutoScalingGroup& group) {
  TRY_VOID(refuse_unsupported_settings(request));
  TRY_VOID(take_sizes(request, group));
  TRY_VOID(take_source(step, request, group));
  TRY_VOID(take_zones(step, request, group));
  TRY_VOID(take_behaviour(request, group));
  take_echoed(request, group);
  return {};
}

}  // namespace control::autoscaling
