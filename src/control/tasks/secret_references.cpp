#include "control/tasks/secret_references.h"

#include "base/arn.h"
#include "base/format.h"
#include "control/request/errors.h"

namespace control {
namespace {

// The ARN of a secret without ":json-key:version-stage:version-id".
std::string bare_secret_arn(std::string_view arn) {
  size_t end = 0;
  for (int colons = 0; colons < 7 && end != std::string_view::npos; ++colons) {
    end = arn.find(':', colons == 0 ? 0 : end + 1);
  }
  return std::string(arn.substr(0, end));
}

// "/app/token" of "arn:aws:ssm:...:parameter/app/token", "token" of "...:parameter/token".
std::string parameter_name_of(const std::string& value_from) {
  const auto arn = base::parse_arn(value_from);
  if (!arn) return value_from;
  const std::string_view path = arn->resource_id();
  return base::format("{}{}", path.contains('/') ? "/" : "", path);
}

acs::Secret make_secret(const api::ecs::Secret& secret, const std::string& region,
                        std::string_view type, std::string_view target) {
  acs::Secret made;
  made.name = secret.name.value_or("");
  made.value_from = secret.value_from.value_or("");
  made.type = type;
  made.target = target;
  const auto reference = parse_secret_reference(made.value_from);
  const bool asm_secret = reference && reference->provider == SecretProvider::SecretsManager;
  made.provider = asm_secret ? "asm" : "ssm";
  made.region = reference && !reference->region.empty() ? reference->region : region;
  // An official agent looks for the answer under what it has asked for, and SSM answers with names.
  if (!asm_secret) made.value_from = parameter_name_of(made.value_from);
  return made;
}

}  // namespace

base::Result<SecretReference> parse_secret_reference(std::string_view value_from) {
  if (value_from.empty()) return client_error("valueFrom is empty.");
  if (!value_from.starts_with("arn:")) {
    return SecretReference{SecretProvider::Ssm, {}, std::string(value_from)};
  }
  const auto arn = base::parse_arn(value_from);
  if (arn && arn->service == "ssm" && arn->resource_type() == "parameter") {
    return SecretReference{SecretProvider::Ssm, std::string(arn->region), std::string(value_from)};
  }
  if (arn && arn->service == "secretsmanager") {
    return SecretReference{SecretProvider::SecretsManager, std::string(arn->region),
                           bare_secret_arn(value_from)};
  }
  return client_error(
      base::format("valueFrom \"{}\" names no secret: give the name or ARN of a parameter of SSM, "
                   "or the ARN of a "
                   "secret of Secrets Manager.",
                   value_from));
}

std::string secret_id_of(std::string_view value_from) {
  const auto reference = parse_secret_reference(value_from);
  return reference ? reference->id : std::string(value_from);
}

std::vector<acs::Secret> secrets_of(const api::ecs::ContainerDefinition& container,
                                    const std::string& region) {
  std::vector<acs::Secret> made;
  for (const api::ecs::Secret& secret : container.secrets) {
    made.push_back(make_secret(secret, region, "ENVIRONMENT_VARIABLE", "CONTAINER"));
  }
  if (!container.log_configuration) return made;
  for (const api::ecs::Secret& secret : container.log_configuration->secret_options) {
    made.push_back(make_secret(secret, region, "BOOTSTRAP", "LOG_DRIVER"));
  }
  return made;
}

}  // namespace control
