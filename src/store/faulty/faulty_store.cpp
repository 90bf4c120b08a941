#include "store/faulty/faulty_store.h"

#include <utility>

namespace store {
namespace {

std::unexpected<base::Error> injected(const char* what) {
  return base::fail("InjectedFault",
                    std::string("The fault injector made this fail: ") + what + ".");
}

}  // namespace

FaultyStore::FaultyStore(Store& inner, uint64_t seed, Faults faults, std::function<void()> delay)
    : inner_(inner), random_(seed), faults_(faults), delay_(std::move(delay)) {}

void FaultyStore::set_faults(const Faults& faults) {
  faults_ = faults;
  commits_ = 0;
}

void FaultyStore::restart() {
  crashed_ = false;
  faults_.crash_before_commit.reset();
  faults_.crash_after_commit.reset();
}

bool FaultyStore::enter() {
  if (delay_) delay_();
  if (late_) {
    const Late late = *std::exchange(late_, std::nullopt);
    // Nobody waits for its outcome any more.
    inner_.commit(late.epoch, late.batch);
  }
  return !crashed_;
}

CommitOutcome FaultyStore::unknown(const char* why) {
  error_ = injected(why).error();
  return CommitOutcome::Unknown;
}

base::Result<uint64_t> FaultyStore::campaign(std::string_view candidate,
                                             base::Milliseconds patience) {
  if (!enter()) return injected("the process is down");
  if (random_.chance(faults_.campaign_fails)) return injected("the campaign did not get through");
  return inner_.campaign(candidate, patience);
}

base::Result<std::vector<Record>> FaultyStore::load() {
  if (!enter()) return injected("the process is down");
  if (random_.chance(faults_.load_fails)) return injected("the records cannot be read");
  return inner_.load();
}

CommitOutcome FaultyStore::commit(uint64_t epoch, const Batch& batch) {
  if (!enter()) return unknown("the process is down");
  ++commits_;
  if (faults_.crash_before_commit == commits_) {
    crashed_ = true;
    return unknown("the process died before the write");
  }
  if (faults_.crash_after_commit == commits_) {
    crashed_ = true;
    inner_.commit(epoch, batch);
    return unknown("the process died after the write");
  }
  if (random_.chance(faults_.commit_not_written)) return unknown("the batch was not written");
  if (random_.chance(faults_.commit_written)) {
    inner_.commit(epoch, batch);
    return unknown("the batch was written, its acknowledgement was lost");
  }
  if (random_.chance(faults_.commit_late)) {
    late_ = Late{epoch, batch};
    return unknown("the batch is on its way");
  }
  if (random_.chance(faults_.lost_leadership)) inner_.resign(epoch);
  const CommitOutcome outcome = inner_.commit(epoch, batch);
  if (outcome != CommitOutcome::Committed) error_ = inner_.last_error();
  return outcome;
}

RenewOutcome FaultyStore::renew(uint64_t epoch) {
  if (!enter() || random_.chance(faults_.renew_unknown)) {
    error_ = injected("the renewal was not answered").error();
    return RenewOutcome::Unknown;
  }
  const RenewOutcome outcome = inner_.renew(epoch);
  if (outcome != RenewOutcome::Renewed) error_ = inner_.last_error();
  return outcome;
}

void FaultyStore::resign(uint64_t epoch) {
  if (enter()) inner_.resign(epoch);
}

base::Result<std::optional<Leader>> FaultyStore::watch_leader(uint64_t known_epoch,
                                                              base::Milliseconds patience) {
  if (!enter()) return injected("the process is down");
  return inner_.watch_leader(known_epoch, patience);
}

}  // namespace store
