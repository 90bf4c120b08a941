// A store that only passes on: what the simulation's stores derive from, so that each says just
// what it does otherwise.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace sim {

class PassingStore : public store::Store {
 public:
  // `inner` outlives it.
  explicit PassingStore(store::Store& inner) : inner_(inner) {}

  store::Limits limits() const override { return inner_.limits(); }
  base::Result<uint64_t> campaign(std::string_view candidate,
                                  base::Milliseconds patience) override {
    return inner_.campaign(candidate, patience);
  }
  base::Result<std::vector<store::Record>> load() override { return inner_.load(); }
  store::CommitOutcome commit(uint64_t epoch, const store::Batch& batch) override {
    return inner_.commit(epoch, batch);
  }
  store::RenewOutcome renew(uint64_t epoch) override { return inner_.renew(epoch); }
  void resign(uint64_t epoch) override { inner_.resign(epoch); }
  base::Result<std::optional<store::Leader>> watch_leader(uint64_t known_epoch,
                                                          base::Milliseconds patience) override {
    return inner_.watch_leader(known_epoch, patience);
  }
  const base::Error& last_error() const override { return inner_.last_error(); }

 protected:
  store::Store& inner() { return inner_; }

 private:
  store::Store& inner_;
};

}  // namespace sim
