// Who a caller is and what its key is for.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"

namespace auth {

// The key may do everything.
struct FullAccess {
  friend bool operator==(const FullAccess&, const FullAccess&) = default;
};

// The key of an agent: only what a container instance needs, and only for its own cluster.
struct AgentAccess {
  std::string cluster;             // Name, not ARN.
  std::string container_instance;  // ARN; empty until the instance has registered.
  friend bool operator==(const AgentAccess&, const AgentAccess&) = default;
};

// The temporary key of a task's role: it reaches what the task's definition names, nothing else.
struct TaskAccess {
  std::string task;                     // ARN.
  std::vector<std::string> log_groups;  // Names.
  std::vector<std::string> secrets;     // As the definition spells them: names or ARNs.
  // The access key id of the agent that was given it, and with which it ends; empty: of an agent
  // with a full key.
  std::string through = {};
  friend bool operator==(const TaskAccess&, const TaskAccess&) = default;
};

// Nobody has signed: only for what brings a proof of its own.
struct NoAccess {
  friend bool operator==(const NoAccess&, const NoAccess&) = default;
};

using Access = std::variant<FullAccess, AgentAccess, TaskAccess, NoAccess>;

struct AccessKey {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;  // Empty for a long-lived key.
  std::string account;        // "123456789012".
  std::string arn;            // The principal, "arn:aws:iam::123456789012:root".
  std::string user_id;        // As STS GetCallerIdentity answers it.
  Access access = FullAccess{};
  std::optional<base::Time> expires = std::nullopt;  // Temporary keys only.
};

// Who sent a verified request.
struct Caller {
  std::string access_key_id;
  std::string arn;
  std::string account;
  std::string user_id;
  std::string service;  // From the credential scope: "ecs", "logs", "sts".
  Access access = FullAccess{};
  friend bool operator==(const Caller&, const Caller&) = default;
};

}  // namespace auth
