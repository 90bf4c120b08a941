// Temporary keys of the roles of tasks: of the role that its containers have (taskRoleArn), and of
// the one with which the agent fetches what they need (executionRoleArn).
// Source: ECS Developer Guide, "Task IAM role" and "Task execution IAM role".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acs/payload.h"
#include "base/due_table.h"
#include "base/time.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

enum class RoleType : uint8_t { TaskApplication, TaskExecution };
inline constexpr RoleType role_types[] = {RoleType::TaskApplication, RoleType::TaskExecution};

// "TaskApplication", "TaskExecution".
std::string_view to_string(RoleType type);

// The ARN of the task's role; empty when it has none. A role's short name is completed.
std::string role_arn(const Step& step, const model::Task& task, RoleType type);

// A key that is good from now on for Settings::credentials_lifetime and reaches the log groups and
// secrets that the task's definition names; nullopt for a task without that role. `through` is the
// access key id of the agent that gets it: where it is an agent's own, the key ends with that one.
std::optional<acs::IAMRoleCredentials> role_credentials(const Step& step, const model::Task& task,
                                                        RoleType type,
                                                        const std::string& through = {});

// When which task's keys have to be sent to its agent: again until it acknowledges them, and anew
// before they expire. In memory only: after a restart all are sent anew.
class RoleSchedule {
 public:
  struct Key {
    model::TaskArn task;
    RoleType type = RoleType::TaskApplication;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  bool knows(const Key& key) const { return entries_.contains(key); }
  // It was sent under this credentials id, and is to be sent again at `retry_at` unless the agent
  // acknowledges it, then anew at `renew_at`.
  void sent(const Key& key, const std::string& credentials_id, base::Time retry_at,
            base::Time renew_at);
  void acknowledged(const std::string& credentials_id);
  void forget(const model::TaskArn& task);
  // Those that are due; each stays due until sent() or forget_key().
  std::vector<Key> due(base::Time now) const { return due_.due(now); }
  void forget_key(const Key& key);
  base::Time next() const { return due_.next(); }

 private:
  struct Entry {
    std::string credentials_id;
    base::Time renew_at;
  };

  std::map<Key, Entry> entries_;
  std::map<std::string, Key> of_id_;
  base::DueTable<Key> due_;
};

}  // namespace control
