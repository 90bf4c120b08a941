#include "auth/signer.h"

#include <algorithm>
#include <array>

#include "auth/canonical.h"
#include "auth/signing_key.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "crypto/crypto.h"

namespace auth {
namespace {

// What proxies and HTTP libraries change on the way.
bool is_signable(std::string_view lower_name) {
  static constexpr std::array<std::string_view, 13> unsignable = {"authorization",
                                                                  "connection",
                                                                  "expect",
                                                                  "keep-alive",
                                                                  "proxy-authenticate",
                                                                  "proxy-authorization",
                                                                  "te",
                                                                  "trailer",
                                                                  "transfer-encoding",
                                                                  "upgrade",
                                                                  "user-agent",
                                                                  "x-amzn-trace-id",
                                                                  "accept-encoding"};
  return std::find(unsignable.begin(), unsignable.end(), lower_name) == unsignable.end() &&
         !lower_name.starts_with("sec-websocket-");
}

std::vector<std::string> names_to_sign(const Request& request) {
  std::vector<std::string> names;
  for (const auto& [name, value] : request.headers) {
    std::string lower_name = base::lower(name);
    if (is_signable(lower_name)) names.push_back(std::move(lower_name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  CHECK(std::binary_search(names.begin(), names.end(), "host"));
  return names;
}

std::string body_hash(const Request& request) {
  return request.body_sha256.empty() ? crypto::sha256_hex(request.body)
                                     : std::string(request.body_sha256);
}

// The signature in hexadecimal digits.
std::string signature_of(const Request& request, const CanonicalParts& parts,
                         std::string_view secret_access_key, const Scope& scope,
                         std::string_view timestamp) {
  const std::string hash = crypto::sha256_hex(canonical_request(request, parts));
  crypto::Hmac key = derive_signing_key(secret_access_key, scope);
  return crypto::to_hex(key.sign(string_to_sign(timestamp, scope.str(), hash)));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> sign(const Request& request,
                                                      const Credentials& credentials,
                                                      const SigningScope& signing_scope,
                                                      base::Time now) {
  const std::string timestamp = base::format_basic(now);
  const Scope scope{std::string_view(timestamp).substr(0, 8), signing_scope.region,
                    signing_scope.service};
  std::vector<std::pair<std::string, std::string>> added = {{"X-Amz-Date", timestamp}};
  if (!credentials.session_token.empty()) {
    added.emplace_back("X-Amz-Security-Token", credentials.session_token);
  }
  Request whole = request;
  for (const auto& [name, value] : added) {
    CHECK(!folded_header(request, name));
    whole.headers.emplace_back(name, value);
  }
  CHECK(!folded_header(request, "authorization"));

  const std::vector<std::string> names = names_to_sign(whole);
  const std::vector<std::string_view> signed_headers(names.begin(), names.end());
  const std::string path = canonical_path(request.path);
  const std::string query = canonical_query(request.query);
  const std::string payload = body_hash(request);
  const std::string signature = signature_of(
      whole,
      {.path = path, .query = query, .signed_headers = signed_headers, .payload_hash = payload},
      credentials.secret_access_key, scope, timestamp);
  added.emplace_back(
      "Authorization",
      base::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", algorithm,
                   credentials.access_key_id, scope.str(), base::join(names, ";"), signature));
  return added;
}

std::string presign(const Request& request, const Credentials& credentials,
                    const SigningScope& signing_scope, base::Time now,
                    std::chrono::seconds expires) {
  CHECK(expires >= std::chrono::seconds{1} && expires <= std::chrono::days{7});
  CHECK(folded_header(request, "host"));
  const std::string timestamp = base::format_basic(now);
  const Scope scope{std::string_view(timestamp).substr(0, 8), signing_scope.region,
                    signing_scope.service};
  std::string query(request.query);
  if (!query.empty()) query += '&';
  query +=
      base::format("X-Amz-Algorithm={}&X-Amz-Credential={}&X-Amz-Date={}&X-Amz-Expires={}",
                   algorithm, base::percent_encoded(credentials.access_key_id + "/" + scope.str()),
                   timestamp, expires.count());
  if (!credentials.session_token.empty()) {
    query += "&X-Amz-Security-Token=" + base::percent_encoded(credentials.session_token);
  }
  query += "&X-Amz-SignedHeaders=host";
  static constexpr std::array<std::string_view, 1> signed_headers = {"host"};
  const std::string path = canonical_path(request.path);
  const std::string sorted_query = canonical_query(query);
  const std::string payload = body_hash(request);
  query += "&X-Amz-Signature=" + signature_of(request,
                                              {.path = path,
                                               .query = sorted_query,
                                               .signed_headers = signed_headers,
                                               .payload_hash = payload},
                                              credentials.secret_access_key, scope, timestamp);
  return query;
}

}  // namespace auth
