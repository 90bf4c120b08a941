#include "control/capacity/gang.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "control/capacity/queue_tags.h"
#include "control/request/errors.h"
#include "model/capabilities.h"
#include "placement/rehearsal.h"

namespace control {
namespace {

using reconcile::queue::gang_of_call;
using reconcile::queue::gang_tag;

bool only_queue(const Strategy& strategy) {
  return std::ranges::all_of(strategy, [](const auto& item) {
    return item.capacity_provider == std::string(model::berth_queue);
  });
}

constexpr std::string_view master_address_variable = "MASTER_ADDR";  // PyTorch's.

api::ecs::NetworkMode network_mode_of(const api::ecs::TaskDefinition& definition) {
  return definition.network_mode.value_or(api::ecs::NetworkMode::Bridge);
}

// Whether what a container listens on can be reached at the address of its machine.
bool is_reached_at_host(const api::ecs::TaskDefinition& definition) {
  const auto mode = network_mode_of(definition);
  if (mode != api::ecs::NetworkMode::Bridge) return mode == api::ecs::NetworkMode::Host;
  return std::ranges::any_of(definition.container_definitions, [](const auto& container) {
    return std::ranges::any_of(container.port_mappings, [](const auto& mapping) {
      return mapping.host_port.value_or(0) > 0;
    });
  });
}

// Whether the task says itself where its gang meets.
bool names_its_master(const api::ecs::TaskDefinition& definition, const model::Task& task) {
  const auto is_master = [](const auto& variable) {
    return variable.name == std::string(master_address_variable);
  };
  const auto by_definition = [&](const api::ecs::ContainerDefinition& container) {
    return std::ranges::any_of(container.environment, is_master) ||
           std::ranges::any_of(container.secrets, is_master);
  };
  const auto by_call = [&](const api::ecs::ContainerOverride& container) {
    return std::ranges::any_of(container.environment, is_master);
  };
  return std::ranges::any_of(definition.container_definitions, by_definition) ||
         (task.overrides && std::ranges::any_of(task.overrides->container_overrides, by_call));
}

// Members that wait for each other at an address where nobody listens would wait for ever.
base::Result<void> check_meeting_place(const Step& step, const model::Task& task, int32_t members) {
  const model::TaskDefinition* const found =
      model::find_task_definition(step.state(), task.definition);
  if (members < 2 || found == nullptr || is_reached_at_host(found->definition) ||
      names_its_master(found->definition, task)) {
    return {};
  }
  const auto mode = network_mode_of(found->definition);
  return invalid_parameter(base::format(
      "The members of a gang meet at the address of the first one's machine ({}, {}), and no "
      "container of {}:{} can be reached there: its network mode is {}{}. Register it with "
      "networkMode host{}. If the members meet elsewhere, or not at all, set {} in the environment "
      "of a container.",
      gang_address_variable, master_address_variable, found->family, found->revision,
      api::to_string(mode),
      mode == api::ecs::NetworkMode::Bridge ? ", and it publishes no port with a fixed hostPort"
                                            : "",
      mode == api::ecs::NetworkMode::Bridge
          ? base::format(", or publish the port on which rank 0 listens, as in \"portMappings\": "
                         "[{{\"containerPort\": {0}, \"hostPort\": {0}}}]",
                         master_port)
          : "",
      master_address_variable));
}

}  // namespace

base::Result<void> prepare_gang(Step& step, const Strategy& strategy, int32_t count,
                                TaskPlan& plan) {
  const bool wanted = std::ranges::any_of(
      plan.task.tags, [](const api::ecs::Tag& tag) { return tag.key == gang_tag; });
  if (!wanted) return {};
  const QueueTags tags = TRY(read_queue_tags(plan.task.tags));
  if (!only_queue(strategy)) {
    return invalid_parameter(base::format(
        "Tag {} has tasks start together, which only the capacity provider {} can promise: let the "
        "strategy name no other.",
        gang_tag, model::berth_queue));
  }
  const bool of_call = tags.gang == gang_of_call;
  if (!of_call && strategy.empty()) {
    return invalid_parameter(base::format(
        "Tag {} names the gang \"{}\", whose members wait for each other: run them with the "
        "capacity provider {}, or start all tasks of this one call together with the value \"{}\".",
        gang_tag, tags.gang, model::berth_queue, gang_of_call));
  }
  const int32_t members = of_call ? count : tags.gang_size;
  TRY_VOID(check_meeting_place(step, plan.task, members));
  auto& environment = plan.task.gang_environment;
  environment[std::string(gang_variable)] = of_call ? step.random.hex(32) : tags.gang;
  environment[std::string(gang_size_variable)] = base::format("{}", members);
  return {};
}

std::string gang_of(const model::Task& task) {
  const auto found = task.gang_environment.find(std::string(gang_variable));
  return found == task.gang_environment.end() ? std::string() : found->second;
}

int32_t gang_size_of(const model::Task& task) {
  const auto found = task.gang_environment.find(std::string(gang_size_variable));
  if (found == task.gang_environment.end()) return 0;
  return base::parse_number<int32_t>(found->second).value_or(0);
}

std::map<std::string, std::string> gang_environment(const Step& step, const model::Task& member,
                                                    size_t rank, const model::InstanceArn& first) {
  auto environment = member.gang_environment;
  const std::string size = environment[std::string(gang_size_variable)];
  environment[std::string(gang_rank_variable)] = base::format("{}", rank);
  for (const char* const name : {"RANK", "NODE_RANK"}) {
    environment[name] = base::format("{}", rank);
  }
  for (const char* const name : {"WORLD_SIZE", "NNODES"}) environment[name] = size;
  const auto* const instance = model::find_instance(step.state(), first);
  if (instance == nullptr) return environment;
  const auto address = instance->attributes.find(std::string(model::attribute_host_address));
  if (address == instance->attributes.end()) return environment;
  environment[std::string(gang_address_variable)] = address->second;
  environment[std::string(master_address_variable)] = address->second;
  environment["MASTER_PORT"] = master_port;
  return environment;
}

std::expected<std::vector<model::TaskArn>, std::vector<placement::Refusal>> start_gang(
    Step& step, const TaskPlan& plan, int32_t count) {
  std::vector<placement::Placement> placements;
  {
    placement::Rehearsal rehearsal(step.engine, step.state(), plan.task.cluster);
    for (int32_t i = 0; i < count; ++i) {
      auto placed = step.engine.place(rehearsal.state(), plan.request, step.random);
      if (!placed) return std::unexpected(std::move(placed).error());
      model::Task task = plan.task;
      task.arn =
          model::task_arn(step.settings.account, task.cluster, base::format("rehearsal-{}", i));
      rehearsal.place(std::move(task), *placed);
      placements.push_back(std::move(*placed));
    }
  }
  std::vector<model::TaskArn> started;
  const model::InstanceArn first = placements.front().instance;
  for (placement::Placement& placement : placements) {
    TaskPlan member = plan;
    member.task.gang_environment = gang_environment(step, plan.task, started.size(), first);
    started.push_back(start_planned_task(step, member, std::move(placement)).arn);
  }
  return started;
}

}  // namespace control
