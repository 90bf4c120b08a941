#include "sim/watched_store.h"

#include <utility>

namespace sim {
namespace {

constexpr std::string_view checker_name = "store_keeps_its_word";

void perform(const store::Batch& batch, WatchedStore::Records& records) {
  for (const store::Put& put : batch.puts) records[put.key] = put.value;
  for (const std::string& key : batch.deletes) records.erase(key);
}

// The first key in which the two differ, as a sentence.
std::string difference(const WatchedStore::Records& told, const WatchedStore::Records& shown) {
  for (const auto& [key, value] : told) {
    const auto found = shown.find(key);
    if (found == shown.end()) return base::format("{} was written, and is gone", key);
    if (found->second != value) return base::format("{} shows an older or another value", key);
  }
  for (const auto& [key, value] : shown) {
    if (!told.contains(key)) {
      return base::format("{} was deleted or never written, and is there", key);
    }
  }
  return {};
}

}  // namespace

void WatchedStore::disk_lost() {
  acknowledged_.clear();
  open_.reset();
}

base::Result<std::vector<store::Record>> WatchedStore::load() {
  if (environment_.failure) return base::fail("Stopped", "A check has failed before.");
  auto loaded = inner().load();
  if (!loaded) return loaded;
  Records shown;
  for (const store::Record& record : *loaded) shown[record.key] = record.value;
  if (open_ && shown == *open_) {
    acknowledged_ = std::move(shown);
  } else if (shown != acknowledged_) {
    environment_.fail(checker_name,
                      "after a reload the store does not show what it had acknowledged: " +
                          difference(acknowledged_, shown));
    return base::fail("Stopped", "A check has failed.");
  }
  open_.reset();
  return loaded;
}

store::CommitOutcome WatchedStore::commit(uint64_t epoch, const store::Batch& batch) {
  if (environment_.on_written) {
    for (const store::Put& put : batch.puts) environment_.on_written(put.key, put.value);
  }
  const store::CommitOutcome outcome = inner().commit(epoch, batch);
  if (outcome == store::CommitOutcome::Committed) {
    perform(batch, acknowledged_);
  } else if (outcome == store::CommitOutcome::Unknown) {
    Records records = acknowledged_;
    perform(batch, records);
    open_ = std::move(records);
  }
  return outcome;
}

}  // namespace sim
