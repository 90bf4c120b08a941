#include "auth/key_derivation.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "crypto/crypto.h"
#include "json/value.h"

namespace auth {
namespace {

constexpr size_t secret_length = 40;
constexpr std::string_view join_prefix = "berth-join.";

std::string_view behind_last(std::string_view text, char mark) {
  return text.substr(text.rfind(mark) + 1);  // npos + 1 is 0.
}

// Hexadecimal digits as letters and digits of AWS's ids: upper case.
std::string id_text(std::string_view digits) {
  std::string text(digits);
  for (char& c : text) {
    if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string print_claims(const RoleSession& session) {
  json::Value claims =
      json::Value::object({{"account", session.account},
                           {"role", session.role_arn},
                           {"type", session.role_type},
                           {"task", session.access.task},
                           {"logGroups", json::Value::array(session.access.log_groups)},
                           {"secrets", json::Value::array(session.access.secrets)},
                           {"expires", int64_t{session.expires.time_since_epoch().count()}}});
  if (!session.access.through.empty()) claims.set("through", session.access.through);
  return json::print(claims);
}

std::vector<std::string> texts_of(const json::Value& list) {
  std::vector<std::string> texts;
  for (const json::Value& item : list.items()) texts.push_back(item.text_or(""));
  return texts;
}

std::optional<RoleSession> read_claims(const std::string& text) {
  const auto claims = json::parse(text);
  if (!claims || !claims->is_object()) return std::nullopt;
  RoleSession session;
  session.account = (*claims)["account"].text_or("");
  session.role_arn = (*claims)["role"].text_or("");
  session.role_type = (*claims)["type"].text_or("");
  session.access.task = (*claims)["task"].text_or("");
  session.access.log_groups = texts_of((*claims)["logGroups"]);
  session.access.secrets = texts_of((*claims)["secrets"]);
  session.access.through = (*claims)["through"].text_or("");
  session.expires = base::Time(base::Milliseconds((*claims)["expires"].as_int64().value_or(0)));
  return session;
}

}  // namespace

// One keyed hash per purpose: no two purposes ever give the same text.
std::string KeyDerivation::derive(std::string_view purpose, std::string_view name) const {
  return crypto::to_hex(
      crypto::hmac_sha256("berth/" + master_key_, base::format("{}\n{}", purpose, name)));
}

std::string KeyDerivation::agent_secret(std::string_view access_key_id) const {
  return derive("agent-secret", access_key_id).substr(0, secret_length);
}

std::string KeyDerivation::join_token(std::string_view id) const {
  return base::format("{}{}.{}", join_prefix, id,
                      derive("join-token", id).substr(0, secret_length));
}

std::optional<std::string> KeyDerivation::join_token_id(std::string_view token) const {
  if (!token.starts_with(join_prefix)) return std::nullopt;
  const std::string_view rest = token.substr(join_prefix.size());
  std::string id(rest.substr(0, rest.find('.')));
  if (!crypto::constant_time_equal(join_token(id), token)) return std::nullopt;
  return id;
}

std::string KeyDerivation::credentials_id(std::string_view task, std::string_view role_type) const {
  std::string id = derive(base::format("credentials-id/{}", role_type), task).substr(0, 32);
  for (const size_t dash : {20U, 16U, 12U, 8U}) id.insert(dash, "-");
  return id;
}

AccessKey KeyDerivation::session_key(const RoleSession& session) const {
  const std::string claims = print_claims(session);
  const std::string_view task_id = behind_last(session.access.task, '/');
  const std::string_view role_name = behind_last(session.role_arn, '/');
  return {.access_key_id = "ASIA" + id_text(derive("session-id", claims).substr(0, 16)),
          .secret_access_key = derive("session-secret", claims).substr(0, secret_length),
          .session_token =
              base::format("{}.{}", crypto::to_hex(claims), derive("session-token", claims)),
          .account = session.account,
          .arn = base::format("arn:aws:sts::{}:assumed-role/{}/{}", session.account, role_name,
                              task_id),
          .user_id = base::format(
              "AROA{}:{}", id_text(derive("role-id", session.role_arn).substr(0, 16)), task_id),
          .access = session.access,
          .expires = session.expires};
}

std::optional<AccessKey> KeyDerivation::find_session(std::string_view access_key_id,
                                                     std::string_view session_token) const {
  const std::string_view digits = session_token.substr(0, session_token.find('.'));
  const auto claims = crypto::from_hex(digits);
  if (!claims ||
      !crypto::constant_time_equal(base::format("{}.{}", digits, derive("session-token", *claims)),
                                   session_token)) {
    return std::nullopt;
  }
  const auto session = read_claims(*claims);
  if (!session) return std::nullopt;
  AccessKey key = session_key(*session);
  if (key.access_key_id != access_key_id || key.session_token != session_token) {
    return std::nullopt;
  }
  return key;
}

}  // namespace auth
