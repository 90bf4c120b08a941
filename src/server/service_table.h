// The AWS services that this server answers for, a row each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/service.h"
#include "control/step/action.h"

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
  // Who answers the operation, whose action in the core is given, or null. nullopt: Berth does not
  // offer it.
  std::optional<Destination> (*destination)(const api::Operation&, const control::Action*);
};

// The names that credential scopes may have.
std::vector<std::string> service_names();
// By the name in a credential scope; nullptr: none of ours.
const ServiceRow* find_service(std::string_view name);
// By the value of X-Amz-Target; nullptr: none of ours speaks so.
const ServiceRow* find_service_of_target(std::string_view target);

}  // namespace server
