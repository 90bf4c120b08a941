#include "sim/secret_clients.h"

#include "api/generated/secretsmanager.h"
#include "api/generated/ssm.h"
#include "base/format.h"

namespace sim {
namespace {

namespace sm = api::secretsmanager;

}  // namespace

void SecretClients::act(const PlannedSecretCall& call) {
  if (call.kind == PlannedSecretCall::Kind::Put) return put(call.secret);
  remove(call.secret);
}

void SecretClients::put(const std::string& secret) {
  const std::string token = base::format("{:032}", ++values_);
  std::string value = base::format("{}{}-{}", secret_mark, values_, environment_.random.hex(8));
  environment_.tell(client_name, "puts value {} of secret {}", values_, secret);
  if (!is_parameter(secret)) {
    if (secret == "sim/members") value = base::format(R"({{"{}":"{}"}})", secret_member, value);
    return create(secret, value, token);
  }
  api::ssm::PutParameterRequest request;
  request.name = secret;
  request.value = value;
  request.type = api::ssm::ParameterType::SecureString;
  request.overwrite = true;
  using Result = api::ssm::PutParameterResult;
  caller_.insist<Result>("PutParameter", request, [this, secret](const base::Result<Result>& put) {
    if (!put) environment_.fail("client", "PutParameter: " + put.error().message);
  });
}

void SecretClients::create(const std::string& secret, const std::string& value,
                           const std::string& token) {
  sm::CreateSecretRequest request;
  request.name = secret;
  request.client_request_token = token;
  request.secret_string = value;
  caller_.insist<sm::CreateSecretResponse>(
      "CreateSecret", request,
      [this, secret, value, token](const base::Result<sm::CreateSecretResponse>& made) {
        if (made) return;
        if (made.error().code == "ResourceExistsException") return replace(secret, value, token);
        environment_.fail("client", "CreateSecret: " + made.error().message);
      });
}

void SecretClients::replace(const std::string& secret, const std::string& value,
                            const std::string& token) {
  sm::PutSecretValueRequest request;
  request.secret_id = secret;
  request.client_request_token = token;
  request.secret_string = value;
  caller_.insist<sm::PutSecretValueResponse>(
      "PutSecretValue", request, [this](const base::Result<sm::PutSecretValueResponse>& put) {
        // Deleted meanwhile.
        if (put || put.error().code == "ResourceNotFoundException") return;
        environment_.fail("client", "PutSecretValue: " + put.error().message);
      });
}

void SecretClients::remove(const std::string& secret) {
  environment_.tell(client_name, "deletes secret {}", secret);
  if (is_parameter(secret)) {
    api::ssm::DeleteParameterRequest request;
    request.name = secret;
    caller_.insist<api::ssm::DeleteParameterResult>(
        "DeleteParameter", request, [](const base::Result<api::ssm::DeleteParameterResult>&) {});
    return;
  }
  sm::DeleteSecretRequest request;
  request.secret_id = secret;
  request.force_delete_without_recovery = true;
  caller_.insist<sm::DeleteSecretResponse>("DeleteSecret", request,
                                           [](const base::Result<sm::DeleteSecretResponse>&) {});
}

}  // namespace sim
