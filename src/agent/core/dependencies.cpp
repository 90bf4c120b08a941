#include "agent/core/dependencies.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "agent/core/container_network.h"
#include "agent/core/task.h"
#include "base/format.h"

namespace agent::core {
namespace {

constexpr std::string_view dependency_error = "TaskDependencyError";

std::unexpected<base::Error> unresolved(std::string why) {
  return base::fail(std::string(dependency_error),
                    "Task dependencies cannot be resolved: " + std::move(why));
}

std::optional<size_t> index_of(const acs::Task& task, std::string_view name) {
  for (size_t i = 0; i < task.containers.size(); ++i) {
    if (task.containers[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<Condition> parse_condition(std::string_view text) {
  if (text == "START") return Condition::Start;
  if (text == "COMPLETE") return Condition::Complete;
  if (text == "SUCCESS") return Condition::Success;
  if (text == "HEALTHY") return Condition::Healthy;
  return std::nullopt;
}

std::string_view name_of(Condition condition) {
  constexpr std::array<std::string_view, 5> names{"CREATED", "START", "COMPLETE", "SUCCESS",
                                                  "HEALTHY"};
  return names[static_cast<size_t>(condition)];
}

// The control plane writes the type in lower case; any other spelling is no Docker health check.
bool has_health_check(const acs::Container& container) {
  return container.health_check_type == "docker" && container.docker_config &&
         container.docker_config->config.find("\"Healthcheck\"") != std::string::npos;
}

base::Result<size_t> named(const acs::Task& task, const acs::Container& from, std::string_view name,
                           std::string_view member) {
  const std::optional<size_t> index = index_of(task, name);
  if (!index) {
    return unresolved(base::format("container '{}' names the unknown container '{}' in {}.",
                                   from.name, name, member));
  }
  return *index;
}

base::Result<std::vector<Dependency>> dependencies_of(const acs::Task& task,
                                                      const acs::Container& container) {
  std::vector<Dependency> all;
  for (const acs::ContainerDependency& given : container.depends_on) {
    const size_t on = TRY(named(task, container, given.container_name, "dependsOn"));
    const std::optional<Condition> condition = parse_condition(given.condition);
    if (!condition) {
      return unresolved(base::format("container '{}' depends on the unknown condition '{}'.",
                                     container.name, given.condition));
    }
    if (*condition == Condition::Healthy && !has_health_check(task.containers[on])) {
      return unresolved(base::format(
          "container '{}' waits for '{}' to be HEALTHY, which has no Docker health check.",
          container.name, given.container_name));
    }
    all.push_back({on, *condition, false});
  }
  for (const std::string& link : container.links) {
    const std::string_view name = std::string_view(link).substr(0, link.find(':'));
    all.push_back({TRY(named(task, container, name, "links")), Condition::Start, true});
  }
  for (const acs::VolumeFrom& from : container.volumes_from) {
    const size_t on = TRY(named(task, container, from.source_container, "volumesFrom"));
    all.push_back({on, Condition::Created, true});
  }
  // The holder of the namespaces that the others join comes first and goes last.
  const std::optional<size_t> pause = pause_index(task);
  if (pause && !is_pause(container)) all.push_back({*pause, Condition::Start, true});
  return all;
}

// Takes containers away whose dependencies are gone; what is left lies on a cycle or behind one.
bool has_cycle(const std::vector<std::vector<Dependency>>& graph) {
  std::vector<bool> gone(graph.size(), false);
  bool progress = true;
  while (progress) {
    progress = false;
    for (size_t i = 0; i < graph.size(); ++i) {
      if (gone[i]) continue;
      if (!std::ranges::all_of(graph[i], [&](const Dependency& d) { return gone[d.on]; })) continue;
      gone[i] = true;
      progress = true;
    }
  }
  return std::ranges::find(gone, false) != gone.end();
}

bool is_met(const Task& task, const Dependency& dependency) {
  const ContainerRecord& on = task.record.containers[dependency.on];
  const bool ended = on.status == ContainerStatus::Stopped && on.started_at;
  switch (dependency.condition) {
    case Condition::Created:
      return !on.runtime_id.empty();
    case Condition::Start:
      return on.status == ContainerStatus::Running || ended;
    case Condition::Complete:
      return ended;
    case Condition::Success:
      return ended && on.exit_code == 0;
    case Condition::Healthy:
      return on.status == ContainerStatus::Running &&
             task.work[dependency.on].health == HealthStatus::Healthy;
  }
  return false;
}

// The time at which waiting ends: the startTimeout of the container that is waited for.
std::optional<base::Time> deadline(const Task& task, const Dependency& dependency) {
  const ContainerRecord& on = task.record.containers[dependency.on];
  const std::optional<int32_t>& timeout = task.payload.containers[dependency.on].start_timeout;
  if (!timeout || *timeout <= 0 || !on.started_at) return std::nullopt;
  return *on.started_at + std::chrono::seconds(*timeout);
}

Gate gate(const Task& task, const Dependency& dependency, base::Time now) {
  if (is_met(task, dependency)) return {.open = true, .failure = {}, .check = {}};
  const ContainerRecord& on = task.record.containers[dependency.on];
  if (on.status == ContainerStatus::Stopped) {
    return {.open = false,
            .failure = base::format(
                "container '{}' stopped{}, so that its condition {} cannot be met.", on.name,
                on.exit_code ? base::format(" with exit code {}", *on.exit_code)
                             : std::string(" without having started"),
                name_of(dependency.condition)),
            .check = {}};
  }
  const std::optional<base::Time> end = deadline(task, dependency);
  if (end && now >= *end) {
    return {.open = false,
            .failure = base::format(
                "container '{}' did not meet the condition {} within its startTimeout of {} s.",
                on.name, name_of(dependency.condition),
                *task.payload.containers[dependency.on].start_timeout),
            .check = {}};
  }
  return {.open = false, .failure = {}, .check = end};
}

void add(Gate& combined, const Gate& one) {
  combined.open = combined.open && one.open;
  if (combined.failure.empty()) combined.failure = one.failure;
  if (one.check) combined.check = std::min(combined.check.value_or(*one.check), *one.check);
}

}  // namespace

base::Result<std::vector<std::vector<Dependency>>> dependency_graph(const acs::Task& task) {
  std::vector<std::vector<Dependency>> graph;
  for (const acs::Container& container : task.containers) {
    graph.push_back(TRY(dependencies_of(task, container)));
  }
  if (has_cycle(graph)) return unresolved("the containers wait for each other in a circle.");
  return graph;
}

Gate create_gate(const Task& task, size_t index, base::Time now) {
  Gate combined{.open = true, .failure = {}, .check = {}};
  for (Dependency dependency : task.dependencies[index]) {
    if (!dependency.to_create) continue;
    // To be created it is enough that the other container exists; to be started it must run.
    dependency.condition = Condition::Created;
    add(combined, gate(task, dependency, now));
  }
  return combined;
}

Gate start_gate(const Task& task, size_t index, base::Time now) {
  Gate combined{.open = true, .failure = {}, .check = {}};
  for (const Dependency& dependency : task.dependencies[index]) {
    add(combined, gate(task, dependency, now));
  }
  return combined;
}

bool may_stop(const Task& task, size_t index) {
  for (size_t other = 0; other < task.dependencies.size(); ++other) {
    if (task.record.containers[other].status == ContainerStatus::Stopped) continue;
    const bool depends = std::ranges::any_of(task.dependencies[other], [&](const Dependency& d) {
      return d.on == index && d.condition != Condition::Created;
    });
    if (depends) return false;
  }
  return true;
}

}  // namespace agent::core
