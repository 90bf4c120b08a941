// How task definitions name secrets: a parameter of SSM by its name or ARN, a secret of Secrets
// Manager by its ARN, with a JSON key, version stage and version id behind it where only a part is
// meant. Source: ECS API reference, "Secret", valueFrom.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "acs/payload.h"
#include "api/generated/ecs.h"
#include "base/result.h"

namespace control {

enum class SecretProvider : uint8_t { Ssm, SecretsManager };

struct SecretReference {
  SecretProvider provider = SecretProvider::Ssm;
  std::string region;  // Of an ARN; empty: the task's own.
  std::string id;      // What names it in the service's own calls.
};

// Errors: ClientException saying what `value_from` must look like.
base::Result<SecretReference> parse_secret_reference(std::string_view value_from);

// The id of the reference; the text itself when it is none.
std::string secret_id_of(std::string_view value_from);

// The container's secrets and those of its log driver, as an agent wants them.
std::vector<acs::Secret> secrets_of(const api::ecs::ContainerDefinition& container,
                                    const std::string& region);

}  // namespace control
