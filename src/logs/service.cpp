#include "logs/service.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "logs/operations/operations.h"
#include "logs/tables/schema.h"

namespace logs {
namespace {

constexpr int64_t events_per_sweep = 2'000;
constexpr int64_t events_per_scrub = 1'000;
constexpr uintmax_t most_wal_bytes = uintmax_t{64} << 20;
constexpr int64_t enough_free_pages = 4'096;  // 16 MiB.
constexpr base::Milliseconds told_again{3'600'000};
constexpr int64_t mib = int64_t{1} << 20;

base::Error unavailable(const base::Error& cause) {
  return {
      .code = "ServiceUnavailableException",
      .message = base::format("The logs file cannot be used: {} ({})", cause.message, cause.code)};
}

const OperationEntry& entry_of(const api::Operation& operation) {
  const OperationEntry* entry = find_operation(operation.name);
  CHECK(entry != nullptr);
  return *entry;
}

}  // namespace

bool writes(const api::Operation& operation) {
  return entry_of(operation).effect != Effect::Reads;
}

bool is_damage(const base::Error& error) {
  return error.code == sqlite::corrupt;
}

Service::Service(std::unique_ptr<sqlite::Database> database, Owner owner, Groups groups,
                 Streams streams, Events events, JsonFields json_fields, Sweeper sweeper,
                 Scrubber scrubber, Limits limits)
    : database_(std::move(database)),
      owner_(std::move(owner)),
      groups_(std::move(groups)),
      streams_(std::move(streams)),
      events_(std::move(events)),
      json_fields_(std::move(json_fields)),
      sweeper_(std::move(sweeper)),
      scrubber_(std::move(scrubber)),
      limits_(limits) {}

base::Result<std::unique_ptr<Service>> Service::make(std::unique_ptr<sqlite::Database> database,
                                                     Owner owner, const Limits& limits) {
  sqlite::Database& opened = *database;
  auto groups = TRY(Groups::prepare(opened));
  auto streams = TRY(Streams::prepare(opened));
  auto events = TRY(Events::prepare(opened));
  auto json_fields = TRY(JsonFields::prepare(opened));
  auto sweeper = TRY(Sweeper::prepare(opened));
  auto scrubber = TRY(Scrubber::prepare(opened));
  return std::unique_ptr<Service>(new Service(
      std::move(database), std::move(owner), std::move(groups), std::move(streams),
      std::move(events), std::move(json_fields), std::move(sweeper), std::move(scrubber), limits));
}

base::Result<std::unique_ptr<Service>> Service::open(const std::string& path,
                                                     const std::string& region,
                                                     const std::string& account,
                                                     const Limits& limits) {
  auto service =
      TRY(make(TRY(open_database(path)), {.region = region, .account = account}, limits));
  TRY(service->stored_since_sweep());
  return service;
}

base::Result<std::unique_ptr<Service>> Service::open_reader(const std::string& path,
                                                            const std::string& region,
                                                            const std::string& account) {
  return make(TRY(open_database_to_read(path)), {.region = region, .account = account}, {});
}

// Errors are the database's; the operations' own go into `answers`.
base::Result<void> Service::run(std::span<const Call> calls, base::Time now,
                                std::vector<base::Result<api::Any>>& answers) {
  if (std::ranges::any_of(calls, [](const Call& call) { return writes(*call.operation); })) {
    look_at_disk();
    auto transaction = TRY(sqlite::Transaction::begin(*database_));
    TRY_VOID(run_each(calls, now, answers));
    return transaction.commit();
  }
  // What another connection writes meanwhile is not seen by halves.
  const auto snapshot = TRY(sqlite::ReadTransaction::begin(*database_));
  return run_each(calls, now, answers);
}

base::Result<void> Service::run_each(std::span<const Call> calls, base::Time now,
                                     std::vector<base::Result<api::Any>>& answers) {
  for (const Call& call : calls) {
    Context context{.owner = owner_,
                    .groups = groups_,
                    .streams = streams_,
                    .events = events_,
                    .json_fields = json_fields_,
                    .writer = call.writer,
                    .now = now};
    const OperationEntry& entry = entry_of(*call.operation);
    if (entry.effect == Effect::Adds && no_room_) {
      answers.push_back(base::fail(*no_room_));
      continue;
    }
    answers.push_back(entry.run(context, *call.operation, *call.request));
    if (!answers.back() && sqlite::is_storage_error(answers.back().error())) {
      return base::fail(answers.back().error());
    }
  }
  return {};
}

// Before the disk is full for everything else that the server writes, no more events are taken.
void Service::look_at_disk() {
  if (limits_.disk_bytes == 0) return;
  const int64_t free = free_on_disk(database_->path());
  const bool enough = free < 0 || free >= limits_.disk_bytes || has_free_pages();
  if (enough) {
    if (no_room_) base::log_info("{} takes log events again", database_->path());
    no_room_.reset();
    return;
  }
  if (no_room_) return;
  no_room_.emplace(base::Error{
      .code = "ServiceUnavailableException",
      .message = base::format(
          "No log events are taken for now: the disk of {} has {} MiB free, and {} MiB are "
          "left to the rest of the server. Free some, or keep fewer logs (--log-quota).",
          database_->path(), free / mib, limits_.disk_bytes / mib)});
  base::log_error("{}", no_room_->message);
}

// What was removed from the file is used again: it need not grow for a while.
bool Service::has_free_pages() {
  return database_->query_int64("PRAGMA freelist_count").value_or(0) > enough_free_pages;
}

// What a call is told of the file's failure.
base::Error Service::failed(const base::Error& cause) {
  if (is_damage(cause)) damage_ = cause;
  return unavailable(cause);
}

std::vector<base::Result<api::Any>> Service::handle_batch(std::span<const Call> calls,
                                                          base::Time now) {
  std::vector<base::Result<api::Any>> answers;
  answers.reserve(calls.size());
  if (calls.empty()) return answers;
  const auto done = run(calls, now, answers);
  if (done) return answers;
  answers.clear();
  const base::Error error = failed(done.error());
  for (size_t index = 0; index < calls.size(); ++index) answers.push_back(base::fail(error));
  return answers;
}

base::Result<api::Any> Service::handle(const api::Operation& operation, const api::Any& request,
                                       base::Time now, const Writer& writer) {
  const Call call{.operation = &operation, .request = &request, .writer = writer};
  return std::move(handle_batch(std::span(&call, 1), now).front());
}

base::Result<bool> Service::sweep(base::Time now) {
  // As fast as events come, where they come faster than that.
  const int64_t most = events_per_sweep + 2 * TRY(stored_since_sweep());
  const auto swept = [&]() -> base::Result<Swept> {
    auto transaction = TRY(sqlite::Transaction::begin(*database_));
    Swept done = TRY(sweeper_.sweep({groups_, streams_, events_}, limits_, now, most));
    TRY_VOID(transaction.commit());
    return done;
  }();
  if (!swept) return base::fail(failed(swept.error()));
  TRY_VOID(trim_wal());
  for (const std::string& group : swept->over_quota) tell_over_quota(group, now);
  return swept->more;
}

base::Result<bool> Service::scrub() {
  const auto scrubbed = [&]() -> base::Result<bool> {
    const auto snapshot = TRY(sqlite::ReadTransaction::begin(*database_));
    return scrubber_.scrub(events_per_scrub);
  }();
  if (!scrubbed) return base::fail(failed(scrubbed.error()));
  return *scrubbed;
}

// SQLite empties its write-ahead log when nobody reads, and there may always be somebody. Waits for
// those who read now, hardly longer than a page of a search takes.
base::Result<void> Service::trim_wal() {
  std::error_code ignored;
  const uintmax_t bytes = std::filesystem::file_size(database_->path() + "-wal", ignored);
  if (ignored || bytes <= most_wal_bytes) return {};
  const auto trimmed = database_->checkpoint();
  if (!trimmed && trimmed.error().code != sqlite::busy) {
    return base::fail(failed(trimmed.error()));
  }
  return {};
}

base::Result<int64_t> Service::stored_since_sweep() {
  const auto next = events_.next_id();
  if (!next) return base::fail(failed(next.error()));
  return *next - std::exchange(swept_to_, *next);
}

// Once an hour for each group.
void Service::tell_over_quota(const std::string& group, base::Time now) {
  std::erase_if(told_, [&](const auto& entry) { return entry.second + told_again <= now; });
  if (!told_.emplace(group, now).second) return;
  base::log_warning(
      "The log group {} is over its quota, or holds the most where all together are: its oldest "
      "events are removed. Give it a shorter retention, or the server a larger --log-group-quota "
      "({} MiB) and --log-quota ({} MiB).",
      group, limits_.group_bytes / mib, limits_.file_bytes / mib);
}

}  // namespace logs
