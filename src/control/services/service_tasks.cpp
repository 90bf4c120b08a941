#include "control/services/service_tasks.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "control/errors.h"
#include "reconcile/rebalancing.h"

namespace control {
namespace {

// "aws:ecs:..." tags of enableECSManagedTags. Source: ECS Developer Guide, "How Amazon ECS
// resources are tagged".
void add_managed_tags(const model::Service& service, api::List<api::ecs::Tag>& tags) {
  if (!service.enable_ecs_managed_tags) return;
  const auto add = [&](std::string key, std::string value) {
    api::ecs::Tag tag;
    tag.key = std::move(key);
    tag.value = std::move(value);
    tags.push_back(std::move(tag));
  };
  add("aws:ecs:clusterName", service.cluster.str());
  add("aws:ecs:serviceName", service.name);
}

// "If no strategy is given, tasks are spread over Availability Zones."
api::List<api::ecs::PlacementStrategy> strategies_of(const model::Service& service) {
  if (!service.placement_strategy.empty()) return service.placement_strategy;
  api::ecs::PlacementStrategy spread;
  spread.type = api::ecs::PlacementStrategyType::Spread;
  spread.field = base::format("attribute:{}", reconcile::zone_attribute);
  return {spread};
}

api::ecs::PlacementConstraint in_zone(const std::string& zone) {
  api::ecs::PlacementConstraint constraint;
  constraint.type = api::ecs::PlacementConstraintType::MemberOf;
  constraint.expression = base::format("attribute:{} == '{}'", reconcile::zone_attribute, zone);
  return constraint;
}

reconcile::Unplaced unplaced_of(int32_t count, const placement::Refusal& refusal) {
  return {.count = count,
          .nearest = refusal.instance,
          .reason = refusal.reason,
          .detail = refusal.detail};
}

// The seam at which a task that does not fit anywhere could wait for capacity instead.
std::optional<reconcile::Unplaced> place_one(Step& step, const TaskPlan& plan,
                                             const reconcile::Start& start, int32_t count,
                                             StartedTasks& outcome) {
  if (!start.on.empty()) {
    auto placed = step.engine.place_on(step.state(), plan.request, start.on);
    if (!placed) return unplaced_of(count, placed.error());
    outcome.started.push_back(start_planned_task(step, plan, std::move(*placed)).arn);
    return std::nullopt;
  }
  auto placed = step.engine.place(step.state(), plan.request, step.random);
  if (!placed) {
    if (!placed.error().empty()) return unplaced_of(count, placed.error().front());
    return reconcile::Unplaced{.count = count,
                               .nearest = {},
                               .reason = std::string(placement::reason_no_instance),
                               .detail = {}};
  }
  outcome.started.push_back(start_planned_task(step, plan, std::move(*placed)).arn);
  return std::nullopt;
}

bool has_attributes(const model::ContainerInstance& instance, const placement::Request& request) {
  return std::ranges::all_of(request.required_attributes, [&](const std::string& name) {
    return instance.attributes.contains(name);
  });
}

}  // namespace

base::Result<TaskPlan> plan_service_task(const Step& step, const model::Service& service,
                                         const model::TaskSource& source) {
  const model::Cluster* const cluster = model::find_cluster(step.state(), service.cluster);
  const model::TaskDefinition* const definition =
      model::find_task_definition(step.state(), source.task_definition);
  if (cluster == nullptr || definition == nullptr) {
    return client_error(base::format("The task definition {} of the service does not exist.",
                                     source.task_definition.str()));
  }
  const bool from_service = service.propagate_tags == api::ecs::PropagateTags::Service;
  TaskPlan plan =
      TRY(plan_task(step, *cluster, *definition,
                    {.overrides = std::nullopt,
                     .group = std::nullopt,
                     .started_by = std::nullopt,
                     .launch_type = source.launch_type,
                     .tags = from_service ? service.tags : api::List<api::ecs::Tag>(),
                     .propagate_definition_tags =
                         service.propagate_tags == api::ecs::PropagateTags::TaskDefinition,
                     .enable_execute_command = service.enable_execute_command,
                     .network_configuration = source.network_configuration,
                     .inactive_definition_too = true}));
  plan.request.group = "service:" + service.name;
  plan.task.group = plan.request.group;
  for (const auto& constraint : service.placement_constraints) {
    plan.request.constraints.push_back(constraint);
  }
  plan.request.strategies = strategies_of(service);
  TRY_VOID(placement::validate(plan.request.constraints, plan.request.strategies));
  add_managed_tags(service, plan.task.tags);
  return plan;
}

StartedTasks start_service_tasks(Step& step, const model::ServiceArn& arn,
                                 const reconcile::Start& start) {
  StartedTasks outcome;
  auto plan = plan_service_task(step, step.state().services.at(arn), start.source);
  if (!plan) {
    outcome.unplaced = reconcile::Unplaced{.count = start.count,
                                           .nearest = {},
                                           .reason = plan.error().code,
                                           .detail = plan.error().message};
    return outcome;
  }
  plan->task.started_by = start.id;
  if (!start.zone.empty()) plan->request.constraints.push_back(in_zone(start.zone));
  for (int32_t i = 0; i < start.count; ++i) {
    outcome.unplaced = place_one(step, *plan, start, start.count - i, outcome);
    if (outcome.unplaced) return outcome;
  }
  return outcome;
}

base::Result<std::vector<model::InstanceArn>> instances_for_daemon(Step& step,
                                                                   const model::Service& service) {
  const TaskPlan plan = TRY(plan_service_task(step, service, service.source));
  std::set<model::InstanceArn> fit;
  for (const auto& [arn, instance] : step.state().instances) {
    const bool wanted_type = plan.request.launch_type.empty() ||
                             instance.external == (plan.request.launch_type == "EXTERNAL");
    if (instance.cluster == service.cluster && instance.agent_connected && wanted_type &&
        instance.status == model::InstanceStatus::Active &&
        has_attributes(instance, plan.request)) {
      fit.insert(arn);
    }
  }
  for (const api::ecs::PlacementConstraint& constraint : plan.request.constraints) {
    if (constraint.type != api::ecs::PlacementConstraintType::MemberOf) continue;
    const auto matching =
        TRY(step.engine.filter(step.state(), service.cluster, constraint.expression.value_or("")));
    const std::set<model::InstanceArn> allowed(matching.begin(), matching.end());
    std::erase_if(fit, [&](const model::InstanceArn& arn) { return !allowed.contains(arn); });
  }
  return std::vector<model::InstanceArn>(fit.begin(), fit.end());
}

}  // namespace control
