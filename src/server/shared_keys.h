// The keys that requests are verified with: a value that is never altered, but replaced as a whole
// by the core thread when the keys of agents have changed. Any thread reads.
#pragma once

#include <atomic>
#include <memory>

#include "auth/key_ring.h"
#include "model/state.h"

namespace server {

class SharedKeys {
 public:
  // `fixed` are the keys that stand beside those of agents; it has the server's mint.
  SharedKeys(auth::KeyRing fixed, auth::Mint mint, model::Account account)
      : fixed_(std::move(fixed)), mint_(std::move(mint)), account_(std::move(account)) {
    ring_.store(std::make_shared<const auth::KeyRing>(fixed_));
  }

  // Shared, since the ring may be replaced while it is read.
  std::shared_ptr<const auth::KeyRing> get() const { return ring_.load(); }
  // One thread at a time. Cost: O(keys).
  void take_agent_keys(const model::ClusterState& state);

 private:
  const auth::KeyRing fixed_;
  const auth::Mint mint_;
  const model::Account account_;
  std::atomic<std::shared_ptr<const auth::KeyRing>> ring_;
};

}  // namespace server
