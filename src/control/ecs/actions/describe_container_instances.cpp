#include <algorithm>

#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "model/capabilities.h"

namespace control::ecs {
namespace {

using api::ecs::InstanceHealthCheckState;

// From good to bad. Source: ECS API reference, "ContainerInstanceHealthStatus": the overall status
// is the worst.
int badness(InstanceHealthCheckState state) {
  switch (state) {
    case InstanceHealthCheckState::Ok:
      return 0;
    case InstanceHealthCheckState::Initializing:
      return 1;
    case InstanceHealthCheckState::InsufficientData:
      return 2;
    case InstanceHealthCheckState::Impaired:
      return 3;
  }
  return 3;
}

api::ecs::InstanceHealthCheckResult connectivity(const model::ContainerInstance& instance) {
  api::ecs::InstanceHealthCheckResult result;
  result.type = api::ecs::InstanceHealthCheckType::AgentConnectivity;
  result.status = model::agent_answers(instance) ? InstanceHealthCheckState::Ok
                                                 : InstanceHealthCheckState::Impaired;
  if (!instance.status_reason.empty()) result.status_reason = instance.status_reason;
  result.last_status_change = instance.connected_changed_at;
  result.last_updated = instance.connected_changed_at;
  return result;
}

// Checks of an agent that is gone say nothing about now.
api::ecs::ContainerInstanceHealthStatus health_of(const model::ContainerInstance& instance) {
  api::ecs::ContainerInstanceHealthStatus health;
  health.details.push_back(connectivity(instance));
  for (const model::InstanceCheck& check : instance.checks) {
    api::ecs::InstanceHealthCheckResult& result = health.details.emplace_back();
    result.type = api::parse_enum<api::ecs::InstanceHealthCheckType>(check.type);
    result.status = model::agent_answers(instance)
                        ? api::parse_enum<InstanceHealthCheckState>(check.status)
                        : InstanceHealthCheckState::InsufficientData;
    if (!check.reason.empty()) result.status_reason = check.reason;
    result.last_updated = check.last_updated;
    result.last_status_change = check.last_status_change;
  }
  InstanceHealthCheckState worst = InstanceHealthCheckState::Ok;
  for (const auto& result : health.details) {
    const auto state = result.status.value_or(InstanceHealthCheckState::InsufficientData);
    if (badness(state) > badness(worst)) worst = state;
  }
  health.overall_status = worst;
  return health;
}

// An attribute, which every client of AWS shows. It is told of only: no expression finds it.
void add_refused_claim(const RefusedClaim& claim, api::ecs::ContainerInstance& made) {
  api::ecs::Attribute& told = made.attributes.emplace_back();
  told.name = std::string(model::attribute_refused_claim);
  told.value = base::format("{} claimed by {} with the key {} at {}", claim.what,
                            claim.host.empty() ? "another machine" : claim.host,
                            claim.access_key_id, base::format_rfc3339(claim.at));
}

bool includes(const api::ecs::DescribeContainerInstancesRequest& request,
              api::ecs::ContainerInstanceField field) {
  return std::ranges::find(request.include, field) != request.include.end();
}

}  // namespace

Answer<api::ecs::DescribeContainerInstancesResponse> describe_container_instances(
    Step& step, const api::ecs::DescribeContainerInstancesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DescribeContainerInstances", cluster->name));
  if (request.container_instances.empty()) {
    return invalid_parameter("Container instances cannot be empty.");
  }
  if (request.container_instances.size() > 100) {
    return invalid_parameter("At most 100 container instances can be described in one call.");
  }
  const bool tags = includes(request, api::ecs::ContainerInstanceField::Tags);
  const bool health = includes(request, api::ecs::ContainerInstanceField::ContainerInstanceHealth);
  api::ecs::DescribeContainerInstancesResponse response;
  response.container_instances.set_present();
  response.failures.set_present();
  for (const std::string& text : request.container_instances) {
    const model::ContainerInstance* const instance = find_instance(step, cluster->name, text);
    if (instance != nullptr) {
      response.container_instances.push_back(describe_instance(step, *instance, tags));
      const auto claim = step.refused_claims.find(instance->arn);
      if (claim != step.refused_claims.end()) {
        add_refused_claim(claim->second, response.container_instances.back());
      }
      if (health) response.container_instances.back().health_status = health_of(*instance);
      continue;
    }
    const std::string arn =
        text.starts_with("arn:")
            ? text
            : model::instance_arn(step.settings.account, cluster->name, text).str();
    response.failures.push_back(failure(arn, placement::reason_missing));
  }
  return response;
}

}  // namespace control::ecs
