#include "store/memory/memory_store.h"

#include "base/format.h"
#include "store/batch.h"

namespace store {
namespace {

base::Error deposed(const MemoryDisk& disk, uint64_t epoch) {
  return {"NotLeader", disk.leader ? base::format("Epoch {} is over: {} leads with epoch {}.",
                                                  epoch, disk.leader->candidate, disk.leader->epoch)
                                   : base::format("Epoch {} is over: nobody leads.", epoch)};
}

bool leads(const MemoryDisk& disk, uint64_t epoch) {
  return disk.leader && disk.leader->epoch == epoch;
}

}  // namespace

base::Result<uint64_t> MemoryStore::campaign(std::string_view candidate, base::Milliseconds) {
  if (disk_.leader && disk_.leader->candidate != candidate) {
    return base::fail("NotLeader", base::format("{} leads.", disk_.leader->candidate));
  }
  disk_.leader = Leader{++disk_.epoch, std::string(candidate)};
  return disk_.epoch;
}

base::Result<std::vector<Record>> MemoryStore::load() {
  std::vector<Record> records;
  records.reserve(disk_.records.size());
  for (const auto& [key, value] : disk_.records) records.push_back({key, value});
  return records;
}

CommitOutcome MemoryStore::commit(uint64_t epoch, const Batch& batch) {
  check_batch(batch, limits());
  if (!leads(disk_, epoch)) {
    error_ = deposed(disk_, epoch);
    return CommitOutcome::LostLeadership;
  }
  for (const Put& put : batch.puts) disk_.records[put.key] = put.value;
  for (const std::string& key : batch.deletes) disk_.records.erase(key);
  return CommitOutcome::Committed;
}

RenewOutcome MemoryStore::renew(uint64_t epoch) {
  if (leads(disk_, epoch)) return RenewOutcome::Renewed;
  error_ = deposed(disk_, epoch);
  return RenewOutcome::Lost;
}

void MemoryStore::resign(uint64_t epoch) {
  if (leads(disk_, epoch)) disk_.leader.reset();
}

base::Result<std::optional<Leader>> MemoryStore::watch_leader(uint64_t, base::Milliseconds) {
  return disk_.leader;
}

}  // namespace store
