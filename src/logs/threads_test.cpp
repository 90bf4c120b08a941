#include "logs/threads.h"

#include <gtest/gtest.h>

#include <future>

#include "base/log.h"
#include "logs/testing.h"

namespace logs {
namespace {

struct log_threads : testing::Test {
  log_threads() { base::set_log_level(base::LogLevel::Error); }

  void start() {
    threads.emplace(open_store(directory.file(), "eu-west-1", "123456789012", {}).value(), clock);
  }
  template <class Request>
  static Work work(std::string_view name, Request request) {
    return {&operation(name), api::Any::make(std::move(request)), {}, {}};
  }
  // Waits for the answer.
  template <class Request>
  base::Result<api::Any> call(std::string_view name, Request request) {
    std::promise<base::Result<api::Any>> promise;
    Work asked = work(name, std::move(request));
    asked.answered = [&](base::Result<api::Any> answer) { promise.set_value(std::move(answer)); };
    CHECK(threads->try_push(std::move(asked)));
    return promise.get_future().get();
  }
  void create() {
    wire::CreateLogGroupRequest group;
    group.log_group_name = "g";
    EXPECT_TRUE(call("CreateLogGroup", group));
    wire::CreateLogStreamRequest stream;
    stream.log_group_name = "g";
    stream.log_stream_name = "s";
    EXPECT_TRUE(call("CreateLogStream", stream));
  }
  wire::PutLogEventsRequest put() {
    return put_request("g", "s", {{clock.now().time_since_epoch().count(), "line"}});
  }
  static wire::FilterLogEventsRequest filter() {
    wire::FilterLogEventsRequest request;
    request.log_group_name = "g";
    return request;
  }

  TemporaryDirectory directory;
  base::SystemClock clock;
  std::optional<Threads> threads;
};

TEST_F(log_threads, a_write_does_not_wait_for_readers) {
  start();
  create();
  std::promise<void> written;
  const std::shared_future<void> is_written = written.get_future().share();
  std::vector<std::future<void>> read;
  for (int i = 0; i < 12; ++i) {
    auto done = std::make_shared<std::promise<void>>();  // Shared with the answer.
    read.push_back(done->get_future());
    Work reading = work("FilterLogEvents", filter());
    // Each reader is busy until the write is answered.
    reading.answered = [is_written, done](const base::Result<api::Any>& answer) {
      EXPECT_TRUE(answer.has_value());
      is_written.wait();
      done->set_value();
    };
    ASSERT_TRUE(threads->try_push(std::move(reading)));
  }
  EXPECT_TRUE(call("PutLogEvents", put()));
  written.set_value();
  for (auto& each : read) each.wait();
}

TEST_F(log_threads, a_read_sees_what_was_written_before) {
  start();
  create();
  for (size_t count = 1; count <= 20; ++count) {
    ASSERT_TRUE(call("PutLogEvents", put()));
    const auto found = call("FilterLogEvents", filter());
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->as<wire::FilterLogEventsResponse>().events.size(), count);
  }
}

TEST_F(log_threads, a_damaged_file_closes_the_store_and_every_call_says_why) {
  start();
  create();
  ASSERT_TRUE(call("PutLogEvents", put()));
  threads.reset();
  remove_event_behind_its_index(directory.file());
  start();
  const base::Result<api::Any> answers[] = {call("PutLogEvents", put()),
                                            call("FilterLogEvents", filter())};
  for (const auto& answer : answers) {
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, "ServiceUnavailableException");
    EXPECT_TRUE(answer.error().message.contains("The log service is closed"));
    EXPECT_TRUE(answer.error().message.contains(directory.file())) << answer.error().message;
  }
}

TEST_F(log_threads, damage_that_shows_later_closes_the_store_for_writers_too) {
  start();
  create();
  ASSERT_TRUE(call("PutLogEvents", put()));
  remove_event_behind_its_index(directory.file());
  EXPECT_FALSE(call("FilterLogEvents", filter()));
  const auto answer = call("PutLogEvents", put());
  ASSERT_FALSE(answer.has_value());
  EXPECT_TRUE(answer.error().message.contains("The log service is closed"));
}

}  // namespace
}  // namespace logs
