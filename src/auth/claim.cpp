#include "auth/claim.h"

#include <algorithm>
#include <array>

#include "auth/canonical.h"
#include "base/format.h"
#include "base/text.h"

namespace auth {
namespace {

constexpr size_t most_signed_headers = 64;
constexpr std::chrono::seconds longest_expiry = std::chrono::days{7};

std::unexpected<base::Error> incomplete(std::string message) {
  return base::fail("IncompleteSignatureException", std::move(message));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

// "Sun, 06 Nov 1994 08:49:37 GMT". Source: RFC 9110, section 5.6.7; RFC 5322 writes UTC as "-0000".
std::optional<base::Time> parse_http_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> months = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (const size_t comma = text.find(','); comma != std::string_view::npos) {
    text = base::trimmed(text.substr(comma + 1));
  }
  const auto words = split(text, ' ');
  if (words.size() != 5) return std::nullopt;
  const std::string_view zone = words[4];
  if (zone != "GMT" && zone != "UTC" && zone != "-0000" && zone != "+0000") return std::nullopt;
  const auto month = std::find(months.begin(), months.end(), words[1]);
  if (month == months.end()) return std::nullopt;
  return base::parse_rfc3339(base::format("{}-{:02}-{:0>2}T{}Z", words[2],
                                          month - months.begin() + 1, words[0], words[3]));
}

// What is the same in both forms.
base::Result<Claim> check_parts(Claim claim) {
  if (std::count(claim.credential.begin(), claim.credential.end(), '/') != 4) {
    return incomplete(
        base::format("Credential must have exactly 5 slash-delimited elements, e.g. "
                     "keyid/date/region/service/term, got '{}'.",
                     shown(claim.credential)));
  }
  if (std::cmp_greater_equal(
          std::count(claim.signed_headers.begin(), claim.signed_headers.end(), ';'),
          most_signed_headers)) {
    return incomplete(
        base::format("SignedHeaders names more than {} headers.", most_signed_headers));
  }
  for (const char c : claim.signed_headers) {
    if (base::lower(c) != c || c <= ' ' || c > '~') {
      return incomplete(
          "SignedHeaders must be the names of headers in lower case, separated by ';'.");
    }
  }
  return claim;
}

base::Result<void> read_header_date(const Request& request, Claim& claim) {
  if (auto amz_date = folded_header(request, "x-amz-date")) {
    const auto time = base::parse_basic(*amz_date);
    if (!time) {
      return incomplete(base::format(
          "X-Amz-Date must be in ISO-8601 'basic format' (YYYYMMDD'T'HHMMSS'Z'). Got '{}'.",
          shown(*amz_date)));
    }
    claim.timestamp = std::move(*amz_date);
    claim.time = *time;
    return {};
  }
  const auto date = folded_header(request, "date");
  if (!date) {
    return incomplete(
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.");
  }
  auto time = parse_http_date(*date);
  if (!time) time = base::parse_basic(*date);
  if (!time) {
    return incomplete(
        base::format("The 'Date' header is neither in ISO-8601 'basic format' nor "
                     "'Sun, 06 Nov 1994 08:49:37 GMT'. Got '{}'.",
                     shown(*date)));
  }
  claim.timestamp = base::format_basic(*time);
  claim.time = *time;
  return {};
}

base::Result<Claim> parse_header(const Request& request, std::string_view authorization) {
  const size_t space = authorization.find(' ');
  const std::string_view scheme = authorization.substr(0, space);
  if (scheme != algorithm) {
    return incomplete(
        base::format("Unsupported Authorization scheme '{}': sign the request with "
                     "AWS Signature Version 4 ({}).",
                     shown(scheme), algorithm));
  }
  Claim claim;
  const std::string_view rest =
      space == std::string_view::npos ? std::string_view{} : authorization.substr(space + 1);
  for (std::string_view part : split(rest, ',')) {
    part = base::trimmed(part);
    const size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    std::string* member = name == "Credential"      ? &claim.credential
                          : name == "SignedHeaders" ? &claim.signed_headers
                          : name == "Signature"     ? &claim.signature
                                                    : nullptr;
    if (member == nullptr) continue;
    if (equals == std::string_view::npos) continue;
    if (!member->empty()) {
      return incomplete(base::format("Authorization header has '{}' twice.", name));
    }
    *member = part.substr(equals + 1);
  }
  std::string missing;
  if (claim.credential.empty()) missing += "Authorization header requires 'Credential' parameter. ";
  if (claim.signature.empty()) missing += "Authorization header requires 'Signature' parameter. ";
  if (claim.signed_headers.empty()) {
    missing += "Authorization header requires 'SignedHeaders' parameter. ";
  }
  if (!missing.empty()) {
    missing.pop_back();
    return incomplete(std::move(missing));
  }
  TRY_VOID(read_header_date(request, claim));
  claim.session_token = folded_header(request, "x-amz-security-token").value_or("");
  return check_parts(std::move(claim));
}

base::Result<Claim> parse_presigned(const Request& request) {
  Claim claim{.form = SignatureForm::Presigned};
  std::string stated_algorithm;
  std::string expires;
  const std::array<std::pair<std::string_view, std::string*>, 7> members = {{
      {"X-Amz-Algorithm", &stated_algorithm},
      {"X-Amz-Credential", &claim.credential},
      {"X-Amz-Signature", &claim.signature},
      {"X-Amz-SignedHeaders", &claim.signed_headers},
      {"X-Amz-Date", &claim.timestamp},
      {"X-Amz-Expires", &expires},
      {"X-Amz-Security-Token", &claim.session_token},
  }};
  for (auto& [name, value] : parse_query(request.query)) {
    for (const auto& [member_name, member] : members) {
      if (name != member_name) continue;
      if (!member->empty()) {
        return incomplete(base::format("The query string has '{}' twice.", member_name));
      }
      *member = std::move(value);
      break;
    }
  }
  for (const auto& [name, member] : members) {
    if (!member->empty() || name == "X-Amz-Security-Token") continue;
    return incomplete(
        base::format("AWS query-string parameters must include '{}'. Re-examine the "
                     "query-string parameters.",
                     name));
  }
  if (stated_algorithm != algorithm) {
    return incomplete(base::format("Unsupported X-Amz-Algorithm '{}': sign the request with {}.",
                                   shown(stated_algorithm), algorithm));
  }
  const auto time = base::parse_basic(claim.timestamp);
  if (!time) {
    return incomplete(base::format(
        "X-Amz-Date must be in ISO-8601 'basic format' (YYYYMMDD'T'HHMMSS'Z'). Got '{}'.",
        shown(claim.timestamp)));
  }
  claim.time = *time;
  const int64_t seconds = base::parse_number<int64_t>(expires).value_or(0);
  if (seconds < 1 || seconds > longest_expiry.count()) {
    return incomplete(
        base::format("X-Amz-Expires must be a number of seconds from 1 to {} (7 days). "
                     "Got '{}'.",
                     longest_expiry.count(), shown(expires)));
  }
  claim.expires = std::chrono::seconds{seconds};
  return check_parts(std::move(claim));
}

}  // namespace

std::string_view Claim::credential_part(size_t index) const {
  std::string_view rest = credential;
  for (; index > 0; --index) rest.remove_prefix(std::min(rest.find('/'), rest.size() - 1) + 1);
  return rest.substr(0, rest.find('/'));
}

std::vector<std::string_view> Claim::signed_header_names() const {
  return split(signed_headers, ';');
}

base::Result<Claim> parse_claim(const Request& request) {
  const std::string_view* authorization = nullptr;
  for (const auto& [name, value] : request.headers) {
    if (!base::equal_ignoring_case(name, "authorization")) continue;
    if (authorization != nullptr) return incomplete("The request has two Authorization headers.");
    authorization = &value;
  }
  if (authorization != nullptr) return parse_header(request, base::trimmed(*authorization));
  if (request.query.find("X-Amz-") != std::string_view::npos) {
    for (const auto& [name, value] : parse_query(request.query)) {
      if (name == "X-Amz-Algorithm" || name == "X-Amz-Signature" || name == "X-Amz-Credential") {
        return parse_presigned(request);
      }
    }
  }
  return base::fail("MissingAuthenticationTokenException",
                    "Missing Authentication Token: sign the request with AWS Signature Version 4.");
}

std::string shown(std::string_view text) {
  constexpr size_t most = 64;
  std::string out(text.substr(0, most));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > most) out += "...";
  return out;
}

}  // namespace auth
