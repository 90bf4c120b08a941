// The keys that requests are verified with: a value that is never altered, but replaced as a whole
// by the core thread when the keys of agents have changed; and which tasks' keys are good still.
// Any thread reads.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "auth/key_ring.h"
#include "base/result.h"
#include "model/state.h"
#include "server/live_tasks.h"

namespace server {

class SharedKeys {
 public:
  // `fixed` are the keys that stand beside those of agents; it has the server's key derivation.
  SharedKeys(auth::KeyRing fixed, auth::KeyDerivation derivation, model::Account account)
      : fixed_(std::move(fixed)), derivation_(std::move(derivation)), account_(std::move(account)) {
    ring_.store(std::make_shared<const auth::KeyRing>(fixed_));
  }

  // Shared, since the ring may be replaced while it is read.
  std::shared_ptr<const auth::KeyRing> get() const { return ring_.load(); }
  // Whether the verified caller's key is good still: that of a task's role ends with the task, and
  // with the key of the agent that was given it.
  // Errors: ExpiredTokenException.
  base::Result<void> check(const auth::Caller& caller) const;

  // These are one thread's at a time. Cost: O(keys); O(keys + tasks); as LiveTasks::take().
  // The instances (ARNs) whose agents' keys are gone.
  std::vector<std::string> take_agent_keys(const model::ClusterState& state);
  std::vector<std::string> take_all(const model::ClusterState& state);
  void take_tasks(const model::ClusterState& state, const std::vector<model::TaskArn>& changed) {
    live_tasks_.take(state, changed);
  }

 private:
  const auth::KeyRing fixed_;
  const auth::KeyDerivation derivation_;
  const model::Account account_;
  std::atomic<std::shared_ptr<const auth::KeyRing>> ring_;
  LiveTasks live_tasks_;
  std::map<std::string, std::string> agents_;  // Of the ring: by key, the instance. Of one thread.
};

}  // namespace server
