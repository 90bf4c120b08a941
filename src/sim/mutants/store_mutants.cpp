#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/mutants/mutants.h"
#include "sim/passing_store.h"

namespace sim {
namespace {

using store::Batch;
using store::CommitOutcome;

// A mutant whose store is a `Broken`, made around the store beneath it.
template <class Broken>
class StoreMutant final : public Mutant {
 public:
  std::unique_ptr<store::Store> around_store(store::Store& inner) override {
    return std::make_unique<Broken>(inner);
  }
};

// What it has answered for is written with the next call only: a process that dies loses it.
class LateStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override {
    flush();
    late_.emplace(epoch, batch);
    return CommitOutcome::Committed;
  }
  base::Result<std::vector<store::Record>> load() override {
    flush();
    return PassingStore::load();
  }
  void died() { late_.reset(); }

 private:
  void flush() {
    if (!late_) return;
    const auto [epoch, batch] = *std::exchange(late_, std::nullopt);
    inner().commit(epoch, batch);
  }
  std::optional<std::pair<uint64_t, Batch>> late_;
};

class ReplyBeforeCommit final : public Mutant {
 public:
  std::unique_ptr<store::Store> around_store(store::Store& inner) override {
    auto made = std::make_unique<LateStore>(inner);
    store_ = made.get();
    return made;
  }
  void server_died() override { store_->died(); }

 private:
  LateStore* store_ = nullptr;  // Owned by the server, which outlives its calls to the mutant.
};

class DroppingStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override {
    Batch less = batch;
    if (++commits_ % 11 == 0 && !less.puts.empty()) less.puts.pop_back();
    return inner().commit(epoch, less);
  }

 private:
  uint64_t commits_ = 0;
};

class ForgetfulStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override {
    return ++commits_ % 17 == 0 ? CommitOutcome::Committed : inner().commit(epoch, batch);
  }

 private:
  uint64_t commits_ = 0;
};

class OptimisticStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override {
    const CommitOutcome outcome = inner().commit(epoch, batch);
    return outcome == CommitOutcome::Unknown ? CommitOutcome::Committed : outcome;
  }
};

class UnfencedStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override {
    const CommitOutcome outcome = inner().commit(epoch, batch);
    return outcome == CommitOutcome::LostLeadership ? CommitOutcome::Committed : outcome;
  }
};

class StaleStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override {
    for (const store::Put& put : batch.puts) first_.emplace(put.key, put.value);
    return inner().commit(epoch, batch);
  }
  base::Result<std::vector<store::Record>> load() override {
    auto records = inner().load();
    if (!records) return records;
    for (store::Record& record : *records) {
      const auto first = first_.find(record.key);
      if (first == first_.end() || first->second == record.value) continue;
      record.value = first->second;
      break;
    }
    return records;
  }

 private:
  std::map<std::string, std::string> first_;
};

}  // namespace

std::unique_ptr<Mutant> make_reply_before_commit() {
  return std::make_unique<ReplyBeforeCommit>();
}
std::unique_ptr<Mutant> make_dropped_change() {
  return std::make_unique<StoreMutant<DroppingStore>>();
}
std::unique_ptr<Mutant> make_memory_not_stored() {
  return std::make_unique<StoreMutant<ForgetfulStore>>();
}
std::unique_ptr<Mutant> make_unknown_taken_for_committed() {
  return std::make_unique<StoreMutant<OptimisticStore>>();
}
std::unique_ptr<Mutant> make_fencing_ignored() {
  return std::make_unique<StoreMutant<UnfencedStore>>();
}
std::unique_ptr<Mutant> make_stale_load() {
  return std::make_unique<StoreMutant<StaleStore>>();
}

}  // namespace sim
