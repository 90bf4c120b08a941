#include "cli/instances.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/names.h"
#include "cli/terminal.h"
#include "model/capabilities.h"
#include "model/ids.h"

namespace cli {
namespace {

std::string attribute_of(const api::ecs::ContainerInstance& instance, std::string_view name) {
  for (const api::ecs::Attribute& attribute : instance.attributes) {
    if (attribute.name == name) return attribute.value.value_or("");
  }
  return {};
}

base::Result<std::vector<std::string>> list_instances(const Credentials& credentials,
                                                      const std::string& cluster) {
  std::vector<std::string> arns;
  std::optional<std::string> token;
  do {
    api::ecs::ListContainerInstancesRequest request;
    request.cluster = cluster;
    request.next_token = token;
    auto page = TRY(call<api::ecs::ListContainerInstancesResponse>(
        credentials, api::ecs_service(), "ListContainerInstances", request));
    for (std::string& arn : page.container_instance_arns) arns.push_back(std::move(arn));
    token = page.next_token;
  } while (token && !token->empty());
  return arns;
}

// When its agent's connection last changed, where the server told.
std::optional<base::Time> connection_changed(const api::ecs::ContainerInstance& instance) {
  if (!instance.health_status) return std::nullopt;
  for (const api::ecs::InstanceHealthCheckResult& one : instance.health_status->details) {
    if (one.type == api::ecs::InstanceHealthCheckType::AgentConnectivity) {
      return one.last_status_change;
    }
  }
  return std::nullopt;
}

}  // namespace

base::Result<Instances> read_instances(const Credentials& credentials, const std::string& cluster) {
  const std::vector<std::string> arns = TRY(list_instances(credentials, cluster));
  Instances all;
  for (size_t begin = 0; begin < arns.size(); begin += most_described) {
    api::ecs::DescribeContainerInstancesRequest request;
    request.cluster = cluster;
    request.include = {api::ecs::ContainerInstanceField::ContainerInstanceHealth};
    for (size_t i = begin; i < std::min(arns.size(), begin + most_described); ++i) {
      request.container_instances.push_back(arns[i]);
    }
    auto page = TRY(call<api::ecs::DescribeContainerInstancesResponse>(
        credentials, api::ecs_service(), "DescribeContainerInstances", request));
    for (auto& instance : page.container_instances) all.push_back(std::move(instance));
  }
  return all;
}

std::string host_name_of(const api::ecs::ContainerInstance& instance) {
  std::string name = attribute_of(instance, model::attribute_host_name);
  if (name.empty()) name = instance.ec2_instance_id.value_or("");
  return name.empty() ? std::string(model::short_id(instance.container_instance_arn.value_or("")))
                      : name;
}

std::string type_of(const api::ecs::ContainerInstance& instance) {
  const std::string type = attribute_of(instance, "ecs.instance-type");
  return type.empty() ? "-" : type;
}

std::string trouble_of(const api::ecs::ContainerInstance& instance, base::Time now) {
  std::string text = instance.status == "ACTIVE" ? "" : instance.status.value_or("");
  if (instance.agent_connected.value_or(true)) return text;
  if (!text.empty()) text += ", ";
  text += "no agent";
  if (const auto since = connection_changed(instance)) {
    text += base::format(" for {}", span_text(now - *since));
  }
  if (instance.status_reason) text += ": " + *instance.status_reason;
  return text;
}

std::string refused_claim_of(const api::ecs::ContainerInstance& instance) {
  const std::string told = attribute_of(instance, model::attribute_refused_claim);
  return told.empty() ? told : "refused: " + told;
}

const api::ecs::ContainerInstance* find_by_arn(const Instances& instances, std::string_view arn) {
  const auto found = std::ranges::find_if(
      instances, [&](const auto& one) { return one.container_instance_arn == arn; });
  return found == instances.end() ? nullptr : &*found;
}

base::Result<const api::ecs::ContainerInstance*> named_instance(const Instances& instances,
                                                                std::string_view name) {
  std::vector<Named> named;
  for (const auto& instance : instances) {
    named.push_back(
        {.id = std::string(model::short_id(instance.container_instance_arn.value_or(""))),
         .other_names = {instance.container_instance_arn.value_or(""), host_name_of(instance),
                         instance.ec2_instance_id.value_or("")}});
  }
  return &instances[TRY(pick(named, name, "container instance", "berth nodes"))];
}

base::Result<NamedGpu> named_gpu(const Instances& instances, std::string_view name) {
  std::vector<Named> named;
  std::vector<NamedGpu> gpus;
  for (const auto& instance : instances) {
    for (size_t index = 0; index < instance.berth_gpus.size(); ++index) {
      named.push_back({.id = instance.berth_gpus[index].gpu_id.value_or(""), .other_names = {}});
      gpus.push_back({&instance, index});
    }
  }
  auto found = pick(named, name, "GPU", "berth gpus");
  if (found) return gpus[*found];
  const size_t colon = name.rfind(':');
  const auto index = colon == std::string_view::npos
                         ? std::nullopt
                         : base::parse_number<size_t>(name.substr(colon + 1));
  if (!index) return std::unexpected(std::move(found).error());
  const auto* const instance = TRY(named_instance(instances, name.substr(0, colon)));
  if (*index < instance->berth_gpus.size()) return NamedGpu{instance, *index};
  return base::fail("NotFound",
                    base::format("{} has {} GPUs, counted from 0; `berth gpus` lists them",
                                 host_name_of(*instance), instance->berth_gpus.size()));
}

}  // namespace cli
