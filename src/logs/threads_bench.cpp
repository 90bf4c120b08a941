// How long who delivers output waits while others search in it: compare with the same without
// searches, and with `durable_commit`, which the same run measures.
#include <benchmark/benchmark.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <optional>
#include <string>

#include "api/generated/logs.h"
#include "logs/threads.h"

namespace logs {
namespace {

namespace wire = api::logs;

constexpr int64_t events = 53'200;
constexpr int64_t events_a_call = 5'320;

class SearchedStore {
 public:
  SearchedStore() {
    std::string path = std::filesystem::temp_directory_path() / "berth-searched-XXXXXX";
    CHECK(::mkdtemp(path.data()) != nullptr);
    directory_ = path;
    threads_.emplace(*open_store(directory_ / "logs.db", "eu-west-1", "123456789012", {}), clock_);
    wire::CreateLogGroupRequest group;
    group.log_group_name = "g";
    CHECK(call("CreateLogGroup", group).has_value());
    for (const char* name : {"old", "new"}) {
      wire::CreateLogStreamRequest stream;
      stream.log_group_name = "g";
      stream.log_stream_name = name;
      CHECK(call("CreateLogStream", stream).has_value());
    }
    const std::string message = R"({"level": "info", "step": 17, "loss": 0.25, "text": ")" +
                                std::string(100, 'x') + R"("})";
    for (int64_t done = 0; done < events; done += events_a_call) {
      CHECK(put("old", events_a_call, message).has_value());
    }
  }
  ~SearchedStore() {
    searching_ = false;
    threads_.reset();
    std::filesystem::remove_all(directory_);
  }

  base::Result<api::Any> put(const std::string& stream, int64_t count, const std::string& message) {
    wire::PutLogEventsRequest request;
    request.log_group_name = "g";
    request.log_stream_name = stream;
    for (int64_t i = 0; i < count; ++i) {
      wire::InputLogEvent& event = request.log_events.emplace_back();
      event.timestamp = clock_.now().time_since_epoch().count();
      event.message = message;
    }
    return call("PutLogEvents", request);
  }

  // One search of 728 bytes that finds nothing, page after page, from now on.
  void search(std::optional<std::string> token = std::nullopt) {
    wire::FilterLogEventsRequest request;
    request.log_group_name = "g";
    std::string pattern = "{ $.a.b = 0";
    while (pattern.size() < 700) pattern += " || $.step = 0";
    request.filter_pattern = pattern + " }";
    request.next_token = std::move(token);
    Work work{api::find(api::logs_service(), "FilterLogEvents"),
              api::Any::make(std::move(request)),
              {},
              {}};
    work.answered = [this](const base::Result<api::Any>& answer) {
      ++pages_;
      if (searching_) search(answer->as<wire::FilterLogEventsResponse>().next_token);
    };
    threads_->try_push(std::move(work));
  }

  int64_t pages() const { return pages_; }

 private:
  template <class Request>
  base::Result<api::Any> call(std::string_view name, Request request) {
    std::promise<base::Result<api::Any>> promise;
    Work work{api::find(api::logs_service(), name), api::Any::make(std::move(request)), {}, {}};
    work.answered = [&](base::Result<api::Any> answer) { promise.set_value(std::move(answer)); };
    CHECK(threads_->try_push(std::move(work)));
    return promise.get_future().get();
  }

  std::filesystem::path directory_;
  base::SystemClock clock_;
  std::atomic<bool> searching_ = true;
  std::atomic<int64_t> pages_ = 0;
  std::optional<Threads> threads_;  // Last: they use all of the above.
};

// One line at a time, while range(0) clients search.
void put_while_searched(benchmark::State& state) {
  SearchedStore store;
  for (int64_t i = 0; i < state.range(0); ++i) store.search();
  const std::string line(120, 'x');
  double slowest_ms = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(store.put("new", 1, line).has_value());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    slowest_ms = std::max(slowest_ms, took.count());
  }
  state.counters["slowest_ms"] = slowest_ms;
  state.counters["pages"] = static_cast<double>(store.pages());
}
BENCHMARK(put_while_searched)->Arg(0)->Arg(12)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace logs
