#include "control/ecs/describe_service.h"

#include <algorithm>
#include <map>

#include "reconcile/task_sets.h"

namespace control::ecs {
namespace {

struct Counts {
  int32_t running = 0;
  int32_t pending = 0;
};

// By startedBy; tasks that are stopping count no more.
using CountsById = std::map<std::string, Counts, std::less<>>;

CountsById count_tasks(const Step& step, const model::Service& service) {
  CountsById counts;
  const auto* const tasks = model::tasks_of(step.state(), service);
  if (tasks == nullptr) return counts;
  for (const model::TaskArn& arn : *tasks) {
    const model::Task* const task = model::find_task(step.state(), arn);
    if (task->desired_status == model::TaskStatus::Stopped) continue;
    Counts& of = counts[task->started_by];
    ++(task->last_status == model::TaskStatus::Running ? of.running : of.pending);
  }
  return counts;
}

Counts task_counts_of(const CountsById& counts, std::string_view id) {
  const auto found = counts.find(id);
  return found == counts.end() ? Counts{} : found->second;
}

Counts sum_of(const CountsById& counts) {
  Counts sum;
  for (const auto& [id, one] : counts) {
    sum.running += one.running;
    sum.pending += one.pending;
  }
  return sum;
}

// Either a strategy or a launch type, never both.
template <class Described>
void add_source(const model::TaskSource& source, Described& made) {
  made.task_definition = source.task_definition.str();
  if (!source.capacity_provider_strategy.empty()) {
    made.capacity_provider_strategy = source.capacity_provider_strategy;
  } else {
    made.launch_type = source.launch_type.empty()
                           ? api::ecs::LaunchType::Ec2
                           : api::parse_enum<api::ecs::LaunchType>(source.launch_type);
  }
  if (!source.platform_version.empty()) made.platform_version = source.platform_version;
  if (source.network_configuration && source.network_configuration->awsvpc_configuration) {
    made.network_configuration = source.network_configuration;
  }
}

api::ecs::Deployment describe_deployment(const Step& step, const model::Service& service,
                                         const model::Deployment& deployment,
                                         const CountsById& counts) {
  api::ecs::Deployment made;
  const bool primary = &deployment == &service.deployments.front();
  const Counts of = task_counts_of(counts, deployment.id);
  made.id = deployment.id;
  made.status = primary ? "PRIMARY" : "ACTIVE";
  made.desired_count = primary ? service.desired_count : 0;
  made.pending_count = of.pending;
  made.running_count = of.running;
  made.failed_tasks = deployment.failed_tasks;
  made.created_at = deployment.created_at;
  made.updated_at = deployment.updated_at;
  const auto* const revision = model::find_service_revision(step.state(), deployment.revision);
  if (revision != nullptr) add_source(revision->source, made);
  made.rollout_state = deployment.rollout_state;
  made.rollout_state_reason = deployment.rollout_state_reason;
  return made;
}

api::ecs::ServiceCurrentRevisionSummary revision_summary(const model::Service& service,
                                                         const model::Deployment& deployment,
                                                         const CountsById& counts) {
  const Counts of = task_counts_of(counts, deployment.id);
  api::ecs::ServiceCurrentRevisionSummary made;
  made.arn = deployment.revision.str();
  made.requested_task_count =
      &deployment == &service.deployments.front() ? service.desired_count : 0;
  made.running_task_count = of.running;
  made.pending_task_count = of.pending;
  return made;
}

void add_events(const Step& step, const model::Service& service, api::ecs::Service& made) {
  made.events.set_present();
  const auto kept = step.state().service_events.find(service.arn);
  if (kept == step.state().service_events.end()) return;
  const auto& events = kept->second.events;
  for (auto it = events.rbegin(); it != events.rend(); ++it) {
    api::ecs::ServiceEvent event;
    event.id = it->id;
    event.created_at = it->created_at;
    event.message = it->message;
    made.events.push_back(std::move(event));
  }
}

api::ecs::TaskSet task_set_with(const Step& step, const model::Service& service,
                                const model::TaskSet& set, const CountsById& counts) {
  api::ecs::TaskSet made;
  const Counts of = task_counts_of(counts, set.id);
  made.id = set.id;
  made.task_set_arn = model::task_set_arn(service.arn, set.id);
  made.service_arn = service.arn.str();
  made.cluster_arn = model::cluster_arn(step.settings.account, service.cluster);
  if (!set.started_by.empty()) made.started_by = set.started_by;
  if (!set.external_id.empty()) made.external_id = set.external_id;
  made.status = set.draining ? "DRAINING" : set.primary ? "PRIMARY" : "ACTIVE";
  made.computed_desired_count = reconcile::computed_desired_count(service, set);
  made.pending_count = of.pending;
  made.running_count = of.running;
  made.created_at = set.created_at;
  made.updated_at = set.updated_at;
  add_source(set.source, made);
  made.load_balancers.set_present();
  made.service_registries.set_present();
  made.scale.emplace();
  made.scale->value = set.scale_percent;
  made.scale->unit = api::ecs::ScaleUnit::Percent;
  made.stability_status = set.stability;
  made.stability_status_at = set.stability_at;
  return made;
}

// Of a task set's or deployment's revision: how many tasks it has now.
api::ecs::ServiceRevisionSummary rollout_summary(const Step& step,
                                                 const model::ServiceRevisionArn& revision,
                                                 const model::Service* service,
                                                 const CountsById& counts) {
  static_cast<void>(step);
  api::ecs::ServiceRevisionSummary made;
  made.arn = revision.str();
  made.requested_task_count = 0;
  made.running_task_count = 0;
  made.pending_task_count = 0;
  if (service == nullptr) return made;
  const auto found =
      std::ranges::find(service->deployments, revision, &model::Deployment::revision);
  if (found == service->deployments.end()) return made;
  const Counts of = task_counts_of(counts, found->id);
  made.requested_task_count = found == service->deployments.begin() ? service->desired_count : 0;
  made.running_task_count = of.running;
  made.pending_task_count = of.pending;
  return made;
}

void add_breaker(const model::ServiceDeployment& deployment, api::ecs::ServiceDeployment& made) {
  made.deployment_circuit_breaker.emplace();
  made.deployment_circuit_breaker->status = deployment.breaker;
  made.deployment_circuit_breaker->failure_count = deployment.failure_count;
  made.deployment_circuit_breaker->threshold = deployment.threshold;
}

}  // namespace

api::ecs::Service describe_service(const Step& step, const model::Service& service,
                                   bool include_tags) {
  const CountsById counts = count_tasks(step, service);
  const Counts sum = sum_of(counts);
  api::ecs::Service made;
  made.service_arn = service.arn.str();
  made.service_name = service.name;
  made.cluster_arn = model::cluster_arn(step.settings.account, service.cluster);
  made.load_balancers.set_present();
  made.service_registries.set_present();
  made.status = std::string(api::to_string(service.status));
  made.desired_count = service.desired_count;
  made.running_count = sum.running;
  made.pending_count = sum.pending;
  add_source(service.source, made);
  if (service.source.task_definition.empty()) made.task_definition.reset();
  made.deployment_configuration = service.deployment_configuration;
  made.deployments.set_present();
  for (const model::Deployment& deployment : service.deployments) {
    made.deployments.push_back(describe_deployment(step, service, deployment, counts));
    made.current_service_revisions.push_back(revision_summary(service, deployment, counts));
    if (deployment.rollout_state == api::ecs::DeploymentRolloutState::InProgress &&
        &deployment == &service.deployments.front()) {
      made.current_service_deployment = deployment.service_deployment.str();
    }
  }
  if (service.controller == api::ecs::DeploymentControllerType::External) {
    made.task_sets.set_present();
    for (const model::TaskSet& set : service.task_sets) {
      made.task_sets.push_back(task_set_with(step, service, set, counts));
    }
  }
  add_events(step, service, made);
  made.created_at = service.created_at;
  made.placement_constraints = service.placement_constraints;
  made.placement_constraints.set_present();
  made.placement_strategy = service.placement_strategy;
  made.placement_strategy.set_present();
  made.health_check_grace_period_seconds = service.health_check_grace_period_seconds;
  made.scheduling_strategy = service.scheduling;
  made.deployment_controller.emplace();
  made.deployment_controller->type = service.controller;
  if (include_tags) made.tags = service.tags;
  made.tags.set_present();
  if (!service.created_by.empty()) made.created_by = service.created_by;
  made.enable_ecs_managed_tags = service.enable_ecs_managed_tags;
  made.propagate_tags = service.propagate_tags.value_or(api::ecs::PropagateTags::None);
  made.enable_execute_command = service.enable_execute_command;
  made.availability_zone_rebalancing = service.zone_rebalancing;
  return made;
}

api::ecs::TaskSet describe_task_set(const Step& step, const model::Service& service,
                                    const model::TaskSet& set, bool include_tags) {
  api::ecs::TaskSet made = task_set_with(step, service, set, count_tasks(step, service));
  if (include_tags) made.tags = set.tags;
  made.tags.set_present();
  return made;
}

api::ecs::ServiceDeployment describe_service_deployment(
    const Step& step, const model::ServiceDeployment& deployment) {
  const model::Service* const service = model::find_service(step.state(), deployment.service);
  const CountsById counts = service == nullptr ? CountsById() : count_tasks(step, *service);
  api::ecs::ServiceDeployment made;
  made.service_deployment_arn = deployment.arn.str();
  made.service_arn = deployment.service.str();
  if (service != nullptr) {
    made.cluster_arn = model::cluster_arn(step.settings.account, service->cluster);
  }
  made.created_at = deployment.created_at;
  made.started_at = deployment.started_at;
  made.finished_at = deployment.finished_at;
  made.stopped_at = deployment.stopped_at;
  made.updated_at = deployment.updated_at;
  made.source_service_revisions.set_present();
  for (const model::ServiceRevisionArn& source : deployment.sources) {
    made.source_service_revisions.push_back(rollout_summary(step, source, service, counts));
  }
  made.target_service_revision = rollout_summary(step, deployment.target, service, counts);
  made.status = deployment.status;
  if (!deployment.status_reason.empty()) made.status_reason = deployment.status_reason;
  if (deployment.paused_at) {
    made.lifecycle_stage = api::parse_enum<api::ecs::ServiceDeploymentLifecycleStage>(
        api::to_string(*deployment.paused_at));
  } else if (deployment.baking_since && !deployment.finished_at) {
    made.lifecycle_stage = api::ecs::ServiceDeploymentLifecycleStage::BakeTime;
  }
  made.lifecycle_hook_details = deployment.hooks;
  made.deployment_configuration = deployment.configuration;
  made.rollback = deployment.rollback;
  add_breaker(deployment, made);
  return made;
}

api::ecs::ServiceRevision describe_service_revision(const Step& step,
                                                    const model::ServiceRevision& revision) {
  api::ecs::ServiceRevision made;
  made.service_revision_arn = revision.arn.str();
  made.service_arn = revision.service.str();
  if (const auto* const service = model::find_service(step.state(), revision.service)) {
    made.cluster_arn = model::cluster_arn(step.settings.account, service->cluster);
  }
  add_source(revision.source, made);
  made.load_balancers.set_present();
  made.service_registries.set_present();
  made.container_images.set_present();
  const auto* const definition =
      model::find_task_definition(step.state(), revision.source.task_definition);
  if (definition != nullptr) {
    for (const auto& container : definition->definition.container_definitions) {
      api::ecs::ContainerImage image;
      image.container_name = container.name;
      image.image = container.image;
      made.container_images.push_back(std::move(image));
    }
  }
  made.guard_duty_enabled = false;
  made.created_at = revision.created_at;
  return made;
}

}  // namespace control::ecs
