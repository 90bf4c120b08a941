// For tests: a Service on a file of its own, called with typed requests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/generated/logs.h"
#include "logs/service.h"

namespace logs {

namespace wire = api::logs;

// 2026-01-31T12:00:00Z.
inline constexpr base::Time test_now{std::chrono::milliseconds(1'769'860'800'000)};

inline constexpr int64_t day = 86'400'000;  // In ms.

inline int64_t ms_before_now(int64_t ms) {
  return test_now.time_since_epoch().count() - ms;
}

// A directory that is removed with it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = std::filesystem::temp_directory_path() / "berth-logs-XXXXXX";
    CHECK(::mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  std::string file() const { return path_ / "logs.db"; }

 private:
  std::filesystem::path path_;
};

inline std::unique_ptr<Service> open_service(const std::string& path, const Limits& limits = {}) {
  auto service = Service::open(path, "eu-west-1", "123456789012", limits);
  CHECK(service.has_value());
  return *std::move(service);
}

// Runs `sql` while the file has no index of its events by group, whose pages stay as they are.
inline void change_behind_the_index(const std::string& path, const std::string& sql) {
  const auto run = [&path](const std::string& text) {
    const auto database = sqlite::Database::open(path, {});
    CHECK(database.has_value());
    CHECK((*database)->execute("PRAGMA writable_schema=1;" + text).has_value());
  };
  run("CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = 'event_by_group';"
      "DELETE FROM sqlite_master WHERE name = 'event_by_group';");
  run(sql + "INSERT INTO sqlite_master SELECT * FROM kept; DROP TABLE kept;");
}
// Removes all events and leaves their entries in the index, as a damaged page does.
inline void remove_event_behind_its_index(const std::string& path) {
  change_behind_the_index(path, "DELETE FROM event;");
}
// Removes the entries and leaves the events.
inline void empty_the_index(const std::string& path) {
  {
    const auto database = sqlite::Database::open(path, {});
    CHECK((*database)
              ->execute("CREATE TABLE events AS SELECT * FROM event; DELETE FROM event;")
              .has_value());
  }
  change_behind_the_index(path, "INSERT INTO event SELECT * FROM events; DROP TABLE events;");
}

inline const api::Operation& operation(std::string_view name) {
  const api::Operation* found = api::find(api::logs_service(), name);
  CHECK(found != nullptr);
  return *found;
}

// A stored event as a client sees it.
struct Seen {
  std::string stream = {};
  int64_t timestamp = 0;
  std::string message = {};
  friend bool operator==(const Seen&, const Seen&) = default;
  friend void PrintTo(const Seen& seen, std::ostream* out) {
    *out << seen.stream << "@" << seen.timestamp << ":" << seen.message;
  }
};

// The service, with the operations under their own names. A call that must succeed and does not
// ends the test program with the error.
struct TestLogs {
  TemporaryDirectory directory;
  std::unique_ptr<Service> service = open_service(directory.file());
  base::Time now = test_now;
  Writer writer = {};  // Who makes the calls.

  void reopen(const Limits& limits = {}) {
    service.reset();
    service = open_service(directory.file(), limits);
  }

  template <class Request>
  base::Result<api::Any> try_call(std::string_view name, Request request) {
    return service->handle(operation(name), api::Any::make(std::move(request)), now, writer);
  }

  template <class Response, class Request>
  Response call(std::string_view name, Request request) {
    auto answer = try_call(name, std::move(request));
    if (!answer) {
      std::fprintf(stderr, "%s: %s: %s\n", std::string(name).c_str(), answer.error().code.c_str(),
                   answer.error().message.c_str());
      std::abort();
    }
    return std::move(answer->template as<Response>());
  }

  // The error, or an empty one where the call succeeds.
  template <class Request>
  base::Error error(std::string_view name, Request request) {
    auto answer = try_call(name, std::move(request));
    return answer ? base::Error{} : answer.error();
  }

  void create_group(const std::string& group) {
    wire::CreateLogGroupRequest request;
    request.log_group_name = group;
    call<wire::CreateLogGroupResponse>("CreateLogGroup", request);
  }

  void create_stream(const std::string& group, const std::string& stream) {
    wire::CreateLogStreamRequest request;
    request.log_group_name = group;
    request.log_stream_name = stream;
    call<wire::CreateLogStreamResponse>("CreateLogStream", request);
  }

  wire::PutLogEventsResponse put(const wire::PutLogEventsRequest& request) {
    return call<wire::PutLogEventsResponse>("PutLogEvents", request);
  }

  // The whole stream, read with one limit after the other from the head.
  std::vector<Seen> read(const std::string& group, const std::string& stream) {
    std::vector<Seen> seen;
    wire::GetLogEventsRequest request;
    request.log_group_name = group;
    request.log_stream_name = stream;
    request.start_from_head = true;
    for (;;) {
      const auto page = call<wire::GetLogEventsResponse>("GetLogEvents", request);
      for (const auto& event : page.events) {
        seen.push_back({stream, *event.timestamp, *event.message});
      }
      if (page.next_forward_token == request.next_token) return seen;
      request.next_token = page.next_forward_token;
    }
  }

  wire::LogStream describe_stream(const std::string& group, const std::string& stream) {
    wire::DescribeLogStreamsRequest request;
    request.log_group_name = group;
    request.log_stream_name_prefix = stream;
    const auto answer = call<wire::DescribeLogStreamsResponse>("DescribeLogStreams", request);
    CHECK(!answer.log_streams.empty() && answer.log_streams[0].log_stream_name == stream);
    return answer.log_streams[0];
  }

  wire::LogGroup describe_group(const std::string& group) {
    wire::DescribeLogGroupsRequest request;
    request.log_group_name_prefix = group;
    const auto answer = call<wire::DescribeLogGroupsResponse>("DescribeLogGroups", request);
    CHECK(!answer.log_groups.empty() && answer.log_groups[0].log_group_name == group);
    return answer.log_groups[0];
  }
};

struct Line {
  int64_t timestamp = 0;
  std::string message = {};
};

// By insertion, which keeps the order of equal times.
template <class Item>
void sort_by_time(std::vector<Item>& items) {
  for (auto item = items.begin(); item != items.end(); ++item) {
    std::rotate(
        std::ranges::upper_bound(items.begin(), item, item->timestamp, {}, &Item::timestamp), item,
        item + 1);
  }
}

inline wire::PutLogEventsRequest put_request(const std::string& group, const std::string& stream,
                                             const std::vector<Line>& lines,
                                             std::optional<int64_t> position = {}) {
  wire::PutLogEventsRequest request;
  request.log_group_name = group;
  request.log_stream_name = stream;
  request.log_events.set_present();
  for (const Line& line : lines) {
    wire::InputLogEvent& event = request.log_events.emplace_back();
    event.timestamp = line.timestamp;
    event.message = line.message;
  }
  request.berth_position = position;
  return request;
}

}  // namespace logs
