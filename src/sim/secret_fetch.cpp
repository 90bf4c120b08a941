#include "sim/secret_fetch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "api/generated/secretsmanager.h"
#include "api/generated/ssm.h"
#include "control/tasks/secret_references.h"
#include "json/value.h"

namespace sim {
namespace {

constexpr int tries = 3;
constexpr base::Milliseconds between_tries{500};

// "...:secret:name:member::" is the member of the secret's JSON object.
std::string member_of(const std::string& value_from) {
  const std::string id = control::secret_id_of(value_from);
  if (value_from.size() <= id.size()) return {};
  const std::string rest = value_from.substr(id.size() + 1);
  return rest.substr(0, rest.find(':'));
}

// Kept alive by the calls that are under way.
class SecretFetch : public std::enable_shared_from_this<SecretFetch> {
 public:
  SecretFetch(Environment& environment, Link& link, ApiServer& server, Expectations& expectations,
              agent::core::CreateContainer request, acs::IAMRoleCredentials key,
              std::function<void(CompletedRequest)> done)
      : environment_(environment),
        link_(link),
        server_(server),
        expectations_(expectations),
        request_(std::move(request)),
        key_(std::move(key)),
        done_(std::move(done)) {
    auto& all = expectations_.fetches[request_.task_arn];
    number_ = all.size();
    all.push_back({.began = environment_.events.now(), .ended = {}, .error = {}});
  }

  void start() {
    api::ssm::GetParametersRequest parameters;
    for (const acs::Secret& secret : request_.secrets) {
      if (secret.provider == "ssm") parameters.names.push_back(secret.value_from);
    }
    if (parameters.names.empty()) return next();
    parameters.with_decryption = true;
    using Result = api::ssm::GetParametersResult;
    ask<Result>("GetParameters", parameters, [this](const base::Result<Result>& answer) {
      if (!answer) {
        return fail(base::format("unable to retrieve secrets from ssm: {}: {}", answer.error().code,
                                 answer.error().message));
      }
      for (const api::ssm::Parameter& parameter : answer->parameters) {
        values_[parameter.name.value_or("")] = parameter.value.value_or("");
      }
      next();
    });
  }

 private:
  // One that does not answer is asked again.
  template <class Response, class Request>
  void ask(std::string_view operation, Request request,
           std::function<void(const base::Result<Response>&)> then, int so_far = 1) {
    call_api<Response>(
        environment_, link_, server_, operation, request,
        [self = this->shared_from_this(), operation, request, then,
         so_far](const base::Result<Response>& answer) {
          const bool refused = !answer && answer.error().code != unreachable &&
                               !answer.error().code.starts_with("Internal");
          if (answer || refused || so_far == tries) return then(answer);
          self->environment_.events.after(
              between_tries * so_far, [self, operation, request, then, so_far] {
                self->template ask<Response>(operation, request, then, so_far + 1);
              });
        },
        key_);
  }

  void next() {
    for (; at_ < request_.secrets.size(); ++at_) {
      const acs::Secret& secret = request_.secrets[at_];
      if (secret.provider != "ssm") return fetch(secret.value_from);
      if (values_.contains(secret.value_from)) continue;
      return fail(base::format("unable to retrieve secrets from ssm: invalid parameters: {}",
                               secret.value_from));
    }
    complete();
  }

  void fetch(const std::string& value_from) {
    api::secretsmanager::GetSecretValueRequest request;
    request.secret_id = control::secret_id_of(value_from);
    using Response = api::secretsmanager::GetSecretValueResponse;
    ask<Response>(
        "GetSecretValue", request, [this, value_from](const base::Result<Response>& answer) {
          if (!answer) {
            return fail(base::format(
                "unable to retrieve secret from asm: failed to fetch secret "
                "{} from secrets manager: {}: {}",
                control::secret_id_of(value_from), answer.error().code, answer.error().message));
          }
          std::string value = answer->secret_string.value_or("");
          if (const std::string member = member_of(value_from); !member.empty()) {
            const auto object = json::parse(value);
            value = object ? (*object)[member].text_or("") : std::string();
          }
          values_[value_from] = std::move(value);
          ++at_;
          next();
        });
  }

  void complete() {
    json::Value variables = json::Value::array();
    for (const json::Value& variable : request_.body["Env"].items()) variables.push(variable);
    for (const acs::Secret& secret : request_.secrets) {
      variables.push(secret.name + "=" + values_.at(secret.value_from));
    }
    request_.body.set("Env", std::move(variables));
    end({});
    done_(std::move(request_));
  }

  void fail(const std::string& why) {
    agent::core::OperationError error{
        agent::core::Cause::BadParameter, "ResourceInitializationError",
        "unable to pull secrets or registry auth: execution resource retrieval failed: " + why};
    end(error.message);
    done_(std::unexpected(std::move(error)));
  }

  void end(const std::string& error) {
    SecretsFetched& record = expectations_.fetches[request_.task_arn][number_];
    record.ended = environment_.events.now();
    record.error = error;
  }

  Environment& environment_;
  Link& link_;
  ApiServer& server_;
  Expectations& expectations_;
  agent::core::CreateContainer request_;
  acs::IAMRoleCredentials key_;
  std::function<void(CompletedRequest)> done_;
  size_t number_ = 0;                          // In the expectations.
  std::map<std::string, std::string> values_;  // By valueFrom.
  size_t at_ = 0;
};

}  // namespace

void fetch_secrets(Environment& environment, Link& link, ApiServer& server,
                   Expectations& expectations, agent::core::CreateContainer request,
                   const acs::IAMRoleCredentials& key, std::function<void(CompletedRequest)> done) {
  std::make_shared<SecretFetch>(environment, link, server, expectations, std::move(request), key,
                                std::move(done))
      ->start();
}

}  // namespace sim
