#include <set>

#include "base/arn.h"
#include "base/text.h"
#include "control/tasks/definition/rules.h"
#include "control/tasks/secret_references.h"
#include "model/reserved_variables.h"

namespace control {
namespace {

// A role's name, or "arn:aws:iam::123456789012:role/path/name".
bool is_role(std::string_view text) {
  if (text.starts_with("arn:")) {
    const auto arn = base::parse_arn(text);
    return arn && arn->service == "iam" && arn->resource_type() == "role" &&
           !arn->resource_id().empty();
  }
  // Source: IAM API reference, CreateRole, RoleName.
  return text.size() <= 64 &&
         std::ranges::all_of(text, [](char c) { return base::is_plain(c, "+=,.@-_"); });
}

base::Result<void> check_role(std::string_view member, const std::optional<std::string>& role) {
  if (!role || role->empty() || is_role(*role)) return {};
  return client_error(base::format("{} is \"{}\"; it must be the name or the ARN of an IAM role.",
                                   member, role->substr(0, 256)));
}

base::Result<void> check_references(const Container& container, std::string_view member,
                                    const api::List<api::ecs::Secret>& secrets) {
  std::set<std::string> names;
  for (const api::ecs::Secret& secret : secrets) {
    const std::string name = secret.name.value_or("");
    if (name.empty()) {
      return invalid_setting(container, base::format("A secret in {} has no name.", member));
    }
    if (model::is_reserved_variable(name)) {
      return invalid_setting(
          container,
          base::format("The secret {} in {} has the name of a variable that Berth sets, from the "
                       "GPUs that the task is given: give it another name.",
                       name, member));
    }
    if (!names.insert(name).second) {
      return invalid_setting(container,
                             base::format("Two secrets in {} are named {}.", member, name));
    }
    const auto reference = parse_secret_reference(secret.value_from.value_or(""));
    if (!reference) {
      return invalid_setting(
          container, base::format("Secret {} in {}: {}", name, member, reference.error().message));
    }
  }
  return {};
}

}  // namespace

base::Result<void> check_roles(const Registration& request) {
  TRY_VOID(check_role("taskRoleArn", request.task_role_arn));
  return check_role("executionRoleArn", request.execution_role_arn);
}

base::Result<void> check_secrets(const Registration& request, const Container& container) {
  TRY_VOID(check_references(container, "secrets", container.secrets));
  const auto& log = container.log_configuration;
  if (log) {
    TRY_VOID(check_references(container, "logConfiguration.secretOptions", log->secret_options));
  }
  for (const api::ecs::Secret& secret : container.secrets) {
    for (const api::ecs::KeyValuePair& variable : container.environment) {
      if (variable.name != secret.name) continue;
      return client_error(base::format(
          "The secret name must be unique and not shared with any new or existing environment "
          "variables set on the container, such as '{}'.",
          secret.name.value_or("")));
    }
  }
  const auto& registry = container.repository_credentials;
  if (registry && registry->credentials_parameter.value_or("").empty()) {
    return invalid_setting(container,
                           "repositoryCredentials needs credentialsParameter, the ARN of a secret "
                           R"(that is {"username": "...", "password": "..."}.)");
  }
  if (registry && request.execution_role_arn.value_or("").empty()) {
    return client_error(
        "When you are specifying repositoryCredentials, you must also specify a value for "
        "'executionRoleArn'. Any role's name will do: its key reaches the secrets that this task "
        "definition names.");
  }
  const bool needs_role = !container.secrets.empty() || (log && !log->secret_options.empty());
  if (needs_role && request.execution_role_arn.value_or("").empty()) {
    return client_error(base::format(
        "When you are specifying container secrets, you must also specify a value for "
        "'executionRoleArn'. Container '{}' has secrets; any role's name will do: its key reaches "
        "those that the task definition names.",
        container.name.value_or("")));
  }
  return {};
}

}  // namespace control
