#include "net/shares.h"

#include "base/hash.h"
#include "base/random.h"

namespace net {

Shares::Shares() : salt_(base::system_seed()) {}

size_t Shares::place_of(std::string_view name) const {
  const uint64_t hash = (base::fnv1a(name) ^ salt_) * 0x9E3779B97F4A7C15U;
  return (hash >> 32U) % places;
}

}  // namespace net
