// X.509 certificates of one's own: an authority, and servers that it vouches for.
// Source: RFC 5280; keys are ECDSA P-256, FIPS 186-4.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace crypto {

struct Certificate {
  std::string certificate_pem;
  std::string private_key_pem;  // PKCS #8, not encrypted.
};

// An authority that vouches for servers only. `name` is its common name.
Certificate make_authority(const std::string& name, base::Time from, base::Time until);

// A server's, signed by `authority`. `names` are host names and IP addresses; the first is its
// common name. Errors: "InvalidCertificate" when `authority` cannot be read.
base::Result<Certificate> make_server_certificate(const Certificate& authority,
                                                  const std::vector<std::string>& names,
                                                  base::Time from, base::Time until);

struct CertificateFacts {
  std::vector<std::string> names;  // Host names and IP addresses that it is for.
  base::Time until;                // It is good before this time.
};
// Of the first certificate in the text. Errors: "InvalidCertificate".
base::Result<CertificateFacts> read_certificate(const std::string& pem);

}  // namespace crypto
