// Records in memory: for the simulator and for tests. Nothing survives the process.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "store/store.h"

namespace store {

// What several MemoryStores share, as several control planes share one etcd. It outlives them. All
// of them belong to one thread.
struct MemoryDisk {
  std::map<std::string, std::string> records;
  uint64_t epoch = 0;            // Of the last campaign that was won.
  std::optional<Leader> leader;  // Empty after a resignation or expire_leader().

  // As if the leader's lease ran out. The leader learns it from its next commit or renewal.
  void expire_leader() { leader.reset(); }
};

class MemoryStore final : public Store {
 public:
  // `disk` outlives the store.
  explicit MemoryStore(MemoryDisk& disk) : disk_(disk) {}

  Limits limits() const override { return {}; }
  // Does not wait: time does not pass in here. A candidate follows on itself, as a process does
  // that comes back before its lease ran out.
  base::Result<uint64_t> campaign(std::string_view candidate, base::Milliseconds patience) override;
  base::Result<std::vector<Record>> load() override;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override;
  RenewOutcome renew(uint64_t epoch) override;
  void resign(uint64_t epoch) override;
  base::Result<std::optional<Leader>> watch_leader(uint64_t known_epoch,
                                                   base::Milliseconds patience) override;
  const base::Error& last_error() const override { return error_; }

 private:
  MemoryDisk& disk_;
  base::Error error_;
};

}  // namespace store
