#include "control/log_streams.h"

#include <algorithm>
#include <string>

#include "base/format.h"

namespace control {
namespace {

constexpr size_t container_id_digits = 64;

std::string_view option(const api::ecs::LogConfiguration& log, const std::string& name) {
  const auto found = log.options.find(name);
  return found == log.options.end() ? std::string_view() : found->second;
}

bool is_container_id(std::string_view name) {
  return name.size() == container_id_digits &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool container_writes(const api::ecs::ContainerDefinition& container, const model::Task& task,
                      std::string_view group, std::string_view stream) {
  if (!container.log_configuration) return false;
  const api::ecs::LogConfiguration& log = *container.log_configuration;
  if (log.log_driver != api::ecs::LogDriver::Awslogs || option(log, "awslogs-group") != group) {
    return false;
  }
  if (stream.empty()) return true;
  if (const auto named = option(log, "awslogs-stream"); !named.empty()) return stream == named;
  const std::string_view prefix = option(log, "awslogs-stream-prefix");
  if (prefix.empty()) return is_container_id(stream);
  return stream == base::format("{}/{}/{}", prefix, container.name.value_or(""),
                                model::short_id(task.arn.str()));
}

}  // namespace

bool writes_logs(const model::ClusterState& state, const model::InstanceArn& instance,
                 std::string_view group, std::string_view stream) {
  const model::ContainerInstance* const found = model::find_instance(state, instance);
  if (found == nullptr) return false;
  return std::ranges::any_of(found->tasks, [&](const model::TaskArn& arn) {
    const model::Task* const task = model::find_task(state, arn);
    const auto* const definition =
        task == nullptr ? nullptr : model::find_task_definition(state, task->definition);
    return definition != nullptr &&
           std::ranges::any_of(definition->definition.container_definitions,
                               [&](const api::ecs::ContainerDefinition& container) {
                                 return container_writes(container, *task, group, stream);
                               });
  });
}

}  // namespace control
