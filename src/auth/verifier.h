// The receiving side of AWS Signature Version 4.
// Source: AWS IAM User Guide, "AWS Signature Version 4 for API requests".
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "auth/key_ring.h"
#include "auth/request.h"
#include "auth/signing_key.h"
#include "base/result.h"
#include "base/time.h"
#include "crypto/crypto.h"

namespace auth {

// How far a signature's time may be from ours.
inline constexpr std::chrono::minutes tolerance{5};

// Verifies requests for one region and a set of services. Keeps derived signing keys, so that a
// caller's second request costs one keyed hash instead of five; the cache is bounded.
// Pure but for that cache; one thread at a time: every thread that verifies has its own.
class Verifier {
 public:
  struct Options {
    std::string region;                  // "us-east-1".
    std::vector<std::string> services;   // Scope names: {"ecs", "logs", "sts"}.
    size_t cached_signing_keys = 4'096;  // At most; about 1 KiB each.
  };

  explicit Verifier(Options options);

  // Header form (Authorization, websocket upgrades included) and presigned form (X-Amz-Signature
  // in the query). Errors carry the codes of AWS's JSON services (query_protocol_code translates):
  //   MissingAuthenticationTokenException  the request is not signed
  //   IncompleteSignatureException         the signature's parts are missing or malformed
  //   UnrecognizedClientException          unknown access key id, or not its session token
  //   ExpiredTokenException                a temporary key past its time
  //   InvalidSignatureException            signature wrong, more than 5 minutes off, other region
  //                                        or service in the scope, a header left unsigned
  // No message carries a secret, a token or a signature.
  base::Result<Caller> verify(const Request& request, const KeyRing& keys, base::Time now);

  // What of verify() needs no body: the signature's parts, its scope and date, and that its key is
  // known and good. No proof: anybody who knows a key's id can say as much. The key's id.
  base::Result<std::string> check_head(const Request& head, const KeyRing& keys,
                                       base::Time now) const;

 private:
  struct Claimed;
  base::Result<Claimed> find_claimed(const Request& head, const KeyRing& keys,
                                     base::Time now) const;

  Options options_;
  SigningKeys signing_keys_;
  crypto::Sha256 sha256_;
};

// The code that AWS's query and EC2 protocols (STS, IAM, ...) use for what the JSON protocols call
// `code`: "SignatureDoesNotMatch" for "InvalidSignatureException". Other codes come back as they
// are.
std::string_view query_protocol_code(std::string_view code);

}  // namespace auth
