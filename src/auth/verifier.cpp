#include "auth/verifier.h"

#include <algorithm>
#include <array>
#include <utility>

#include "auth/canonical.h"
#include "auth/claim.h"
#include "base/format.h"
#include "base/text.h"

namespace auth {
namespace {

std::unexpected<base::Error> invalid_signature(std::string message) {
  return base::fail("InvalidSignatureException", std::move(message));
}

std::unexpected<base::Error> invalid_token() {
  return base::fail("UnrecognizedClientException",
                    "The security token included in the request is invalid.");
}

base::Result<void> check_scope(const Claim& claim, const Verifier::Options& options) {
  const Scope scope = claim.scope();
  if (claim.scope_terminator() != terminator) {
    return invalid_signature(
        base::format("Credential should be scoped with a valid terminator: '{}', not '{}'.",
                     terminator, shown(claim.scope_terminator())));
  }
  if (scope.date != std::string_view(claim.timestamp).substr(0, 8)) {
    return invalid_signature(
        base::format("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of "
                     "date from HTTP: '{}' != '{}', from '{}'.",
                     shown(scope.date), claim.timestamp.substr(0, 8), claim.timestamp));
  }
  if (scope.region != options.region) {
    return invalid_signature(base::format(
        "Credential should be scoped to a valid region, not '{}': this server's region "
        "is '{}'. Use --region {} or AWS_DEFAULT_REGION={}.",
        shown(scope.region), options.region, options.region, options.region));
  }
  if (std::find(options.services.begin(), options.services.end(), scope.service) ==
      options.services.end()) {
    return base::fail("UnknownOperationException",
                      base::format("Berth has no service '{}'; it has '{}'.", shown(scope.service),
                                   base::join(options.services, "', '")));
  }
  return {};
}

// AWS's own sentences: its SDKs look for "Signature expired" and "not yet current" to set their
// clock.
base::Result<void> check_time(const Claim& claim, base::Time now) {
  const bool presigned = claim.form == SignatureForm::Presigned;
  const base::Milliseconds allowed = presigned ? base::Milliseconds{claim.expires} : tolerance;
  if (claim.time + allowed < now) {
    const std::string span =
        presigned ? base::format("{} sec.", claim.expires.count()) : std::string("5 min.");
    return invalid_signature(base::format("Signature expired: {} is now earlier than {} ({} - {})",
                                          claim.timestamp, base::format_basic(now - allowed),
                                          base::format_basic(now), span));
  }
  if (claim.time - tolerance > now) {
    return invalid_signature(base::format(
        "Signature not yet current: {} is still later than {} ({} + 5 min.)", claim.timestamp,
        base::format_basic(now + tolerance), base::format_basic(now)));
  }
  return {};
}

base::Result<void> check_token(const Claim& claim, const AccessKey& key, base::Time now) {
  if (!crypto::constant_time_equal(claim.session_token, key.session_token)) return invalid_token();
  if (key.expires && *key.expires <= now) {
    return base::fail("ExpiredTokenException",
                      "The security token included in the request is expired.");
  }
  return {};
}

// Host and every x-amz-* header decide what the request does, so none may be changed unseen.
base::Result<void> check_signed_headers(const Request& request,
                                        const std::vector<std::string_view>& names) {
  const auto is_signed = [&](std::string_view header) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return base::equal_ignoring_case(name, header);
    });
  };
  if (!is_signed("host")) {
    return invalid_signature(
        "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
  }
  for (const auto& [header, value] : request.headers) {
    const bool decides =
        header.size() > 6 && base::equal_ignoring_case(header.substr(0, 6), "x-amz-");
    if (decides && !is_signed(header)) {
      return invalid_signature(base::format(
          "'{}' must be a 'SignedHeader' in the AWS Authorization.", shown(base::lower(header))));
    }
  }
  for (const std::string_view name : names) {
    const bool present = std::any_of(
        request.headers.begin(), request.headers.end(),
        [&](const auto& header) { return base::equal_ignoring_case(header.first, name); });
    if (!present) {
      return invalid_signature(
          base::format("SignedHeaders names '{}', but the request arrived without it; a proxy may "
                       "have removed it.",
                       shown(name)));
    }
  }
  return {};
}

// What the request says about its body: the header, or in a presigned URL the parameter.
std::optional<std::string> stated_payload_hash(const Request& request, const Claim& claim) {
  auto header = folded_header(request, "x-amz-content-sha256");
  if (header || claim.form == SignatureForm::Header) return header;
  for (auto& [name, value] : parse_query(request.query)) {
    if (name == "X-Amz-Content-Sha256") return std::move(value);
  }
  return std::nullopt;
}

base::Result<std::string> payload_hash(const Request& request, const Claim& claim,
                                       crypto::Sha256& sha256) {
  const auto stated = stated_payload_hash(request, claim);
  if (stated == unsigned_payload && claim.form == SignatureForm::Presigned) {
    // Whoever has the link could say anything in a body, and the body is what is done.
    if (!request.body.empty()) {
      return invalid_signature(
          "A presigned URL with UNSIGNED-PAYLOAD comes without a body: sign the body's SHA-256.");
    }
    return *stated;
  }
  std::string computed = request.body_sha256.empty() ? crypto::to_hex(sha256.of(request.body))
                                                     : std::string(request.body_sha256);
  if (stated && *stated != computed) {
    return invalid_signature(base::format(
        "x-amz-content-sha256 is not the SHA-256 of the body that arrived: '{}' != '{}'.",
        shown(*stated), computed));
  }
  return computed;
}

}  // namespace

Verifier::Verifier(Options options)
    : options_(std::move(options)), signing_keys_(options_.cached_signing_keys) {}

// The signature that a request claims to have, and the key that it claims to be by.
struct Verifier::Claimed {
  Claim claim;
  AccessKey key;
};

base::Result<Verifier::Claimed> Verifier::find_claimed(const Request& head, const KeyRing& keys,
                                                       base::Time now) const {
  Claim claim = TRY(parse_claim(head));
  TRY_VOID(check_scope(claim, options_));
  TRY_VOID(check_time(claim, now));
  const AccessKey* key = keys.find(claim.access_key_id());
  std::optional<AccessKey> session;
  if (key == nullptr && !claim.session_token.empty()) {
    session = keys.find_session(claim.access_key_id(), claim.session_token);
    if (session) key = &*session;
  }
  if (key == nullptr) return invalid_token();
  TRY_VOID(check_token(claim, *key, now));
  TRY_VOID(check_signed_headers(head, claim.signed_header_names()));
  return Claimed{std::move(claim), *key};
}

base::Result<std::string> Verifier::check_head(const Request& head, const KeyRing& keys,
                                               base::Time now) const {
  return TRY(find_claimed(head, keys, now)).key.access_key_id;
}

base::Result<Caller> Verifier::verify(const Request& request, const KeyRing& keys, base::Time now) {
  const Claimed claimed = TRY(find_claimed(request, keys, now));
  const Claim& claim = claimed.claim;
  const AccessKey* const key = &claimed.key;
  const std::vector<std::string_view> signed_headers = claim.signed_header_names();

  const std::string payload = TRY(payload_hash(request, claim, sha256_));
  const bool presigned = claim.form == SignatureForm::Presigned;
  const std::string path = canonical_path(request.path);
  const std::string query =
      request.query.empty() ? std::string()
                            : canonical_query(request.query, presigned ? "X-Amz-Signature" : "");
  const std::string canonical = canonical_request(
      request,
      {.path = path, .query = query, .signed_headers = signed_headers, .payload_hash = payload});
  const Scope scope = claim.scope();
  const std::string text =
      string_to_sign(claim.timestamp, scope.str(), crypto::to_hex(sha256_.of(canonical)));
  crypto::Hmac& signing_key = signing_keys_.get(key->access_key_id, key->secret_access_key, scope);
  const std::string expected = crypto::to_hex(signing_key.sign(text));
  if (!crypto::constant_time_equal(expected, claim.signature)) {
    return invalid_signature(
        "The request signature we calculated does not match the signature you provided. Check your "
        "AWS Secret Access Key and signing method. Consult the service documentation for details.");
  }
  return Caller{.access_key_id = key->access_key_id,
                .arn = key->arn,
                .account = key->account,
                .user_id = key->user_id,
                .service = std::string(scope.service),
                .access = key->access};
}

std::string_view query_protocol_code(std::string_view code) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> codes = {{
      {"MissingAuthenticationTokenException", "MissingAuthenticationToken"},
      {"IncompleteSignatureException", "IncompleteSignature"},
      {"UnrecognizedClientException", "InvalidClientTokenId"},
      {"ExpiredTokenException", "ExpiredToken"},
      {"InvalidSignatureException", "SignatureDoesNotMatch"},
      {"AccessDeniedException", "AccessDenied"},
  }};
  for (const auto& [json, query] : codes) {
    if (json == code) return query;
  }
  return code;
}

}  // namespace auth
