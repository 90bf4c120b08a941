// CloudWatch Logs: log groups, log streams and their events, in a SQLite file of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/any.h"
#include "api/service.h"
#include "base/result.h"
#include "base/time.h"
#include "logs/context.h"
#include "logs/limits.h"
#include "logs/scrubber.h"
#include "logs/sweeper.h"
#include "sqlite/database.h"

namespace logs {

// One request: an operation of api::logs_service() and a value of its input shape. Both are
// borrowed for the call.
struct Call {
  const api::Operation* operation = nullptr;
  const api::Any* request = nullptr;
  Writer writer = {};
};

// Whether the operation changes anything.
bool writes(const api::Operation& operation);
// Whether a file's failure is that what it holds is damaged.
bool is_damage(const base::Error& error);

// Belongs to one thread at a time; it has no threads and no locks of its own.
//
// An agent that sends its events at least once has each stored exactly once when it numbers a
// stream's events 0, 1, 2, ... and sends the number of a batch's first event as berthPosition: of a
// batch that overlaps what the stream has, only the rest is stored, and berthNextPosition (also in
// DescribeLogStreams) is the number that the stream waits for. Nothing of an agent's output is
// turned away for its time: one that is too old or too new becomes one that is taken, and that of a
// numbered event never stands before the stream's last one.
class Service {
 public:
  // Errors: those of sqlite/database.h.
  static base::Result<std::unique_ptr<Service>> open(const std::string& path,
                                                     const std::string& region,
                                                     const std::string& account,
                                                     const Limits& limits = {});
  // For calls that change nothing, beside the service that writes, on a thread of its own. Each
  // call sees all that was committed before it began. Errors: the same.
  static base::Result<std::unique_ptr<Service>> open_reader(const std::string& path,
                                                            const std::string& region,
                                                            const std::string& account);

  // Runs `calls` in their order, each seeing what those before it did, in one transaction that is
  // on the disk when this returns: the cost of a commit is shared by the batch. One answer for each
  // call, of the operation's output shape.
  // Calls are of the operations of api::logs_service(). Errors of a call: CloudWatch Logs' own (a
  // failed call changes nothing); "ServiceUnavailableException" when the file cannot be read or
  // written: then every call of the batch gets it, and nothing of the batch is stored or, when the
  // very commit failed, all or nothing is.
  std::vector<base::Result<api::Any>> handle_batch(std::span<const Call> calls, base::Time now);
  // A batch of one.
  base::Result<api::Any> handle(const api::Operation& operation, const api::Any& request,
                                base::Time now, const Writer& writer = {});

  // Removes some of the events that expired, whose group or stream was deleted, or that are more
  // than the limits allow, the oldest first. True: there may be more, call again soon (each call
  // blocks for some ten milliseconds, more where many events came since the last one).
  // Errors: "ServiceUnavailableException"; nothing was removed then.
  base::Result<bool> sweep(base::Time now);

  // Looks through some of the file for damage (scrubber.h); of a reader. True: it has been through
  // all of it. Errors: "ServiceUnavailableException".
  base::Result<bool> scrub();

  // That the file turned out to be damaged, once a call has come upon it.
  const std::optional<base::Error>& damage() const { return damage_; }

 private:
  static base::Result<std::unique_ptr<Service>> make(std::unique_ptr<sqlite::Database> database,
                                                     Owner owner, const Limits& limits);
  Service(std::unique_ptr<sqlite::Database> database, Owner owner, Groups groups, Streams streams,
          Events events, JsonFields json_fields, Sweeper sweeper, Scrubber scrubber, Limits limits);
  base::Result<void> run(std::span<const Call> calls, base::Time now,
                         std::vector<base::Result<api::Any>>& answers);
  base::Result<void> run_each(std::span<const Call> calls, base::Time now,
                              std::vector<base::Result<api::Any>>& answers);
  base::Error failed(const base::Error& cause);
  void look_at_disk();
  bool has_free_pages();
  base::Result<void> trim_wal();
  base::Result<int64_t> stored_since_sweep();
  void tell_over_quota(const std::string& group, base::Time now);

  std::unique_ptr<sqlite::Database> database_;  // First, so that it goes last.
  Owner owner_;
  Groups groups_;
  Streams streams_;
  Events events_;
  JsonFields json_fields_;
  Sweeper sweeper_;
  Scrubber scrubber_;
  Limits limits_;
  std::optional<base::Error> damage_;
  std::optional<base::Error> no_room_;      // Why nothing is added for now.
  int64_t swept_to_ = 0;                    // The next event's id at the last sweep.
  std::map<std::string, base::Time> told_;  // When a group was said to be over its quota.
};

}  // namespace logs
