// How fast the store takes and gives events. Disk figures are those of the temporary directory:
// compare with `durable_commit`, the machine's own floor.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "api/generated/logs.h"
#include "logs/service.h"

namespace logs {
namespace {

namespace wire = api::logs;

constexpr base::Time now{std::chrono::milliseconds(1'769'860'800'000)};
const std::string line(120, 'x');

struct Bench {
  Bench() {
    std::string path = std::filesystem::temp_directory_path() / "berth-logs-XXXXXX";
    CHECK(::mkdtemp(path.data()) != nullptr);
    directory = path;
    service = std::move(*Service::open(directory / "logs.db", "eu-west-1", "123456789012"));
    wire::CreateLogGroupRequest group;
    group.log_group_name = "g";
    call("CreateLogGroup", group);
  }
  ~Bench() {
    service.reset();
    std::filesystem::remove_all(directory);
  }

  template <class Request>
  api::Any call(std::string_view name, Request request) {
    auto answer = service->handle(*api::find(api::logs_service(), name),
                                  api::Any::make(std::move(request)), now);
    CHECK(answer.has_value());
    return std::move(*answer);
  }

  void create_stream(const std::string& name) {
    wire::CreateLogStreamRequest stream;
    stream.log_group_name = "g";
    stream.log_stream_name = name;
    call("CreateLogStream", stream);
  }

  std::filesystem::path directory;
  std::unique_ptr<Service> service;
};

wire::PutLogEventsRequest put_request(const std::string& stream, int64_t events,
                                      int64_t timestamp) {
  wire::PutLogEventsRequest request;
  request.log_group_name = "g";
  request.log_stream_name = stream;
  for (int64_t index = 0; index < events; ++index) {
    wire::InputLogEvent& event = request.log_events.emplace_back();
    event.timestamp = timestamp;
    event.message = line;
  }
  return request;
}

void durable_commit(benchmark::State& state) {
  std::string path = std::filesystem::temp_directory_path() / "berth-floor-XXXXXX";
  const int file = ::mkstemp(path.data());
  const std::string page(4096, 'x');
  for (auto _ : state) {
    CHECK(::write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size()));
    CHECK(::fdatasync(file) == 0);
  }
  ::close(file);
  ::unlink(path.c_str());
}
BENCHMARK(durable_commit)->Unit(benchmark::kMicrosecond);

// range(0) requests in one commit, each of its own stream with range(1) events of 120 bytes.
void put_log_events(benchmark::State& state) {
  Bench bench;
  std::vector<api::Any> requests;
  for (int64_t index = 0; index < state.range(0); ++index) {
    bench.create_stream(std::to_string(index));
    requests.push_back(api::Any::make(
        put_request(std::to_string(index), state.range(1), now.time_since_epoch().count())));
  }
  std::vector<Call> calls;
  for (const api::Any& request : requests) {
    calls.push_back(
        {.operation = api::find(api::logs_service(), "PutLogEvents"), .request = &request});
  }
  for (auto _ : state) {
    for (const auto& answer : bench.service->handle_batch(calls, now)) CHECK(answer.has_value());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(put_log_events)
    ->Args({1, 1})
    ->Args({1, 1000})
    ->Args({64, 1})
    ->Args({64, 100})
    ->Unit(benchmark::kMicrosecond);

// A stream of a million events in a group with another million.
Bench& million() {
  static Bench bench;
  static const bool filled = [] {
    for (const char* name : {"a", "b"}) bench.create_stream(name);
    const int64_t start = now.time_since_epoch().count() - 1'000'000;
    for (int64_t batch = 0; batch < 200; ++batch) {
      for (const char* name : {"a", "b"}) {
        bench.call("PutLogEvents", put_request(name, 5'000, start + batch * 5'000));
      }
    }
    return true;
  }();
  CHECK(filled);
  return bench;
}

// A page of range(0) events in the middle of it.
void get_log_events(benchmark::State& state) {
  Bench& bench = million();
  wire::GetLogEventsRequest request;
  request.log_group_name = "g";
  request.log_stream_name = "a";
  request.limit = static_cast<int32_t>(state.range(0));
  request.start_from_head = true;
  request.start_time = now.time_since_epoch().count() - 500'000;
  for (auto _ : state) {
    const api::Any answer = bench.call("GetLogEvents", request);
    CHECK(std::ssize(answer.as<wire::GetLogEventsResponse>().events) == state.range(0));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(get_log_events)->Arg(1)->Arg(100)->Arg(5'000)->Unit(benchmark::kMicrosecond);

void filter_log_events(benchmark::State& state) {
  Bench& bench = million();
  wire::FilterLogEventsRequest request;
  request.log_group_name = "g";
  request.limit = static_cast<int32_t>(state.range(0));
  request.start_time = now.time_since_epoch().count() - 500'000;
  for (auto _ : state) {
    const api::Any answer = bench.call("FilterLogEvents", request);
    CHECK(std::ssize(answer.as<wire::FilterLogEventsResponse>().events) == state.range(0));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(filter_log_events)->Arg(1)->Arg(100)->Arg(5'000)->Unit(benchmark::kMicrosecond);

// One call that finds nothing and so looks at as much as one call may.
void filter_without_a_match(benchmark::State& state) {
  Bench& bench = million();
  wire::FilterLogEventsRequest request;
  request.log_group_name = "g";
  request.filter_pattern = "needle";
  for (auto _ : state) {
    const api::Any answer = bench.call("FilterLogEvents", request);
    CHECK(answer.as<wire::FilterLogEventsResponse>().next_token.has_value());
  }
}
BENCHMARK(filter_without_a_match)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace logs
