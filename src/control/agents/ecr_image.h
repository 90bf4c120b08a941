// Images of Amazon ECR's private registries, which nobody may pull without a token.
// Source: Amazon ECR User Guide, "Private registry": aws_account_id.dkr.ecr.region.amazonaws.com.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace control {

struct EcrRegistry {
  std::string id;  // The account that owns it.
  std::string region;
  friend bool operator==(const EcrRegistry&, const EcrRegistry&) = default;
};

// nullopt for an image of any other registry.
std::optional<EcrRegistry> ecr_registry_of(std::string_view image);

}  // namespace control
