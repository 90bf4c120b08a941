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

bool writes(const Call& call) {
  const OperationEntry* entry = find_operation(call.operation->name);
  CHECK(entry != nullptr);
  return entry->effect == Effect::Writes;
}

}  // namespace

Service::Service(std::unique_ptr<sqlite::Database> database, Owner owner, Groups groups,
                 Streams streams, Events events, JsonFields json_fields, Sweeper sweeper)
    : database_(std::move(database)),
      owner_(std::move(owner)),
      groups_(std::move(groups)),
      streams_(std::move(streams)),
      events_(std::move(events)),
      json_fields_(std::move(json_fields)),
      sweeper_(std::move(sweeper)) {}

base::Result<std::unique_ptr<Service>> Service::open(const std::string& path,
                                                     const std::string& region,
                                                     const std::string& account) {
  auto database = TRY(open_database(path));
  sqlite::Database& opened = *database;
  auto groups = TRY(Groups::prepare(opened));
  auto streams = TRY(Streams::prepare(opened));
  auto events = TRY(Events::prepare(opened));
  auto json_fields = TRY(JsonFields::prepare(opened));
  auto sweeper = TRY(Sweeper::prepare(opened));
  return std::unique_ptr<Service>(new Service(
      std::move(database), {.region = region, .account = account}, std::move(groups),
      std::move(streams), std::move(events), std::move(json_fields), std::move(sweeper)));
}

// Errors are the database's; the operations' own go into `answers`.
base::Result<void> Service::run(std::span<const Call> calls, base::Time now,
                                std::vector<base::Result<api::Any>>& answers) {
  std::optional<sqlite::Transaction> transaction;
  if (std::ranges::any_of(calls, writes)) {
    transaction.emplace(TRY(sqlite::Transaction::begin(*database_)));
  }
  Context context{.owner = owner_,
                  .groups = groups_,
                  .streams = streams_,
                  .events = events_,
                  .json_fields = json_fields_,
                  .now = now};
  for (const Call& call : calls) {
    const OperationEntry* entry = find_operation(call.operation->name);
    CHECK(entry != nullptr);
    answers.push_back(entry->run(context, *call.operation, *call.request));
    if (!answers.back() && sqlite::is_storage_error(answers.back().error())) {
      return base::fail(answers.back().error());
    }
  }
  if (transaction) TRY_VOID(transaction->commit());
  return {};
}

std::vector<base::Result<api::Any>> Service::handle_batch(std::span<const Call> calls,
                                                          base::Time now) {
  std::vector<base::Result<api::Any>> answers;
  answers.reserve(calls.size());
  const auto done = run(calls, now, answers);
  if (done) return answers;
  answers.clear();
  for (size_t index = 0; index < calls.size(); ++index) {
    answers.push_back(base::fail(unavailable(done.error())));
  }
  return answers;
}

base::Result<api::Any> Service::handle(const api::Operation& operation, const api::Any& request,
                                       base::Time now) {
  const Call call{.operation = &operation, .request = &request};
  return std::move(handle_batch(std::span(&call, 1), now).front());
}

base::Result<bool> Service::sweep(base::Time now) {
  const auto swept = [&]() -> base::Result<int64_t> {
    auto transaction = TRY(sqlite::Transaction::begin(*database_));
    const int64_t removed = TRY(sweeper_.sweep(groups_, streams_, events_, now, events_per_sweep));
    TRY_VOID(transaction.commit());
    return removed;
  }();
  if (!swept) return base::fail(unavailable(swept.error()));
  return *swept == events_per_sweep;
}

}  // namespace logs
