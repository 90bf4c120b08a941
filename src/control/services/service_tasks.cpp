#include "control/services/service_tasks.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "control/capacity/admission.h"
#include "control/capacity/strategy_rules.h"
#include "control/request/errors.h"
#include "model/task_bounds.h"
#include "reconcile/queue/tags.h"
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

// Gangs are of RunTask: a service starts its tasks one by one, and again one by one.
base::Result<void> check_queue_tags(const api::List<api::ecs::Tag>& tags) {
  const reconcile::queue::Tags read = TRY(reconcile::queue::read_tags(tags));
  if (read.gang.empty()) return {};
  return invalid_parameter(base::format(
      "The tag {} is for tasks that RunTask starts together: leave it out of a service's tags.",
      reconcile::queue::gang_tag));
}

reconcile::Unplaced unplaced_of(int32_t count, const placement::Refusal& refusal) {
  return {.count = count,
          .nearest = refusal.instance,
          .reason = refusal.reason,
          .detail = refusal.detail};
}

// How many tasks of the deployment or task set each capacity provider has.
ProviderCounts provider_counts_of(const Step& step, const model::Service& service,
                                  const std::string& id) {
  ProviderCounts counts;
  const auto* const tasks = model::tasks_of(step.state(), service);
  if (tasks == nullptr) return counts;
  for (const model::TaskArn& arn : *tasks) {
    const model::Task& task = step.state().tasks.at(arn);
    if (task.started_by == id && task.desired_status != model::TaskStatus::Stopped) {
      ++counts[task.capacity_provider];
    }
  }
  return counts;
}

// Starts the tasks of one Start whose source has a capacity provider strategy.
class Admissions {
 public:
  Admissions(Step& step, const model::Service& service, const reconcile::Start& start)
      : step_(step),
        start_(start),
        counts_(provider_counts_of(step, service, start.id)),
        room_(provisioning_room(step.state(), service.cluster)) {}

  // One task more; why there can be none.
  std::optional<reconcile::Unplaced> admit(TaskPlan& plan, int32_t count, StartedTasks& outcome) {
    const std::string provider = next_provider(start_.source.capacity_provider_strategy, counts_);
    const bool limited = provider != model::berth_queue;
    if (limited && room_ == 0) {
      return reconcile::Unplaced{.count = count,
                                 .nearest = {},
                                 .reason = "PROVISIONING",
                                 .detail = quota_sentence(most_waiting_for_groups)};
    }
    const model::Task& task = admit_task(step_, plan, provider);
    ++counts_[provider];
    if (limited && task.waiting) --room_;
    outcome.started.push_back(task.arn);
    outcome.some_wait = outcome.some_wait || task.waiting.has_value();
    return std::nullopt;
  }

  // For tasks that are to go there or nowhere: they do not wait.
  std::string next() const {
    return next_provider(start_.source.capacity_provider_strategy, counts_);
  }

 private:
  Step& step_;
  const reconcile::Start& start_;
  ProviderCounts counts_;
  size_t room_;
};

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
  const model::TaskBounds bounds = model::bounds_of(instance.attributes);
  for (const std::string& need : request.needs) {
    if (!model::permits(bounds, need)) return false;
  }
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
  ask_placement(plan, service.placement_constraints, strategies_of(service));
  add_managed_tags(service, plan.task.tags);
  if (names_provider(source.capacity_provider_strategy, model::berth_queue)) {
    TRY_VOID(check_queue_tags(plan.task.tags));
  }
  return plan;
}

base::Result<void> check_service_task(const Step& step, const model::Service& service,
                                      const model::TaskSource& source) {
  return check_placement(TRY(plan_service_task(step, service, source)));
}

StartedTasks start_service_tasks(Step& step, const model::ServiceArn& arn,
                                 const reconcile::Start& start, Effort& effort_left) {
  StartedTasks outcome;
  effort_left -= effort_of_plan;
  auto plan = plan_service_task(step, step.state().services.at(arn), start.source);
  if (!plan) {
    outcome.unplaced = reconcile::Unplaced{.count = start.count,
                                           .nearest = {},
                                           .reason = plan.error().code,
                                           .detail = plan.error().message};
    return outcome;
  }
  plan->task.started_by = start.id;
  std::optional<Admissions> admissions;
  if (!start.source.capacity_provider_strategy.empty()) {
    admissions.emplace(step, step.state().services.at(arn), start);
  }
  if (!start.zone.empty()) plan->request.constraints.push_back(in_zone(start.zone));
  const Effort effort_of_each =
      effort_of_start + (start.on.empty()
                             ? effort_of_place(step.engine.instances(plan->request.cluster),
                                               plan->request.strategies.size())
                             : 0);
  for (int32_t i = 0; i < start.count; ++i) {
    const int32_t left = start.count - i;
    outcome.cut_short = i > 0 && effort_left <= 0;
    if (outcome.cut_short) return outcome;
    effort_left -= effort_of_each;
    if (admissions && start.zone.empty()) {
      outcome.unplaced = admissions->admit(*plan, left, outcome);
    } else {
      if (admissions) {
        plan->request.capacity_provider = plan->task.capacity_provider = admissions->next();
      }
      outcome.unplaced = place_one(step, *plan, start, left, outcome);
    }
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
