// The keys of the tasks' roles: in memory only, as the control plane sends them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "acs/payload.h"
#include "agent/core/core.h"
#include "agent/secrets.h"

namespace agent {

inline constexpr std::string_view task_role = "TaskApplication";
inline constexpr std::string_view execution_role = "TaskExecution";

// Belongs to one thread.
class TaskCredentials {
 public:
  // New keys, or the same role's refreshed ones.
  void set(core::CredentialsSet given);
  // Drops the keys of all tasks that it is false for: those that have stopped, whose keys the
  // control plane takes no longer.
  void retain(const std::function<bool(const std::string& task_arn)>& is_live);

  // nullopt: the task has no execution role, or its keys have not come.
  Keys execution_keys(const std::string& task_arn) const;
  // The keys that containers may have. An execution role's are the agent's only, whoever knows the
  // id. nullptr without any.
  const acs::IAMRoleCredentials* find_task_role(std::string_view credentials_id) const;

 private:
  std::map<std::string, acs::IAMRoleCredentials> task_roles_;       // By task.
  std::map<std::string, acs::IAMRoleCredentials> execution_roles_;  // By task.
};

}  // namespace agent
