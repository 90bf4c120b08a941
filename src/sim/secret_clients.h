// Those who keep secrets: parameters of SSM and secrets of Secrets Manager.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/caller.h"
#include "sim/environment.h"
#include "sim/workloads/workload.h"

namespace sim {

// Every value has it, and nothing else.
inline constexpr std::string_view secret_mark = "hush-";

// A parameter of SSM, or else a secret of Secrets Manager.
inline bool is_parameter(std::string_view secret) {
  return secret.starts_with('/');
}

// The secret of which a variable is a member is a JSON object with this one.
inline constexpr std::string_view secret_member = "member";

class SecretClients {
 public:
  // The references outlive it.
  SecretClients(Environment& environment, Caller& caller)
      : environment_(environment), caller_(caller) {}

  void act(const PlannedSecretCall& call);

 private:
  void put(const std::string& secret);
  void create(const std::string& secret, const std::string& value, const std::string& token);
  void replace(const std::string& secret, const std::string& value, const std::string& token);
  void remove(const std::string& secret);

  Environment& environment_;
  Caller& caller_;
  uint64_t values_ = 0;
};

}  // namespace sim
