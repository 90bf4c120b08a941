// Makes every secret that a server gives out from its one master key and public names, so that none
// of them has to be kept: agents' secret keys, join tokens, the ids and keys of tasks' roles.
// A copy of the records alone therefore opens nothing. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/access.h"
#include "base/time.h"

namespace auth {

// A temporary key of a task's role.
struct RoleSession {
  std::string account;
  std::string role_arn;
  std::string role_type;  // "TaskApplication" or "TaskExecution".
  TaskAccess access;
  base::Time expires;
};

class KeyDerivation {
 public:
  // `master_key` is 32 unpredictable bytes. An empty one is for tests only.
  explicit KeyDerivation(std::string master_key) : master_key_(std::move(master_key)) {}

  // 40 characters. `access_key_id` is no secret.
  std::string agent_secret(std::string_view access_key_id) const;

  // "berth-join.<id>.<40 hex digits>".
  std::string join_token(std::string_view id) const;
  // The id in a token that this one has made; nullopt for any other text.
  std::optional<std::string> join_token_id(std::string_view token) const;

  // The same for all keys that one task's role gets in turn: agents serve them under it to whoever
  // knows it, so it is as hard to guess as a key.
  std::string credentials_id(std::string_view task, std::string_view role_type) const;

  // The key with its session token. Its claims are signed, not hidden.
  AccessKey session_key(const RoleSession& session) const;
  // The key that session_key() made with that token, past its time or not; nullopt for others.
  std::optional<AccessKey> find_session(std::string_view access_key_id,
                                        std::string_view session_token) const;

 private:
  std::string derive(std::string_view purpose, std::string_view name) const;

  std::string master_key_;
};

}  // namespace auth
