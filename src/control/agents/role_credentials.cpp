#include "control/agents/role_credentials.h"

#include <algorithm>

#include "auth/key_derivation.h"
#include "base/format.h"
#include "control/tasks/secret_references.h"

namespace control {
namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::ranges::find(list, text) == list.end()) list.push_back(text);
}

// What the definition names: the log groups of its containers, and their secrets.
auth::TaskAccess reach_of(const model::Task& task, const model::TaskDefinition& definition) {
  auth::TaskAccess reach{.task = task.arn.str(), .log_groups = {}, .secrets = {}};
  for (const auto& container : definition.definition.container_definitions) {
    if (const auto& log = container.log_configuration) {
      const auto group = log->options.find("awslogs-group");
      if (group != log->options.end()) add_once(reach.log_groups, group->second);
      for (const auto& secret : log->secret_options) {
        add_once(reach.secrets, secret_id_of(secret.value_from.value_or("")));
      }
    }
    for (const auto& secret : container.secrets) {
      add_once(reach.secrets, secret_id_of(secret.value_from.value_or("")));
    }
    if (const auto& registry = container.repository_credentials) {
      add_once(reach.secrets, registry->credentials_parameter.value_or(""));
    }
  }
  return reach;
}

}  // namespace

std::string_view to_string(RoleType type) {
  return type == RoleType::TaskApplication ? "TaskApplication" : "TaskExecution";
}

std::string role_arn(const Step& step, const model::Task& task, RoleType type) {
  const bool application = type == RoleType::TaskApplication;
  std::optional<std::string> role;
  if (task.overrides) {
    role = application ? task.overrides->task_role_arn : task.overrides->execution_role_arn;
  }
  if (role.value_or("").empty()) {
    const auto* const found = model::find_task_definition(step.state(), task.definition);
    if (found == nullptr) return {};
    role = application ? found->definition.task_role_arn : found->definition.execution_role_arn;
  }
  if (role.value_or("").empty() || role->starts_with("arn:")) return role.value_or("");
  return base::format("arn:aws:iam::{}:role/{}", step.settings.account.id, *role);
}

std::optional<acs::IAMRoleCredentials> role_credentials(const Step& step, const model::Task& task,
                                                        RoleType type, const std::string& through) {
  const std::string role = role_arn(step, task, type);
  const auto* const definition = model::find_task_definition(step.state(), task.definition);
  if (role.empty() || definition == nullptr) return std::nullopt;
  const auth::KeyDerivation derivation(step.settings.master_key);
  // The claims carry whole seconds, as the text of the expiration does.
  const base::Time expires =
      std::chrono::floor<std::chrono::seconds>(step.now + step.settings.credentials_lifetime);
  auth::TaskAccess reach = reach_of(task, *definition);
  if (step.state().agent_keys.contains(through)) reach.through = through;
  const auth::AccessKey key = derivation.session_key({.account = step.settings.account.id,
                                                      .role_arn = role,
                                                      .role_type = std::string(to_string(type)),
                                                      .access = std::move(reach),
                                                      .expires = expires});
  return acs::IAMRoleCredentials{
      .credentials_id = derivation.credentials_id(task.arn.str(), to_string(type)),
      .role_arn = role,
      .access_key_id = key.access_key_id,
      .secret_access_key = key.secret_access_key,
      .session_token = key.session_token,
      .expiration = base::format_rfc3339(expires),
      .credential_scope = {}};
}

void RoleSchedule::sent(const Key& key, const std::string& credentials_id, base::Time retry_at,
                        base::Time renew_at) {
  Entry& entry = entries_[key];
  entry.credentials_id = credentials_id;
  entry.renew_at = renew_at;
  of_id_[credentials_id] = key;
  due_.set(key, std::min(retry_at, renew_at));
}

void RoleSchedule::acknowledged(const std::string& credentials_id) {
  const auto found = of_id_.find(credentials_id);
  if (found == of_id_.end()) return;
  due_.set(found->second, entries_.at(found->second).renew_at);
}

void RoleSchedule::forget_key(const Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  due_.erase(key);
  of_id_.erase(found->second.credentials_id);
  entries_.erase(found);
}

void RoleSchedule::forget(const model::TaskArn& task) {
  for (const RoleType type : role_types) forget_key({task, type});
}

}  // namespace control
