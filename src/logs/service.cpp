#include "logs/service.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "logs/operations/operations.h"
#include "logs/tables/schema.h"

namespace logs {
namespace {

constexpr int64_t events_per_sweep = 2'000;

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
  return entry_of(operation).effect == Effect::Writes;
}

bool is_damage(const base::Error& error) {
  return error.code == sqlite::corrupt;
}

Service::Service(std::unique_ptr<sqlite::Database> database, Owner owner, Groups groups,
                 Streams streams, Events events, JsonFields json_fields, Sweeper sweeper)
    : database_(std::move(database)),
      owner_(std::move(owner)),
      groups_(std::move(groups)),
      streams_(std::move(streams)),
      events_(std::move(events)),
      json_fields_(std::move(json_fields)),
      sweeper_(std::move(sweeper)) {}

base::Result<std::unique_ptr<Service>> Service::make(std::unique_ptr<sqlite::Database> database,
                                                     Owner owner) {
  sqlite::Database& opened = *database;
  auto groups = TRY(Groups::prepare(opened));
  auto streams = TRY(Streams::prepare(opened));
  auto events = TRY(Events::prepare(opened));
  auto json_fields = TRY(JsonFields::prepare(opened));
  auto sweeper = TRY(Sweeper::prepare(opened));
  return std::unique_ptr<Service>(
      new Service(std::move(database), std::move(owner), std::move(groups), std::move(streams),
                  std::move(events), std::move(json_fields), std::move(sweeper)));
}

base::Result<std::unique_ptr<Service>> Service::open(const std::string& path,
                                                     const std::string& region,
                                                     const std::string& account) {
  return make(TRY(open_database(path)), {.region = region, .account = account});
}

base::Result<std::unique_ptr<Service>> Service::open_reader(const std::string& path,
                                                            const std::string& region,
                                                            const std::string& account) {
  return make(TRY(open_database_to_read(path)), {.region = region, .account = account});
}

// Errors are the database's; the operations' own go into `answers`.
base::Result<void> Service::run(std::span<const Call> calls, base::Time now,
                                std::vector<base::Result<api::Any>>& answers) {
  if (std::ranges::any_of(calls, [](const Call& call) { return writes(*call.operation); })) {
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
    answers.push_back(entry_of(*call.operation).run(context, *call.operation, *call.request));
    if (!answers.back() && sqlite::is_storage_error(answers.back().error())) {
      return base::fail(answers.back().error());
    }
  }
  return {};
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
  const auto swept = [&]() -> base::Result<int64_t> {
    auto transaction = TRY(sqlite::Transaction::begin(*database_));
    const int64_t removed = TRY(sweeper_.sweep(groups_, streams_, events_, now, events_per_sweep));
    TRY_VOID(transaction.commit());
    return removed;
  }();
  if (!swept) return base::fail(failed(swept.error()));
  return *swept == events_per_sweep;
}

}  // namespace logs
