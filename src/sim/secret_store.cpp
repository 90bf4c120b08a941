#include "sim/secret_store.h"

#include <utility>

#include "api/generated/secretsmanager.h"
#include "api/generated/ssm.h"
#include "auth/key_derivation.h"
#include "auth/permission.h"

namespace sim {
namespace {

constexpr size_t key_bytes = 32;

using Reach = std::optional<std::vector<std::string>>;

// As the server's front: the key, then whether its task lives, then what it allows.
base::Result<Reach> reach_of(const NamedOperation& call, const control::Settings& settings,
                             const model::ClusterState& state, base::Time now) {
  if (!call.key) return Reach();
  const auth::KeyDerivation derivation(settings.master_key);
  const auto key = derivation.find_session(call.key->access_key_id, call.key->session_token);
  if (!key || key->secret_access_key != call.key->secret_access_key) {
    return base::fail("UnrecognizedClientException",
                      "The security token included in the request is invalid.");
  }
  const auto& access = std::get<auth::TaskAccess>(key->access);
  const model::Task* const task = model::find_task(state, model::TaskArn(access.task));
  const bool is_live = task != nullptr && task->last_status != model::TaskStatus::Stopped;
  if (!is_live || *key->expires <= now) {
    return base::fail("ExpiredTokenException",
                      "The security token included in the request is expired.");
  }
  const auth::Caller caller{.access_key_id = key->access_key_id,
                            .arn = key->arn,
                            .account = key->account,
                            .user_id = key->user_id,
                            .service = std::string(call.service->name),
                            .access = key->access};
  TRY_VOID(auth::allow(caller, {.service = call.service->name, .operation = call.operation->name}));
  return Reach(access.secrets);
}

}  // namespace

SecretStore::SecretStore(Environment& environment) : environment_(environment) {
  open();
}

void SecretStore::open() {
  const model::Account account = control::Settings().account;
  auto opened = secrets::Service::open(":memory:", std::string(key_bytes, 'k'),
                                       {.region = account.region, .account = account.id});
  CHECK(opened.has_value());
  service_ = std::move(*opened);
}

bool SecretStore::serves(const api::Service& service) {
  return &service == &api::ssm_service() || &service == &api::secretsmanager_service();
}

void SecretStore::lose_disk() {
  for (const auto& [secret, entries] : history_) remove(secret);
  open();
}

base::Result<api::Any> SecretStore::answer(const NamedOperation& call, const api::Any& input,
                                           const control::Settings& settings,
                                           const model::ClusterState& state, base::Time now) {
  const auto failed = [] {
    return base::fail("InternalServiceError", "The secret store's file cannot be used.");
  };
  const bool fails = environment_.inject(environment_.rates.secret_calls_fail);
  if (fails && environment_.random.chance(50)) return failed();
  auto reach = TRY(reach_of(call, settings, state, now));
  auto answered = service_->handle({.service = call.service,
                                    .operation = call.operation,
                                    .request = &input,
                                    .reach = std::move(reach)},
                                   now);
  if (answered) note(input);
  if (fails) return failed();
  return answered;
}

void SecretStore::note(const api::Any& input) {
  namespace sm = api::secretsmanager;
  if (const auto* parameter = input.get_if<api::ssm::PutParameterRequest>()) {
    put(parameter->name.value_or(""), std::nullopt, parameter->value.value_or(""));
  } else if (const auto* gone = input.get_if<api::ssm::DeleteParameterRequest>()) {
    remove(gone->name.value_or(""));
  } else if (const auto* made = input.get_if<sm::CreateSecretRequest>()) {
    put(made->name.value_or(""), made->client_request_token, made->secret_string.value_or(""));
  } else if (const auto* replaced = input.get_if<sm::PutSecretValueRequest>()) {
    put(replaced->secret_id.value_or(""), replaced->client_request_token,
        replaced->secret_string.value_or(""));
  } else if (const auto* deleted = input.get_if<sm::DeleteSecretRequest>()) {
    remove(deleted->secret_id.value_or(""));
  }
}

// A call that has taken effect before is the same call again.
void SecretStore::put(const std::string& secret, const std::optional<std::string>& token,
                      const std::string& value) {
  if (token && !tokens_[secret].insert(*token).second) return;
  history_[secret].push_back({environment_.events.now(), value});
}

void SecretStore::remove(const std::string& secret) {
  tokens_.erase(secret);
  history_[secret].push_back({environment_.events.now(), std::nullopt});
}

bool SecretStore::was_ever(
    const std::string& secret, base::Time from, base::Time to,
    const std::function<bool(const std::optional<std::string>&)>& holds) const {
  const auto found = history_.find(secret);
  if (found == history_.end()) return holds(std::nullopt);
  std::optional<std::string> before;
  for (const Entry& entry : found->second) {
    if (entry.from > to) break;
    if (entry.from >= from && (holds(before) || holds(entry.value))) return true;
    before = entry.value;
  }
  return holds(before);
}

}  // namespace sim
