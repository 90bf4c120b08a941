// Access keys and who stands behind them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

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

using Access = std::variant<FullAccess, AgentAccess>;

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

// The keys that a server accepts, by access key id. A plain value: not synchronised.
class KeyRing {
 public:
  // A key of the same id is replaced.
  void put(AccessKey key);
  void remove(std::string_view access_key_id);
  // Null when there is none; valid until the ring changes.
  const AccessKey* find(std::string_view access_key_id) const;
  size_t size() const { return keys_.size(); }

 private:
  std::map<std::string, AccessKey, std::less<>> keys_;
};

}  // namespace auth
