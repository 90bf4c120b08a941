#include "control/request/lookup.h"

#include <charconv>

#include "auth/permission.h"
#include "base/arn.h"
#include "base/format.h"
#include "control/request/errors.h"

namespace control {
namespace {

// The resource part of an ARN of ours of that type; nullopt for another account's or region's.
std::optional<std::string> own_resource(const Step& step, std::string_view text,
                                        std::string_view type) {
  const auto arn = base::parse_arn(text);
  if (!arn || arn->service != "ecs" || arn->region != step.settings.account.region ||
      arn->account != step.settings.account.id || arn->resource_type() != type) {
    return std::nullopt;
  }
  return std::string(arn->resource_id());
}

// "cluster/id", "id" or a whole ARN to the ARN that such a thing has in the cluster.
template <class ArnOf>
std::string full_arn(std::string_view text, const model::ClusterName& cluster, ArnOf&& arn_of) {
  if (text.starts_with("arn:")) return std::string(text);
  const std::string prefix = cluster.str() + "/";
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return arn_of(text).str();
}

}  // namespace

std::optional<model::ClusterName> cluster_name(const Step& step,
                                               const std::optional<std::string>& cluster) {
  if (!cluster || cluster->empty()) return model::ClusterName("default");
  if (!cluster->starts_with("arn:")) return model::ClusterName(*cluster);
  const auto id = own_resource(step, *cluster, "cluster");
  if (!id) return std::nullopt;
  return model::ClusterName(*id);
}

base::Result<const model::Cluster*> require_cluster(const Step& step,
                                                    const std::optional<std::string>& cluster) {
  const auto name = cluster_name(step, cluster);
  const model::Cluster* const found = name ? model::find_cluster(step.state(), *name) : nullptr;
  if (found == nullptr || found->status != model::ClusterStatus::Active) {
    return base::fail("ClusterNotFoundException", "Cluster not found.");
  }
  return found;
}

const model::Task* find_task(const Step& step, const model::ClusterName& cluster,
                             std::string_view task) {
  const model::TaskArn arn(full_arn(task, cluster, [&](std::string_view id) {
    return model::task_arn(step.settings.account, cluster, id);
  }));
  const model::Task* const found = model::find_task(step.state(), arn);
  return found != nullptr && found->cluster == cluster ? found : nullptr;
}

base::Result<const model::Task*> require_task(const Step& step, const model::ClusterName& cluster,
                                              std::string_view task) {
  const model::Task* const found = find_task(step, cluster, task);
  if (found == nullptr) return invalid_parameter("The referenced task was not found.");
  return found;
}

const model::ContainerInstance* find_instance(const Step& step, const model::ClusterName& cluster,
                                              std::string_view instance) {
  const model::InstanceArn arn(full_arn(instance, cluster, [&](std::string_view id) {
    return model::instance_arn(step.settings.account, cluster, id);
  }));
  const model::ContainerInstance* const found = model::find_instance(step.state(), arn);
  return found != nullptr && found->cluster == cluster ? found : nullptr;
}

base::Result<const model::ContainerInstance*> require_instance(const Step& step,
                                                               const model::ClusterName& cluster,
                                                               std::string_view instance) {
  const model::ContainerInstance* const found = find_instance(step, cluster, instance);
  if (found == nullptr) {
    return invalid_parameter("The referenced container instance was not found.");
  }
  return found;
}

const model::TaskDefinition* find_task_definition(const Step& step, std::string_view name) {
  std::string family_revision(name);
  if (name.starts_with("arn:")) {
    const auto id = own_resource(step, name, "task-definition");
    if (!id) return nullptr;
    family_revision = *id;
  }
  return family_revision.contains(':')
             ? model::find_task_definition(step.state(), model::TaskDefinitionArn(family_revision))
             : model::latest_task_definition(step.state(), family_revision);
}

base::Result<const model::TaskDefinition*> require_task_definition(const Step& step,
                                                                   std::string_view name) {
  const model::TaskDefinition* const found = find_task_definition(step, name);
  if (found == nullptr) return client_error("Unable to describe task definition.");
  return found;
}

base::Result<const model::TaskDefinition*> require_definition_to_run(const Step& step,
                                                                     std::string_view name) {
  const model::TaskDefinition* const found = find_task_definition(step, name);
  if (found == nullptr) return client_error("TaskDefinition not found.");
  return found;
}

base::Result<const model::TaskDefinition*> require_active_task_definition(const Step& step,
                                                                          std::string_view name) {
  const model::TaskDefinition* const found = TRY(require_definition_to_run(step, name));
  if (found->definition.status != api::ecs::TaskDefinitionStatus::Active) {
    return client_error("TaskDefinition is inactive");
  }
  return found;
}

base::Result<void> allow(const Step& step, std::string_view operation,
                         const model::ClusterName& cluster, std::string_view instance) {
  return auth::allow(step.caller, {.service = "ecs",
                                   .operation = operation,
                                   .cluster = cluster.str(),
                                   .container_instance = instance});
}

}  // namespace control
