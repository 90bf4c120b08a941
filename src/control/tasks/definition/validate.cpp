#include "control/tasks/definition/validate.h"

#include <algorithm>
#include <set>

#include "api/json.h"
#include "control/request/tags.h"
#include "control/tasks/definition/rules.h"
#include "placement/place.h"

namespace control {
namespace {

base::Result<void> check_family(const Registration& request) {
  const std::string& family = request.family.value_or("");
  if (family.empty()) return client_error("Family should not be null or empty.");
  if (!is_plain_name(family)) {
    return client_error(base::format(
        "Family contains invalid characters. \"{}\" must be at most 255 letters, digits, hyphens "
        "and underscores.",
        family.substr(0, 255)));
  }
  return {};
}

base::Result<void> check_size(const Registration& request) {
  const size_t bytes = api::print(request).size();
  if (bytes > most_definition_bytes) {
    return client_error(base::format(
        "Actual length: '{}'. Max allowed length is '{}' bytes. The task definition is too large.",
        bytes, most_definition_bytes));
  }
  return {};
}

base::Result<void> check_containers(const Registration& request) {
  const auto& containers = request.container_definitions;
  if (containers.empty()) return client_error("Container list cannot be empty.");
  if (containers.size() > most_containers) {
    return client_error(
        base::format("The task definition has {} containers; it can have at most {}.",
                     containers.size(), most_containers));
  }
  std::set<std::string> names;
  for (const Container& container : containers) {
    TRY_VOID(check_container(container));
    TRY_VOID(check_linux(request, container));
    TRY_VOID(check_log_configuration(container));
    TRY_VOID(check_secrets(request, container));
    if (!names.insert(container.name.value_or("")).second) {
      return client_error(base::format("Container names must be unique: two are named '{}'.",
                                       container.name.value_or("")));
    }
  }
  const bool essential = std::ranges::any_of(
      containers, [](const Container& container) { return container.essential.value_or(true); });
  if (!essential) {
    return client_error(
        "At least one container should be essential: set essential to true, or leave it out, in "
        "the container whose end is the task's end.");
  }
  return {};
}

base::Result<void> check_placement_constraints(const Registration& request) {
  if (request.placement_constraints.size() > 10) {
    return invalid_parameter(
        base::format("The task definition has {} placement constraints; a task can have at most "
                     "10.",
                     request.placement_constraints.size()));
  }
  api::List<api::ecs::PlacementConstraint> constraints;
  for (const auto& constraint : request.placement_constraints) {
    if (!constraint.type) {
      return invalid_parameter(
          "A placement constraint of a task definition has the type memberOf.");
    }
    api::ecs::PlacementConstraint& made = constraints.emplace_back();
    made.type = api::ecs::PlacementConstraintType::MemberOf;
    made.expression = constraint.expression;
  }
  return placement::validate(constraints, {});
}

}  // namespace

const Container* find_container(const Registration& request, std::string_view name) {
  const auto found = std::ranges::find_if(request.container_definitions, [&](const Container& one) {
    return one.name.value_or("") == name;
  });
  return found == request.container_definitions.end() ? nullptr : &*found;
}

base::Result<void> validate_task_definition(const Registration& request) {
  TRY_VOID(check_family(request));
  TRY_VOID(check_size(request));
  TRY_VOID(refuse_unsupported(request));
  TRY_VOID(check_roles(request));
  TRY_VOID(check_containers(request));
  (void)TRY(gpu_requests_of(request));
  TRY_VOID(check_resources(request));
  TRY_VOID(check_network(request));
  TRY_VOID(check_volumes(request));
  TRY_VOID(check_dependencies(request));
  TRY_VOID(check_placement_constraints(request));
  return check_tags(request.tags, "task definition");
}

}  // namespace control
