// A store between the driver and everything that fails beneath it: remembers what the driver was
// told is written, and compares it with what a later load shows.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/environment.h"
#include "sim/passing_store.h"

namespace sim {

class WatchedStore final : public PassingStore {
 public:
  using Records = std::map<std::string, std::string>;

  // `environment` and `inner` outlive it.
  WatchedStore(Environment& environment, store::Store& inner)
      : PassingStore(inner), environment_(environment) {}

  // What was acknowledged as written. While a commit's outcome is unknown: without it.
  const Records& acknowledged() const { return acknowledged_; }
  bool outcome_is_open() const { return open_.has_value(); }
  // The disk is gone: so is what was acknowledged.
  void disk_lost();

  // After a failure of a check it shows nothing more: what comes of it would only hide the cause.
  base::Result<std::vector<store::Record>> load() override;
  store::CommitOutcome commit(uint64_t epoch, const store::Batch& batch) override;

 private:
  Environment& environment_;
  Records acknowledged_;
  std::optional<Records> open_;  // As it is if the commit of unknown outcome was written.
};

}  // namespace sim
