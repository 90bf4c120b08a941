#include "agent/secrets.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "agent/core/container_body.h"
#include "base/format.h"
#include "json/text.h"
#include "json/value.h"

namespace agent {
namespace {

constexpr size_t most_names = 10;  // Of one GetParameters.
constexpr int fetch_tries = 3;
constexpr base::Milliseconds between_tries = std::chrono::milliseconds(500);
constexpr std::string_view retrieval_failed =
    "unable to pull secrets or registry auth: execution resource retrieval failed: ";

core::OperationError retrieval_error(std::string message) {
  return {core::Cause::BadParameter, "ResourceInitializationError",
          std::string(retrieval_failed) + std::move(message)};
}

// One that does not answer is asked again.
ApiResult<json::Value> ask(ApiClient& api, const api::Service& service, std::string_view operation,
                           const json::Value& body, const Keys& keys) {
  ApiResult<std::string> answer;
  for (int i = 0; i < fetch_tries; ++i) {
    if (i > 0) std::this_thread::sleep_for(between_tries * i);
    answer = api.send(service, operation, json::print(body), {.credentials = keys});
    if (answer || answer.error().kind == ApiError::Kind::Refused) break;
  }
  if (!answer) return std::unexpected(std::move(answer).error());
  auto value = json::parse(*answer);
  if (!value) return std::unexpected(ApiError{value.error(), ApiError::Kind::Failed});
  return std::move(*value);
}

// The member of a secret that is a JSON object, or all of it.
SetupResult<std::string> part_of(const SecretReference& reference, std::string text) {
  if (reference.json_key.empty()) return text;
  const auto value = json::parse(text);
  const json::Value* const member = value ? value->find(reference.json_key) : nullptr;
  if (member == nullptr) {
    return std::unexpected(retrieval_error(
        base::format("retrieved secret from Secrets Manager did not contain json key {}: {}",
                     reference.json_key, reference.id)));
  }
  const std::string* const plain = member->as_string();
  return plain != nullptr ? *plain : json::print(*member);
}

SetupResult<std::string> fetch_one(ApiClient& api, const SecretReference& reference,
                                   const Keys& keys) {
  json::Value body = json::Value::object({{"SecretId", reference.id}});
  if (!reference.version_stage.empty()) body.set("VersionStage", reference.version_stage);
  if (!reference.version_id.empty()) body.set("VersionId", reference.version_id);
  const auto answer = ask(api, api::secretsmanager_service(), "GetSecretValue", body, keys);
  if (!answer) {
    return std::unexpected(retrieval_error(
        base::format("unable to retrieve secret from asm: failed to fetch secret {} from secrets "
                     "manager: {}: {}",
                     reference.id, answer.error().code, answer.error().message)));
  }
  const std::string* const text = (*answer)["SecretString"].as_string();
  if (text == nullptr) {
    return std::unexpected(retrieval_error(base::format(
        "the secret {} has no SecretString: binary secrets are not supported", reference.id)));
  }
  return part_of(reference, *text);
}

// Parameters are asked for by name or ARN and answered under either.
SetupResult<void> fetch_parameters(ApiClient& api, const std::vector<std::string>& names,
                                   const Keys& keys, std::map<std::string, std::string>& values) {
  for (size_t at = 0; at < names.size(); at += most_names) {
    const auto end = std::min(at + most_names, names.size());
    json::Value list = json::Value::array();
    for (size_t i = at; i < end; ++i) list.push(names[i]);
    const json::Value body =
        json::Value::object({{"Names", std::move(list)}, {"WithDecryption", true}});
    const auto answer = ask(api, api::ssm_service(), "GetParameters", body, keys);
    if (!answer) {
      return std::unexpected(
          retrieval_error(base::format("unable to retrieve secrets from ssm: {}: {}",
                                       answer.error().code, answer.error().message)));
    }
    for (const json::Value& parameter : (*answer)["Parameters"].items()) {
      const std::string value = parameter["Value"].text_or("");
      values[parameter["Name"].text_or("")] = value;
      values[parameter["ARN"].text_or("")] = value;
    }
  }
  return {};
}

std::string without_region(std::string_view name) {
  // "arn:aws:ssm:region:account:parameter/name" is the parameter "/name" or "name".
  const size_t at = name.find(":parameter/");
  return at == std::string_view::npos ? std::string(name) : std::string(name.substr(at + 10));
}

const std::string* find_value(const std::map<std::string, std::string>& values,
                              const std::string& name) {
  const std::string path = without_region(name);
  for (const std::string& spelling : {name, path, path.substr(path.starts_with('/') ? 1 : 0)}) {
    const auto found = values.find(spelling);
    if (found != values.end()) return &found->second;
  }
  return nullptr;
}

// The value of a fetched secret in the body; empty when it is not there.
std::string value_in(const json::Value& body, const acs::Secret& secret) {
  if (secret.target == "LOG_DRIVER") {
    return body["HostConfig"]["LogConfig"]["Config"][secret.name].text_or("");
  }
  const std::string start = secret.name + "=";
  for (const json::Value& variable : body["Env"].items()) {
    const std::string text = variable.text_or("");
    if (text.starts_with(start)) return text.substr(start.size());
  }
  return {};
}

// As Docker quotes it.
std::string quoted_for_docker(std::string_view text) {
  std::string out;
  json::append_string(out, text);
  return out.substr(1, out.size() - 2);
}

void hide(std::string& message, std::string_view value) {
  constexpr std::string_view hidden = "***";
  if (value.empty() || hidden.contains(value)) return;
  for (size_t at = message.find(value); at != std::string::npos;
       at = message.find(value, at + hidden.size())) {
    message.replace(at, value.size(), hidden);
  }
}

core::OperationError registry_error(std::string message) {
  return {core::Cause::Denied, "CannotPullContainerError", std::move(message)};
}

}  // namespace

SecretReference parse_secret_reference(std::string_view value_from) {
  constexpr size_t parts_of_arn = 7;
  std::vector<std::string> parts;
  for (size_t start = 0; start <= value_from.size();) {
    const size_t end = std::min(value_from.find(':', start), value_from.size());
    parts.emplace_back(value_from.substr(start, end - start));
    start = end + 1;
  }
  SecretReference reference;
  if (parts.front() != "arn" || parts.size() <= parts_of_arn) {
    reference.id = value_from;
    return reference;
  }
  parts.resize(parts_of_arn + 3);
  for (size_t i = 0; i < parts_of_arn; ++i) reference.id += (i == 0 ? "" : ":") + parts[i];
  reference.json_key = parts[parts_of_arn];
  reference.version_stage = parts[parts_of_arn + 1];
  reference.version_id = parts[parts_of_arn + 2];
  return reference;
}

SetupResult<std::vector<std::string>> fetch_secrets(ApiClient& api,
                                                    const std::vector<acs::Secret>& secrets,
                                                    const Keys& keys) {
  std::vector<std::string> names;
  for (const acs::Secret& secret : secrets) {
    const bool known = std::ranges::find(names, secret.value_from) != names.end();
    if (secret.provider == "ssm" && !known) names.push_back(secret.value_from);
  }
  std::map<std::string, std::string> parameters;
  if (auto fetched = fetch_parameters(api, names, keys, parameters); !fetched) {
    return std::unexpected(std::move(fetched).error());
  }
  std::vector<std::string> values;
  for (const acs::Secret& secret : secrets) {
    if (secret.provider == "ssm") {
      const std::string* const value = find_value(parameters, secret.value_from);
      if (value == nullptr) {
        return std::unexpected(retrieval_error(base::format(
            "unable to retrieve secrets from ssm: invalid parameters: {}", secret.value_from)));
      }
      values.push_back(*value);
      continue;
    }
    auto value = fetch_one(api, parse_secret_reference(secret.value_from), keys);
    if (!value) return std::unexpected(std::move(value).error());
    values.push_back(std::move(*value));
  }
  return values;
}

std::string without_secrets(std::string message, const core::CreateContainer& request) {
  for (const acs::Secret& secret : request.secrets) {
    const std::string value = value_in(request.body, secret);
    hide(message, value);
    hide(message, quoted_for_docker(value));
  }
  return message;
}

std::string without_secrets(std::string message, const docker::ContainerState& container) {
  const auto label = container.labels.find(std::string(core::secret_log_options_label));
  if (label == container.labels.end()) return message;
  std::string_view names = label->second;
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    const auto option = container.log_options.find(std::string(names.substr(0, end)));
    if (option != container.log_options.end()) {
      hide(message, option->second);
      hide(message, quoted_for_docker(option->second));
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return message;
}

SetupResult<docker::RegistryAuth> fetch_registry_auth(
    ApiClient& api, const acs::RegistryAuthentication& authentication, const Keys& keys) {
  if (authentication.type != "asm" || !authentication.asm_auth_data) {
    return std::unexpected(registry_error(
        base::format("this agent cannot log in to registries of type \"{}\"; use "
                     "repositoryCredentials, or pull the image on the machine beforehand.",
                     authentication.type)));
  }
  const SecretReference reference =
      parse_secret_reference(authentication.asm_auth_data->credentials_parameter);
  auto text = fetch_one(api, reference, keys);
  if (!text) return std::unexpected(registry_error(text.error().message));
  const auto value = json::parse(*text);
  docker::RegistryAuth auth;
  if (value) {
    auth.username = (*value)["username"].text_or("");
    auth.password = (*value)["password"].text_or("");
  }
  if (auth.username.empty() || auth.password.empty()) {
    return std::unexpected(registry_error(base::format(
        R"(the secret {} must be {{"username": "...", "password": "..."}}.)", reference.id)));
  }
  return auth;
}

}  // namespace agent
