// The AWS services that this server answers for, a row each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/service.h"

namespace server {

// Who answers an operation.
enum class Destination : uint8_t {
  Core,            // The cluster's state.
  Logs,            // The log store.
  Secrets,         // The secret store.
  CallerIdentity,  // Known from the signature.
  ExecuteCommand,  // Sessions are no part of the cluster's state.
  SessionManager,  // What clients ask of a session of ExecuteCommand.
};

struct ServiceRow {
  const api::Service& (*service)();
  size_t body_limit;  // Bytes.
  // nullopt: Berth does not offer the operation.
  std::optional<Destination> (*destination)(const api::Service&, const api::Operation&);
};

// The names that credential scopes may have.
std::vector<std::string> service_names();
// By the name in a credential scope; nullptr: none of ours.
const ServiceRow* find_service(std::string_view name);
// By the value of X-Amz-Target; nullptr: none of ours speaks so.
const ServiceRow* find_service_of_target(std::string_view target);

}  // namespace server
