#include "agent/ecr.h"

#include <utility>

#include "api/base64.h"
#include "api/service.h"
#include "base/format.h"
#include "json/value.h"

namespace agent {
namespace {

const api::Service ecr_service{.name = "ecr",
                               .target_prefix = "AmazonEC2ContainerRegistry_V20150921",
                               .api_version = "2015-09-21",
                               .xml_namespace = {},
                               .protocol = api::Protocol::Json11,
                               .operations = {},
                               .errors = {}};

constexpr std::string_view no_keys =
    "the image is in Amazon ECR, and this agent has no keys of AWS to log in there. Start it with "
    "BERTH_ECR_ACCESS_KEY_ID and BERTH_ECR_SECRET_ACCESS_KEY in its environment (and "
    "BERTH_ECR_SESSION_TOKEN for temporary ones), name a user and password by "
    "repositoryCredentials, or pull the image on the machine beforehand.";

std::unexpected<core::OperationError> fail(core::Cause cause, std::string message) {
  return std::unexpected(
      core::OperationError{cause, "CannotPullECRContainerError", std::move(message)});
}

std::string registry_endpoint(const EcrAccess& access, const acs::EcrAuthData& registry) {
  if (!access.endpoint.empty()) return access.endpoint;
  if (!registry.endpoint_override.empty()) {
    const bool whole = registry.endpoint_override.find("://") != std::string::npos;
    return (whole ? "" : "https://") + registry.endpoint_override;
  }
  const bool china = registry.region.starts_with("cn-");
  return base::format("https://api.ecr.{}.amazonaws.com{}", registry.region, china ? ".cn" : "");
}

std::string without_scheme(const std::string& url) {
  const size_t at = url.find("://");
  return at == std::string::npos ? url : url.substr(at + 3);
}

}  // namespace

// {"authorizationData": [{"authorizationToken": base64 of "AWS:password", "proxyEndpoint": ..}]}
SetupResult<docker::RegistryAuth> parse_ecr_token(std::string_view body, std::string_view where) {
  const auto value = json::parse(body);
  const auto unreadable = [&] {
    return fail(core::Cause::Other,
                base::format("the answer of {} holds no authorization token", where));
  };
  if (!value || (*value)["authorizationData"].items().empty()) return unreadable();
  const json::Value& data = (*value)["authorizationData"].items().front();
  const auto token = api::decode_base64(data["authorizationToken"].text_or(""));
  const size_t colon = token ? token->find(':') : std::string::npos;
  if (colon == std::string::npos) return unreadable();
  return docker::RegistryAuth{.username = token->substr(0, colon),
                              .password = token->substr(colon + 1),
                              .server = without_scheme(data["proxyEndpoint"].text_or(""))};
}

SetupResult<docker::RegistryAuth> fetch_ecr_auth(const EcrAccess& access,
                                                 const acs::EcrAuthData& registry,
                                                 base::Clock& clock) {
  if (access.access_key_id.empty()) return fail(core::Cause::Denied, std::string(no_keys));
  const std::string where = registry_endpoint(access, registry);
  const auto client =
      ApiClient::create({.server_urls = {where},
                         .credentials = {.access_key_id = access.access_key_id,
                                         .secret_access_key = access.secret_access_key,
                                         .session_token = access.session_token},
                         .tls = {},
                         .region = registry.region},
                        clock);
  if (!client) return fail(core::Cause::BadParameter, client.error().message);
  json::Value ids = json::Value::array();
  ids.push(registry.registry_id);
  const auto answer = (*client)->send(ecr_service, "GetAuthorizationToken",
                                      json::print(json::Value::object({{"registryIds", ids}})));
  if (answer) return parse_ecr_token(*answer, where);
  const bool refused = answer.error().kind == ApiError::Kind::Refused;
  return fail(refused ? core::Cause::Denied : core::Cause::Other,
              base::format("{} gives no token for the registry {} in {}: {}: {}.{}", where,
                           registry.registry_id, registry.region, answer.error().code,
                           answer.error().message,
                           refused ? " Do the keys in BERTH_ECR_ACCESS_KEY_ID allow "
                                     "ecr:GetAuthorizationToken?"
                                   : ""));
}

}  // namespace agent
