#include "agent/task_credentials.h"

#include <utility>

namespace agent {

void TaskCredentials::set(core::CredentialsSet given) {
  auto& roles = given.role_type == execution_role ? execution_roles_ : task_roles_;
  roles[given.task_arn] = std::move(given.credentials);
}

void TaskCredentials::retain(const std::function<bool(const std::string&)>& is_live) {
  for (auto* const roles : {&task_roles_, &execution_roles_}) {
    std::erase_if(*roles, [&](const auto& entry) { return !is_live(entry.first); });
  }
}

Keys TaskCredentials::execution_keys(const std::string& task_arn) const {
  const auto found = execution_roles_.find(task_arn);
  if (found == execution_roles_.end()) return std::nullopt;
  const acs::IAMRoleCredentials& keys = found->second;
  return auth::Credentials{keys.access_key_id, keys.secret_access_key, keys.session_token};
}

const acs::IAMRoleCredentials* TaskCredentials::find_task_role(
    std::string_view credentials_id) const {
  for (const auto& [task, keys] : task_roles_) {
    if (keys.credentials_id == credentials_id) return &keys;
  }
  return nullptr;
}

}  // namespace agent
