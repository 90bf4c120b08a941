#include "control/capacity/providers.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/arn.h"
#include "base/format.h"
#include "control/request/errors.h"

namespace control {
namespace {

using Scaling = api::ecs::ManagedScaling;
using api::ecs::CapacityProviderType;

constexpr std::string_view fargate = "FARGATE";
constexpr std::string_view fargate_spot = "FARGATE_SPOT";

struct Range {
  std::string_view member;
  std::optional<int32_t> Scaling::* value;
  int32_t least;
  int32_t most;
  int32_t by_default;
};
constexpr std::array scaling_ranges{
    Range{"targetCapacity", &Scaling::target_capacity, 1, 100, 100},
    Range{"minimumScalingStepSize", &Scaling::minimum_scaling_step_size, 1, 10'000, 1},
    Range{"maximumScalingStepSize", &Scaling::maximum_scaling_step_size, 1, 10'000, 10'000},
    Range{"instanceWarmupPeriod", &Scaling::instance_warmup_period, 0, 10'000, 300},
};

std::optional<CapacityProviderType> type_of_built_in(std::string_view name) {
  if (name == fargate) return CapacityProviderType::Fargate;
  if (name == fargate_spot) return CapacityProviderType::FargateSpot;
  return std::nullopt;
}

}  // namespace

bool is_fargate(std::string_view name) {
  return name == fargate || name == fargate_spot;
}

base::Error fargate_not_offered(std::string_view name) {
  return {"ClientException",
          base::format("The capacity provider {} runs tasks on machines of AWS; Berth runs them on "
                       "your own: name {}, or a capacity provider of an Auto Scaling group.",
                       name, model::berth_queue)};
}

std::string provider_name(const Step& step, std::string_view text) {
  const auto arn = base::parse_arn(text);
  const bool ours = arn && arn->service == "ecs" && arn->region == step.settings.account.region &&
                    arn->account == step.settings.account.id &&
                    arn->resource_type() == "capacity-provider";
  return std::string(ours ? arn->resource_id() : text);
}

base::Result<const model::CapacityProvider*> require_provider(const Step& step,
                                                              std::string_view member,
                                                              std::string_view text) {
  const std::string name = provider_name(step, text);
  if (is_fargate(name) || name == model::berth_queue) {
    return client_error(
        base::format("The capacity provider {} is built in: it can be neither "
                     "updated nor deleted.",
                     name));
  }
  const auto found = step.state().capacity_providers.find(name);
  if (found == step.state().capacity_providers.end()) {
    return invalid_parameter(base::format(
        "The specified capacity provider was not found: {} is \"{}\". Specify a valid name or ARN.",
        member, text));
  }
  return &found->second;
}

base::Result<void> check_provider_kind(bool managed_instances, bool auto_scaling_group) {
  if (managed_instances) {
    return client_error(
        "managedInstancesProvider has AWS choose and run machines, which Berth does not offer: "
        "give an autoScalingGroupProvider.");
  }
  if (!auto_scaling_group) return invalid_parameter("autoScalingGroupProvider must be given.");
  return {};
}

base::Result<Scaling> managed_scaling_of(const std::optional<Scaling>& given,
                                         const std::optional<Scaling>& before) {
  using Status = api::ecs::ManagedScalingStatus;
  Scaling made = before.value_or(Scaling{});
  if (given && given->status) made.status = given->status;
  if (!made.status) made.status = given ? Status::Enabled : Status::Disabled;
  for (const Range& range : scaling_ranges) {
    if (given && (*given).*range.value) made.*range.value = (*given).*range.value;
    const int32_t value = (made.*range.value).value_or(range.by_default);
    if (value < range.least || value > range.most) {
      return invalid_parameter(
          base::format("managedScaling.{} is {}; it must be between {} and {}.", range.member,
                       value, range.least, range.most));
    }
    made.*range.value = value;
  }
  if (*made.minimum_scaling_step_size > *made.maximum_scaling_step_size) {
    return invalid_parameter(base::format(
        "managedScaling.minimumScalingStepSize is {}, more than maximumScalingStepSize, {}.",
        *made.minimum_scaling_step_size, *made.maximum_scaling_step_size));
  }
  return made;
}

base::Result<void> check_termination_protection(const api::ecs::AutoScalingGroupProvider& provider,
                                                const model::AutoScalingGroup& group) {
  if (provider.managed_termination_protection != api::ecs::ManagedTerminationProtection::Enabled) {
    return {};
  }
  if (!provider.managed_scaling ||
      provider.managed_scaling->status != api::ecs::ManagedScalingStatus::Enabled) {
    return invalid_parameter(
        "managedTerminationProtection ENABLED needs managed scaling: set managedScaling.status to "
        "ENABLED, or managedTerminationProtection to DISABLED.");
  }
  if (!group.new_machines_protected) {
    return client_error(base::format(
        "The managed termination protection setting for the capacity provider is invalid: the Auto "
        "Scaling group {} does not protect its instances from scale-in. Set "
        "NewInstancesProtectedFromScaleIn for the group first.",
        group.name));
  }
  return {};
}

api::ecs::CapacityProvider describe_provider(const Step& step,
                                             const model::CapacityProvider& provider,
                                             bool include_tags) {
  api::ecs::CapacityProvider made;
  made.capacity_provider_arn = model::capacity_provider_arn(step.settings.account, provider.name);
  made.name = provider.name;
  made.status = provider.status;
  made.auto_scaling_group_provider = provider.group;
  made.update_status = provider.update_status;
  if (!provider.update_status_reason.empty()) {
    made.update_status_reason = provider.update_status_reason;
  }
  made.type = CapacityProviderType::Ec2Autoscaling;
  if (include_tags) made.tags = provider.tags;
  made.tags.set_present();
  return made;
}

std::optional<api::ecs::CapacityProvider> describe_built_in(const Step& step,
                                                            std::string_view name) {
  if (!is_fargate(name) && name != model::berth_queue) return std::nullopt;
  api::ecs::CapacityProvider made;
  made.capacity_provider_arn = model::capacity_provider_arn(step.settings.account, name);
  made.name = std::string(name);
  made.status = api::ecs::CapacityProviderStatus::Active;
  made.type = type_of_built_in(name);
  made.tags.set_present();
  return made;
}

void give_instances(Step& step, const model::AutoScalingGroup& group, const std::string& provider) {
  std::set<std::string_view> machines;
  for (const model::Machine& machine : group.machines) {
    if (!machine.id.empty()) machines.insert(machine.id);
  }
  std::vector<model::ContainerInstance> given;
  for (const auto& [arn, instance] : step.state().instances) {
    if (instance.status == model::InstanceStatus::Inactive ||
        instance.capacity_provider == provider || !machines.contains(instance.ec2_instance_id)) {
      continue;
    }
    given.push_back(instance);
  }
  for (model::ContainerInstance& instance : given) {
    instance.capacity_provider = provider;
    ++instance.version;
    step.change(model::InstanceRegistered{std::move(instance)});
  }
}

}  // namespace control
