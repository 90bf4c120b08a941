// What a request says about its own signature, before any of it is believed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/request.h"
#include "auth/signing_key.h"
#include "base/result.h"
#include "base/time.h"

namespace auth {

enum class SignatureForm : uint8_t { Header, Presigned };

struct Claim {
  SignatureForm form = SignatureForm::Header;
  std::string credential = {};  // "AKID/20250131/us-east-1/ecs/aws4_request".
  std::string signed_headers = {};
  std::string signature = {};
  std::string timestamp = {};  // "20250131T120000Z", as it goes into the string to sign.
  base::Time time = {};
  std::chrono::seconds expires{0};  // Presigned form only.
  std::string session_token = {};   // Empty without one.

  // The parts of `credential`, which parse_claim() has counted.
  std::string_view access_key_id() const { return credential_part(0); }
  Scope scope() const { return {credential_part(1), credential_part(2), credential_part(3)}; }
  std::string_view scope_terminator() const { return credential_part(4); }
  std::string_view credential_part(size_t index) const;
  std::vector<std::string_view> signed_header_names() const;
};

// Errors: MissingAuthenticationTokenException, IncompleteSignatureException.
base::Result<Claim> parse_claim(const Request& request);

// Text from a request as it may stand in a message: at most 64 printable characters.
std::string shown(std::string_view text);

}  // namespace auth
