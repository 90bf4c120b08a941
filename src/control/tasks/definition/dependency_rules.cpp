#include <map>
#include <set>

#include "control/tasks/definition/rules.h"

namespace control {
namespace {

using api::ecs::ContainerCondition;

bool has_health_check(const Container& container) {
  return container.health_check && !container.health_check->command.empty() &&
         container.health_check->command.front() != "NONE";
}

// Source: ECS API reference, ContainerDependency.
base::Result<void> check_dependency(const Registration& request, const Container& container,
                                    const api::ecs::ContainerDependency& dependency) {
  const std::string name = dependency.container_name.value_or("");
  const Container* const on = find_container(request, name);
  if (on == nullptr || on == &container) {
    return invalid_setting(container,
                           base::format("dependsOn names {} '{}'.",
                                        on == nullptr ? "a container that the task does not have:"
                                                      : "the container itself:",
                                        name));
  }
  if (!dependency.condition) {
    return invalid_setting(container,
                           base::format("dependsOn '{}' needs a condition: START, COMPLETE, "
                                        "SUCCESS or HEALTHY.",
                                        name));
  }
  const bool to_its_end = *dependency.condition == ContainerCondition::Complete ||
                          *dependency.condition == ContainerCondition::Success;
  if (to_its_end && on->essential.value_or(true)) {
    return client_error(base::format(
        "A dependency container with SUCCESS or COMPLETE condition cannot be an essential "
        "container. Container '{}' waits for the end of '{}': set essential to false there.",
        container.name.value_or(""), name));
  }
  if (*dependency.condition == ContainerCondition::Healthy && !has_health_check(*on)) {
    return invalid_setting(
        container,
        base::format("It depends on '{}' being HEALTHY, which has no healthCheck.", name));
  }
  return {};
}

// Whom each container waits for: links and volumesFrom count like dependsOn.
std::map<std::string, std::vector<std::string>> waits(const Registration& request) {
  std::map<std::string, std::vector<std::string>> all;
  for (const Container& container : request.container_definitions) {
    auto& on = all[container.name.value_or("")];
    for (const auto& one : container.depends_on) on.push_back(one.container_name.value_or(""));
    for (const std::string& link : container.links) on.emplace_back(linked_container(link));
    for (const auto& one : container.volumes_from) on.push_back(one.source_container.value_or(""));
  }
  return all;
}

// Takes away, again and again, whoever waits for nobody; who is left is in a circle or behind one.
base::Result<void> check_circles(const Registration& request) {
  auto left = waits(request);
  for (bool moved = true; moved;) {
    moved = false;
    for (auto one = left.begin(); one != left.end();) {
      std::erase_if(one->second, [&](const std::string& name) { return !left.contains(name); });
      moved = moved || one->second.empty();
      one = one->second.empty() ? left.erase(one) : std::next(one);
    }
  }
  if (left.empty()) return {};
  std::set<std::string> seen;
  std::string name = left.begin()->first;
  while (seen.insert(name).second) name = left.at(name).front();
  std::string circle = name;
  std::string next = name;
  do {
    next = left.at(next).front();
    circle += " -> " + next;
  } while (next != name);
  return client_error(base::format(
      "The containers wait for each other in a circle (dependsOn, links and volumesFrom): {}.",
      circle));
}

}  // namespace

base::Result<void> check_dependencies(const Registration& request) {
  for (const Container& container : request.container_definitions) {
    for (const api::ecs::ContainerDependency& dependency : container.depends_on) {
      TRY_VOID(check_dependency(request, container, dependency));
    }
  }
  return check_circles(request);
}

}  // namespace control
