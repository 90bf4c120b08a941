// Secrets and registry passwords, which the agent fetches with the keys of a task's execution role.
// Values are in no log and no journal.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acs/payload.h"
#include "agent/api_client.h"
#include "agent/core/runtime.h"
#include "docker/runtime.h"

namespace agent {

// valueFrom of Secrets Manager: an ARN, perhaps followed by ":json-key:version-stage:version-id",
// each of which may be empty. Source: ECS Developer Guide, "Secrets Manager, ARN formats".
struct SecretReference {
  std::string id;
  std::string json_key;
  std::string version_stage;
  std::string version_id;
  friend bool operator==(const SecretReference&, const SecretReference&) = default;
};
SecretReference parse_secret_reference(std::string_view value_from);

using Keys = std::optional<auth::Credentials>;  // nullopt: the agent's own.
template <class T>
using SetupResult = std::expected<T, core::OperationError>;

// The values by the place of the secret in `secrets`. Blocks.
// Errors: "ResourceInitializationError", in ECS's words.
SetupResult<std::vector<std::string>> fetch_secrets(ApiClient& api,
                                                    const std::vector<acs::Secret>& secrets,
                                                    const Keys& keys);

// The message without the values of the request's secrets, which its body has: Docker quotes what
// it refuses.
std::string without_secrets(std::string message, const core::CreateContainer& request);
// The same of a container that is there: of its log options those that its label
// core::secret_log_options_label names.
std::string without_secrets(std::string message, const docker::ContainerState& container);

// The password that the payload's registryAuthentication means. Blocks.
// Errors: "CannotPullContainerError".
SetupResult<docker::RegistryAuth> fetch_registry_auth(
    ApiClient& api, const acs::RegistryAuthentication& authentication, const Keys& keys);

}  // namespace agent
