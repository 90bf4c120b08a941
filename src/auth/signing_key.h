// Signing keys derived from secret access keys, and a bounded cache of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "crypto/crypto.h"

namespace auth {

// What a signature is valid for: "20250131/us-east-1/ecs/aws4_request".
struct Scope {
  std::string_view date;  // "20250131".
  std::string_view region;
  std::string_view service;

  std::string str() const;
};

// HMAC chain over date, region, service and "aws4_request".
// Source: AWS IAM User Guide, "Create a signed AWS API request", step 4.
crypto::Hmac derive_signing_key(std::string_view secret_access_key, const Scope& scope);

// Derived keys in two generations: when the young one is full the old one is dropped and the young
// one takes its place, so that keys in use stay and nothing is ever searched for a victim.
// One thread at a time.
class SigningKeys {
 public:
  explicit SigningKeys(size_t capacity) : capacity_(capacity) {}

  // Valid until the next call. A secret that changed under the same id is derived anew.
  crypto::Hmac& get(std::string_view access_key_id, std::string_view secret_access_key,
                    const Scope& scope);
  size_t size() const { return young_.size() + old_.size(); }

 private:
  struct Entry {
    std::string secret_access_key;
    crypto::Hmac key;
  };

  size_t capacity_;
  std::unordered_map<std::string, Entry> young_;
  std::unordered_map<std::string, Entry> old_;
};

}  // namespace auth
