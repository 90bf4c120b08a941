#include "auth/key_ring.h"

#include <utility>

namespace auth {

void KeyRing::put(AccessKey key) {
  std::string id = key.access_key_id;
  keys_.insert_or_assign(std::move(id), std::move(key));
}

void KeyRing::remove(std::string_view access_key_id) {
  if (const auto found = keys_.find(access_key_id); found != keys_.end()) keys_.erase(found);
}

const AccessKey* KeyRing::find(std::string_view access_key_id) const {
  const auto found = keys_.find(access_key_id);
  return found == keys_.end() ? nullptr : &found->second;
}

std::optional<AccessKey> KeyRing::find_session(std::string_view access_key_id,
                                               std::string_view session_token) const {
  if (!derivation_) return std::nullopt;
  return derivation_->find_session(access_key_id, session_token);
}

}  // namespace auth
