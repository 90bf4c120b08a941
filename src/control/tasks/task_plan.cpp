#include "control/tasks/task_plan.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "control/request/errors.h"
#include "control/request/tags.h"
#include "control/tasks/definition/rules.h"
#include "control/tasks/gpu_mistakes.h"
#include "control/tasks/gpu_requirements.h"
#include "control/tasks/task_needs.h"
#include "control/tasks/task_network.h"

namespace control {
namespace {

using Overrides = std::optional<api::ecs::TaskOverride>;

base::Result<void> check_overrides(const Overrides& overrides,
                                   const api::ecs::TaskDefinition& definition) {
  if (!overrides) return {};
  for (const api::ecs::ContainerOverride& one : overrides->container_overrides) {
    const auto found = std::ranges::find(definition.container_definitions, one.name,
                                         &api::ecs::ContainerDefinition::name);
    if (found == definition.container_definitions.end()) {
      return invalid_parameter(
          base::format("Override for container named {} is not a container in the TaskDefinition.",
                       one.name.value_or("(none)")));
    }
    TRY_VOID(refuse_gpu_mistakes(one));
    TRY_VOID(refuse_gpu_variables(one.name.value_or(""), one.environment,
                                  one.resource_requirements.empty() ? found->resource_requirements
                                                                    : one.resource_requirements));
    api::ecs::ContainerDefinition with_files;
    with_files.name = one.name;
    with_files.environment_files = one.environment_files;
    TRY_VOID(check_environment_files(with_files));
  }
  if (!overrides->inference_accelerator_overrides.empty() || overrides->ephemeral_storage) {
    return client_error(
        "overrides.inferenceAcceleratorOverrides and overrides.ephemeralStorage are not offered by "
        "Berth.");
  }
  return {};
}

// The call's figure, else the definition's.
template <class T>
std::optional<T> overridden(const std::optional<T>& by_call,
                            const std::optional<T>& by_definition) {
  return by_call ? by_call : by_definition;
}

void add_host_ports(const api::ecs::ContainerDefinition& container, api::ecs::NetworkMode mode,
                    std::vector<model::HostPort>& ports) {
  if (mode == api::ecs::NetworkMode::Awsvpc) return;  // The ports of the task's own address.
  const bool host_network = mode == api::ecs::NetworkMode::Host;
  for (const api::ecs::PortMapping& mapping : container.port_mappings) {
    const int32_t host_port =
        mapping.host_port.value_or(host_network ? mapping.container_port.value_or(0) : 0);
    if (host_port <= 0) continue;
    ports.push_back(
        {static_cast<uint16_t>(host_port), mapping.protocol == api::ecs::TransportProtocol::Udp});
  }
}

base::Result<model::ResourceRequest> sum_up(const api::ecs::TaskDefinition& definition,
                                            const Overrides& overrides) {
  model::ResourceRequest sum;
  const auto mode = definition.network_mode.value_or(api::ecs::NetworkMode::Bridge);
  for (const api::ecs::ContainerDefinition& container : definition.container_definitions) {
    const std::string& name = container.name.value_or("");
    static const api::ecs::ContainerOverride nothing;
    const auto* const found = find_override(overrides, name);
    const api::ecs::ContainerOverride& by_call = found == nullptr ? nothing : *found;
    sum.cpu_units += overridden(by_call.cpu, container.cpu).value_or(0);
    const auto memory = overridden(by_call.memory, container.memory);
    sum.memory_mib += overridden(by_call.memory_reservation, container.memory_reservation)
                          .value_or(memory.value_or(0));
    add_host_ports(container, mode, sum.host_ports);
    const auto& requirements = by_call.resource_requirements.empty()
                                   ? container.resource_requirements
                                   : by_call.resource_requirements;
    auto gpus = TRY(gpu_request(name, requirements));
    if (gpus) sum.gpus.push_back(std::move(*gpus));
  }
  TRY_VOID(check_gpu_requests(sum.gpus));
  const auto cpu = overrides && overrides->cpu ? overrides->cpu : definition.cpu;
  const auto memory = overrides && overrides->memory ? overrides->memory : definition.memory;
  if (cpu && !cpu->empty()) sum.cpu_units = TRY(parse_cpu_units(*cpu));
  if (memory && !memory->empty()) sum.memory_mib = TRY(parse_memory_mib(*memory));
  return sum;
}

base::Result<void> check_options(const TaskOptions& options) {
  if (options.started_by && options.started_by->size() > 128) {
    return invalid_parameter("startedBy must have at most 128 characters.");
  }
  if (options.group && options.group->size() > 255) {
    return invalid_parameter("group must have at most 255 characters.");
  }
  if (options.group && options.group->starts_with("service:")) {
    return invalid_parameter("group must not begin with \"service:\": services name theirs so.");
  }
  TRY_VOID(check_tags(options.tags, "task"));
  return {};
}

api::List<api::ecs::Tag> tags_for(const TaskOptions& options,
                                  const model::TaskDefinition& definition) {
  api::List<api::ecs::Tag> tags = options.tags;
  if (!options.propagate_definition_tags) return tags;
  for (const api::ecs::Tag& tag : definition.tags) {
    const bool given =
        std::ranges::any_of(tags, [&](const api::ecs::Tag& one) { return one.key == tag.key; });
    if (!given) tags.push_back(tag);
  }
  return tags;
}

// An instance whose attribute has just that value.
api::ecs::PlacementConstraint has_attribute(const api::ecs::Attribute& attribute) {
  api::ecs::PlacementConstraint made;
  made.type = api::ecs::PlacementConstraintType::MemberOf;
  made.expression =
      base::format("attribute:{} == {}", attribute.name.value_or(""), *attribute.value);
  return made;
}

// "256" as it is, "0.5 vCPU" or "2 GB" times the unit's factor.
std::optional<int64_t> with_unit(std::string_view text, std::string_view unit, int64_t factor) {
  if (text.size() > unit.size() &&
      base::equal_ignoring_case(text.substr(text.size() - unit.size()), unit)) {
    text.remove_suffix(unit.size());
    while (text.ends_with(' ')) text.remove_suffix(1);
  } else {
    factor = 1;
  }
  const auto number = base::parse_number<double>(text);
  if (!number) return std::nullopt;
  const double scaled = *number * static_cast<double>(factor);
  if (scaled < 1 || scaled > 1e12) return std::nullopt;
  return static_cast<int64_t>(scaled);
}

}  // namespace

base::Result<int64_t> parse_cpu_units(const std::string& text) {
  const auto units = with_unit(text, "vcpu", 1024);
  if (!units) {
    return client_error(base::format(
        "cpu is \"{}\"; it must be CPU units (\"1024\") or vCPUs (\"1 vCPU\").", text));
  }
  return *units;
}

base::Result<int64_t> parse_memory_mib(const std::string& text) {
  const auto mib = with_unit(text, "gb", 1024);
  if (!mib) {
    return client_error(
        base::format("memory is \"{}\"; it must be MiB (\"2048\") or GB (\"2 GB\").", text));
  }
  return *mib;
}

const api::ecs::ContainerOverride* find_override(const Overrides& overrides,
                                                 const std::string& container) {
  if (!overrides) return nullptr;
  const auto found = std::ranges::find_if(overrides->container_overrides,
                                          [&](const auto& one) { return one.name == container; });
  return found == overrides->container_overrides.end() ? nullptr : &*found;
}

base::Result<placement::Request> request_of(const model::TaskDefinition& definition,
                                            const Overrides& overrides) {
  placement::Request request;
  request.resources = TRY(sum_up(definition.definition, overrides));
  for (const api::ecs::Attribute& attribute : definition.definition.requires_attributes) {
    request.required_attributes.push_back(attribute.name.value_or(""));
    if (attribute.value && !attribute.value->empty()) {
      request.constraints.push_back(has_attribute(attribute));
    }
  }
  request.needs = needs_of_task(definition.definition, overrides);
  for (const auto& constraint : definition.definition.placement_constraints) {
    api::ecs::PlacementConstraint made;
    made.type = api::ecs::PlacementConstraintType::MemberOf;
    made.expression = constraint.expression;
    request.constraints.push_back(std::move(made));
  }
  return request;
}

base::Result<TaskPlan> plan_task(const Step& step, const model::Cluster& cluster,
                                 const model::TaskDefinition& definition,
                                 const TaskOptions& options) {
  TRY_VOID(check_options(options));
  TRY_VOID(check_overrides(options.overrides, definition.definition));
  if (definition.definition.status != api::ecs::TaskDefinitionStatus::Active &&
      !options.inactive_definition_too) {
    return invalid_parameter("TaskDefinition is inactive");
  }
  TRY_VOID(check_network_configuration(definition.definition, options.network_configuration));
  TaskPlan plan;
  plan.request = TRY(request_of(definition, options.overrides));
  plan.request.cluster = cluster.name;
  plan.request.group = options.group.value_or("family:" + definition.family);
  plan.request.launch_type = options.launch_type;
  model::Task& task = plan.task;
  task.cluster = cluster.name;
  task.definition =
      model::TaskDefinitionArn(definition.definition.task_definition_arn.value_or(""));
  task.group = plan.request.group;
  task.started_by = options.started_by.value_or("");
  task.launch_type = options.launch_type;
  task.overrides = options.overrides;
  task.tags = tags_for(options, definition);
  task.subnet = subnet_of(options.network_configuration);
  task.enable_execute_command = options.enable_execute_command;
  task.created_at = step.now;
  for (const api::ecs::ContainerDefinition& container :
       definition.definition.container_definitions) {
    model::TaskContainer made;
    made.name = container.name.value_or("");
    made.image = container.image.value_or("");
    task.containers.push_back(std::move(made));
  }
  return plan;
}

void ask_placement(TaskPlan& plan, const api::List<api::ecs::PlacementConstraint>& constraints,
                   const api::List<api::ecs::PlacementStrategy>& strategies) {
  plan.asked = {.constraints = constraints, .strategies = strategies};
  for (const auto& constraint : constraints) plan.request.constraints.push_back(constraint);
  plan.request.strategies = strategies;
}

base::Result<void> check_placement(const TaskPlan& plan) {
  return placement::validate(plan.request.constraints, plan.request.strategies);
}

void name_planned_task(Step& step, model::Task& task) {
  const std::string id = step.random.hex(32);
  task.arn = model::task_arn(step.settings.account, task.cluster, id);
  for (model::TaskContainer& container : task.containers) {
    container.arn =
        model::container_arn(step.settings.account, task.cluster, id, step.random.uuid());
  }
}

void take_place(const Step& step, model::Task& task, placement::Placement placement) {
  task.instance = placement.instance;
  task.held = std::move(placement.held);
  if (!task.launch_type.empty()) return;
  const auto* const instance = model::find_instance(step.state(), task.instance);
  task.launch_type = instance != nullptr && instance->external ? "EXTERNAL" : "EC2";
}

const model::Task& start_planned_task(Step& step, const TaskPlan& plan,
                                      placement::Placement placement) {
  model::Task task = plan.task;
  name_planned_task(step, task);
  take_place(step, task, std::move(placement));
  const model::TaskArn arn = task.arn;
  step.change(model::TaskPlaced{std::move(task)});
  return *model::find_task(step.state(), arn);
}

}  // namespace control
