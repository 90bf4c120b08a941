// A Store that fails as told, for tests and the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/random.h"
#include "store/store.h"

namespace store {

// Chances in percent of each call; all 0: the decorator only passes on.
struct Faults {
  uint32_t commit_not_written = 0;  // Unknown, and the batch is not there.
  uint32_t commit_written = 0;      // Unknown, and the batch is there.
  uint32_t commit_late = 0;         // Unknown; on its way still, and written before the next call.
  uint32_t lost_leadership = 0;     // The leader is deposed before the commit.
  uint32_t campaign_fails = 0;
  uint32_t load_fails = 0;
  uint32_t renew_unknown = 0;
  // The process dies in its nth commit from now (1 is the next), before or after the write: the
  // commit answers Unknown, and so does everything else until restart().
  std::optional<uint64_t> crash_before_commit = std::nullopt;
  std::optional<uint64_t> crash_after_commit = std::nullopt;
};

// Deterministic for a seed and a sequence of calls. One thread at a time.
class FaultyStore final : public Store {
 public:
  // `inner` outlives the decorator. `delay`, where given, is called before every call is passed on:
  // the simulator lets time pass there.
  FaultyStore(Store& inner, uint64_t seed, Faults faults, std::function<void()> delay = {});

  void set_faults(const Faults& faults);
  // True once a crash point was reached.
  bool crashed() const { return crashed_; }
  // The process is up again; its crash points are gone.
  void restart();

  Limits limits() const override { return inner_.limits(); }
  base::Result<uint64_t> campaign(std::string_view candidate, base::Milliseconds patience) override;
  base::Result<std::vector<Record>> load() override;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override;
  RenewOutcome renew(uint64_t epoch) override;
  void resign(uint64_t epoch) override;
  base::Result<std::optional<Leader>> watch_leader(uint64_t known_epoch,
                                                   base::Milliseconds patience) override;
  const base::Error& last_error() const override { return error_; }

 private:
  // A commit that the caller does not wait for any more, but that is on its way still.
  struct Late {
    uint64_t epoch;
    Batch batch;
  };

  CommitOutcome unknown(const char* why);
  // Delays, and says whether the process is up.
  bool enter();

  Store& inner_;
  base::Random random_;
  Faults faults_;
  std::function<void()> delay_;
  uint64_t commits_ = 0;  // Since the faults were set.
  bool crashed_ = false;
  std::optional<Late> late_;
  base::Error error_;
};

}  // namespace store
