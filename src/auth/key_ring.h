// The access keys of a server.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "auth/access.h"
#include "auth/key_derivation.h"

namespace auth {

// The keys that a server accepts: those put in, by access key id, and the temporary ones that its
// own derivation has made. A plain value: not synchronised.
class KeyRing {
 public:
  KeyRing() = default;
  explicit KeyRing(KeyDerivation derivation) : derivation_(std::move(derivation)) {}

  // A key of the same id is replaced.
  void put(AccessKey key);
  void remove(std::string_view access_key_id);
  // Null when there is none; valid until the ring changes.
  const AccessKey* find(std::string_view access_key_id) const;
  // The temporary key that belongs to this token; nullopt when this server's key derivation has not
  // made it.
  std::optional<AccessKey> find_session(std::string_view access_key_id,
                                        std::string_view session_token) const;
  size_t size() const { return keys_.size(); }

 private:
  std::optional<KeyDerivation> derivation_;
  std::map<std::string, AccessKey, std::less<>> keys_;
};

}  // namespace auth
