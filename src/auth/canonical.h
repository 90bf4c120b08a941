// A request in the form that is hashed and signed.
// Source: AWS IAM User Guide, "Create a signed AWS API request", step 1; services other than S3.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/request.h"

namespace auth {

// The inverse of base::percent_encoded; "+" is a space, as clients and AWS read it, and a "%"
// without two digits is itself.
std::string uri_decode(std::string_view text);

// `path` without empty and dot segments, each of the others encoded once more than it came.
std::string canonical_path(std::string_view path);

// Names and values in the order they came, decoded.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

// `query` encoded in the one way and sorted, without the parameter named `left_out`.
std::string canonical_query(std::string_view query, std::string_view left_out = {});

// The values of every header of that name (in any case), folded with "," as in a signature:
// trimmed, each run of white space one space. nullopt when the request has none.
std::optional<std::string> folded_header(const Request& request, std::string_view name);

// What a signature covers besides method and body.
struct CanonicalParts {
  std::string_view path;                             // canonical_path()
  std::string_view query;                            // canonical_query()
  std::span<const std::string_view> signed_headers;  // Lower case, in the order of SignedHeaders.
  std::string_view payload_hash;
};

// The text whose SHA-256 goes into the string to sign. A signed header that the request does not
// have counts as empty: callers have checked.
std::string canonical_request(const Request& request, const CanonicalParts& parts);

// "AWS4-HMAC-SHA256", time, scope and hash, a line each.
std::string string_to_sign(std::string_view timestamp, std::string_view scope,
                           std::string_view canonical_request_hash);

inline constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view terminator = "aws4_request";
inline constexpr std::string_view unsigned_payload = "UNSIGNED-PAYLOAD";

}  // namespace auth
