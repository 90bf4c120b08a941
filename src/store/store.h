// Durable records under one leader: what the driver writes its changes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace store {

// A key is a path such as "task/default/0123", a value any bytes (JSON in practice, so that people
// can read it with the engine's own tools). Keys order by their bytes.
struct Record {
  std::string key;
  std::string value;
  friend bool operator==(const Record&, const Record&) = default;
};
using Put = Record;

// Written as a whole or not at all. A key stands at most once in a batch.
struct Batch {
  std::vector<Put> puts = {};
  std::vector<std::string> deletes = {};  // A key that does not exist may be deleted.

  bool empty() const { return puts.empty() && deletes.empty(); }
  size_t operations() const { return puts.size() + deletes.size(); }
};

enum class CommitOutcome : uint8_t {
  Committed,       // Durable: it survives a power cut from now on.
  LostLeadership,  // Not written: `epoch` does not lead any more.
  Unknown,         // Written or not. Whoever wants to know calls load(), after a new campaign().
};

enum class RenewOutcome : uint8_t {
  Renewed,
  Lost,     // Another one leads, or nobody.
  Unknown,  // The engine could not be asked; leadership lasts until the lease runs out.
};

struct Leader {
  uint64_t epoch = 0;
  std::string candidate;  // What it handed to campaign(): its advertised address.
  friend bool operator==(const Leader&, const Leader&) = default;
};

// What one commit may hold and how long one renewal lasts.
struct Limits {
  size_t operations = SIZE_MAX;  // Puts and deletes in one batch (etcd: 128 less our own two).
  size_t bytes = SIZE_MAX;       // Keys and values of one batch (etcd: 1.5 MiB a request).
  // Renew at least three times as often. nullopt: leadership does not run out.
  std::optional<base::Milliseconds> lease = std::nullopt;
};

// The life of a leader: campaign() -> epoch, load(), commit(epoch) ..., resign(epoch). On anything
// but Committed it throws its memory away and starts again with campaign(). Epochs only grow; once
// campaign() has answered, no commit of a lower epoch can succeed, and load() shows every commit
// that ever answered Committed.
//
// Methods block for as long as the engine needs. One thread at a time owns a Store.
class Store {
 public:
  virtual ~Store() = default;

  virtual Limits limits() const = 0;

  // Becomes leader. `candidate` is the address that others are to be sent to. Waits up to
  // `patience` for a leader to go. Errors: "NotLeader" naming the present leader when patience is
  // over; "UnsupportedFormat" and "Corrupt" as for load(); the engine's own ("IoError", "DiskFull",
  // ...).
  virtual base::Result<uint64_t> campaign(std::string_view candidate,
                                          base::Milliseconds patience) = 0;

  // Every record in the order of the keys. Errors: "UnsupportedFormat" when a newer version wrote
  // the records; "Corrupt" naming the file and what to do; the engine's own.
  virtual base::Result<std::vector<Record>> load() = 0;

  // Writes `batch` if `epoch` still leads. An empty batch only asks whether it does. Two operations
  // on one key, or a batch over limits(), are the caller's mistake and abort. last_error() tells
  // why it was not Committed.
  virtual CommitOutcome commit(uint64_t epoch, const Batch& batch) = 0;

  // Extends the lease.
  virtual RenewOutcome renew(uint64_t epoch) = 0;

  // Gives leadership up at once, so that another one need not wait for the lease. Nothing happens
  // when `epoch` does not lead.
  virtual void resign(uint64_t epoch) = 0;

  // Who leads, as soon as its epoch is another than `known_epoch` (a resignation counts), or after
  // `patience`. nullopt: nobody leads. With patience 0 it answers at once.
  virtual base::Result<std::optional<Leader>> watch_leader(uint64_t known_epoch,
                                                           base::Milliseconds patience) = 0;

  // Why the last commit() or renew() did not succeed: code and one sentence.
  virtual const base::Error& last_error() const = 0;
};

}  // namespace store
