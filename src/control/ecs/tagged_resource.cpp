#include "control/ecs/tagged_resource.h"

#include "auth/permission.h"
#include "base/arn.h"
#include "base/format.h"
#include "control/capacity/queue_explain.h"
#include "control/capacity/queue_tags.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

std::unexpected<base::Error> not_found(std::string_view what, std::string_view arn) {
  return base::fail("ResourceNotFoundException",
                    base::format("The specified {} was not found: {}.", what, arn));
}

// With the ARN: whoever may read the tags of some things only is asked for that one. `instance` is
// the one that it is or runs on.
base::Result<void> allow_tags(const Step& step, std::string_view operation,
                              const model::ClusterName& cluster, const model::InstanceArn& instance,
                              std::string_view arn) {
  return auth::allow(step.caller, {.service = "ecs",
                                   .operation = operation,
                                   .cluster = cluster.str(),
                                   .container_instance = instance.str(),
                                   .resource = arn});
}

base::Result<TaggedResource> find_tagged_cluster(const Step& step, std::string_view operation,
                                                 std::string_view name, std::string_view arn) {
  const model::Cluster* const found = model::find_cluster(step.state(), model::ClusterName(name));
  if (found == nullptr) return base::fail("ClusterNotFoundException", "Cluster not found.");
  TRY_VOID(allow_tags(step, operation, found->name, {}, arn));
  return TaggedResource{.resource = found->name,
                        .tags = &found->tags,
                        .what = "cluster",
                        .ended = found->status != model::ClusterStatus::Active};
}

base::Result<TaggedResource> find_tagged_instance(const Step& step, std::string_view operation,
                                                  std::string_view arn) {
  const model::ContainerInstance* const found =
      model::find_instance(step.state(), model::InstanceArn(arn));
  if (found == nullptr) return not_found("container instance", arn);
  TRY_VOID(allow_tags(step, operation, found->cluster, found->arn, arn));
  return TaggedResource{.resource = found->arn,
                        .tags = &found->tags,
                        .what = "container instance",
                        .ended = found->status == model::InstanceStatus::Inactive};
}

base::Result<TaggedResource> find_tagged_task(const Step& step, std::string_view operation,
                                              std::string_view arn) {
  const model::Task* const found = model::find_task(step.state(), model::TaskArn(arn));
  if (found == nullptr) return not_found("task", arn);
  TRY_VOID(allow_tags(step, operation, found->cluster, found->instance, arn));
  return TaggedResource{.resource = found->arn,
                        .tags = &found->tags,
                        .what = "task",
                        .ended = found->last_status == model::TaskStatus::Stopped};
}

base::Result<TaggedResource> find_tagged_definition(const Step& step, std::string_view operation,
                                                    std::string_view arn) {
  const model::TaskDefinition* const found =
      model::find_task_definition(step.state(), model::TaskDefinitionArn(arn));
  if (found == nullptr) return not_found("task definition", arn);
  TRY_VOID(allow_tags(step, operation, {}, {}, arn));
  return TaggedResource{
      .resource = model::TaskDefinitionArn(found->definition.task_definition_arn.value_or("")),
      .tags = &found->tags,
      .what = "task definition",
      .ended = found->definition.status != api::ecs::TaskDefinitionStatus::Active};
}

base::Result<TaggedResource> find_tagged_service(const Step& step, std::string_view operation,
                                                 std::string_view arn) {
  const model::Service* const found = model::find_service(step.state(), model::ServiceArn(arn));
  if (found == nullptr) return not_found("service", arn);
  TRY_VOID(allow_tags(step, operation, found->cluster, {}, arn));
  return TaggedResource{.resource = found->arn,
                        .tags = &found->tags,
                        .what = "service",
                        .ended = found->status == model::ServiceStatus::Inactive};
}

base::Result<TaggedResource> find_tagged_provider(const Step& step, std::string_view operation,
                                                  std::string_view name, std::string_view arn) {
  const auto found = step.state().capacity_providers.find(name);
  if (found == step.state().capacity_providers.end()) return not_found("capacity provider", arn);
  TRY_VOID(allow_tags(step, operation, {}, {}, arn));
  return TaggedResource{.resource = model::CapacityProviderName(name),
                        .tags = &found->second.tags,
                        .what = "capacity provider",
                        .ended = false};
}

}  // namespace

base::Result<TaggedResource> require_tagged(const Step& step, std::string_view operation,
                                            const std::optional<std::string>& resource_arn) {
  const std::string text = resource_arn.value_or("");
  const auto arn = base::parse_arn(text);
  if (!arn || arn->service != "ecs") {
    return invalid_parameter(base::format(
        "resourceArn is \"{}\"; it must be the whole ARN of a resource of Amazon ECS.", text));
  }
  if (arn->region != step.settings.account.region || arn->account != step.settings.account.id) {
    return not_found("resource", text);
  }
  const std::string_view type = arn->resource_type();
  if (type == "cluster") return find_tagged_cluster(step, operation, arn->resource_id(), text);
  if (type == "capacity-provider") {
    return find_tagged_provider(step, operation, arn->resource_id(), text);
  }
  if (type == "container-instance") return find_tagged_instance(step, operation, text);
  if (type == "service") return find_tagged_service(step, operation, text);
  if (type == "task") return find_tagged_task(step, operation, text);
  if (type == "task-definition") return find_tagged_definition(step, operation, text);
  return invalid_parameter(
      base::format("resourceArn names a {}; this version of Berth tags capacity providers, "
                   "clusters, container instances, services, task definitions and tasks.",
                   type));
}

base::Result<TaggedResource> require_taggable(const Step& step, std::string_view operation,
                                              const std::optional<std::string>& resource_arn) {
  TaggedResource found = TRY(require_tagged(step, operation, resource_arn));
  if (!found.ended) return found;
  return client_error(
      base::format("The specified {} is {}: tags of one that has ended cannot be "
                   "changed.",
                   found.what, found.what == "task" ? "stopped" : "inactive"));
}

base::Result<void> set_tags(Step& step, const TaggedResource& resource, Tags tags) {
  TRY_VOID(check_tags(tags, resource.what));
  if (const auto* const arn = std::get_if<model::TaskArn>(&resource.resource)) {
    const model::Task* const task = model::find_task(step.state(), *arn);
    if (task != nullptr && waits_in_queue(*task)) (void)TRY(read_queue_tags(tags));
  }
  if (tags == *resource.tags) return {};
  step.change(model::TagsSet{resource.resource, std::move(tags)});
  return {};
}

}  // namespace control::ecs
