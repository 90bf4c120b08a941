#include "auth/signing_key.h"

#include <utility>

#include "auth/canonical.h"

namespace auth {

std::string Scope::str() const {
  std::string text;
  text.reserve(date.size() + region.size() + service.size() + terminator.size() + 3);
  text.append(date).append("/").append(region).append("/").append(service).append("/");
  return text.append(terminator);
}

crypto::Hmac derive_signing_key(std::string_view secret_access_key, const Scope& scope) {
  std::string first = "AWS4";
  first.append(secret_access_key);
  crypto::Digest key = crypto::hmac_sha256(first, scope.date);
  key = crypto::hmac_sha256(crypto::as_text(key), scope.region);
  key = crypto::hmac_sha256(crypto::as_text(key), scope.service);
  key = crypto::hmac_sha256(crypto::as_text(key), terminator);
  return crypto::Hmac(crypto::as_text(key));
}

crypto::Hmac& SigningKeys::get(std::string_view access_key_id, std::string_view secret_access_key,
                               const Scope& scope) {
  std::string name(access_key_id);
  name.append("/").append(scope.str());
  const auto same_secret = [&](const Entry& entry) {
    return crypto::constant_time_equal(entry.secret_access_key, secret_access_key);
  };
  if (const auto found = young_.find(name); found != young_.end()) {
    if (same_secret(found->second)) return found->second.key;
    young_.erase(found);
  }
  auto kept = old_.extract(name);
  if (young_.size() >= (capacity_ + 1) / 2) old_ = std::exchange(young_, {});
  if (!kept.empty() && same_secret(kept.mapped())) {
    return young_.insert(std::move(kept)).position->second.key;
  }
  Entry entry{std::string(secret_access_key), derive_signing_key(secret_access_key, scope)};
  return young_.emplace(std::move(name), std::move(entry)).first->second.key;
}

}  // namespace auth
