#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "base/log.h"
#include "logs/testing.h"

namespace logs {
namespace {

void set_retention(TestLogs& logs, const std::string& group, int days) {
  wire::PutRetentionPolicyRequest request;
  request.log_group_name = group;
  request.retention_in_days = days;
  logs.call<wire::PutRetentionPolicyResponse>("PutRetentionPolicy", request);
}

int rounds_until_done(TestLogs& logs) {
  int rounds = 1;
  while (*logs.service->sweep(logs.now)) ++rounds;
  return rounds;
}

TEST(sweep, removes_just_what_expired_and_corrects_the_figures) {
  TestLogs logs;
  for (const char* group : {"short", "never"}) {
    logs.create_group(group);
    logs.create_stream(group, "s");
    logs.create_stream(group, "gone");
    logs.put(put_request(group, "s", {{ms_before_now(2 * day), "old"}}));
    logs.put(put_request(group, "s", {{ms_before_now(day), "edge"}, {ms_before_now(1), "new"}}));
    logs.put(put_request(group, "gone", {{ms_before_now(day + 1), "old"}}));
  }
  set_retention(logs, "short", 1);
  EXPECT_EQ(rounds_until_done(logs), 1);
  const auto left = logs.read("short", "s");
  ASSERT_EQ(left.size(), 2);
  EXPECT_EQ(left[0].message, "edge");
  EXPECT_EQ(logs.describe_group("short").stored_bytes, 4 + 3 + 2 * 26);
  EXPECT_EQ(logs.describe_stream("short", "s").first_event_timestamp, ms_before_now(day));
  EXPECT_EQ(logs.describe_stream("short", "s").last_event_timestamp, ms_before_now(1));
  const wire::LogStream gone = logs.describe_stream("short", "gone");
  EXPECT_EQ(gone.first_event_timestamp, std::nullopt);
  EXPECT_EQ(gone.last_event_timestamp, std::nullopt);
  EXPECT_EQ(gone.last_ingestion_time, ms_before_now(0));
  EXPECT_EQ(logs.read("never", "s").size(), 3);
  EXPECT_EQ(logs.describe_group("never").stored_bytes, 3 + 4 + 3 + 3 + 4 * 26);
}

TEST(sweep, works_bit_by_bit_until_nothing_is_left) {
  TestLogs logs;
  logs.create_group("g");
  logs.create_stream("g", "s");
  for (int index = 0; index < 2; ++index) {
    logs.put(put_request("g", "s", std::vector<Line>(2'500, Line{ms_before_now(2 * day), "old"})));
  }
  logs.put(put_request("g", "s", {{ms_before_now(1), "new"}}));
  EXPECT_EQ(rounds_until_done(logs), 1);  // What has just come does not count any more.
  set_retention(logs, "g", 1);
  EXPECT_EQ(rounds_until_done(logs), 3);
  EXPECT_EQ(logs.read("g", "s").size(), 1);
  EXPECT_EQ(logs.describe_group("g").stored_bytes, 3 + 26);
}

int64_t events_in(const std::string& file) {
  auto database = *sqlite::Database::open(file, {.access = sqlite::Access::ReadOnly});
  return *database->query_int64("SELECT count(*) FROM event") +
         *database->query_int64("SELECT count(*) FROM deleted_stream") +
         *database->query_int64("SELECT count(*) FROM deleted_group");
}

TEST(sweep, clears_away_deleted_groups_and_streams) {
  TestLogs logs;
  const std::vector<Line> lines(1'500, Line{ms_before_now(1), "x"});
  for (const char* group : {"a", "b"}) {
    logs.create_group(group);
    for (const char* stream : {"s", "t"}) {
      logs.create_stream(group, stream);
      logs.put(put_request(group, stream, lines));
    }
  }
  EXPECT_EQ(rounds_until_done(logs), 1);
  wire::DeleteLogGroupRequest remove_group;
  remove_group.log_group_name = "a";
  logs.call<wire::DeleteLogGroupResponse>("DeleteLogGroup", remove_group);
  wire::DeleteLogStreamRequest remove_stream;
  remove_stream.log_group_name = "b";
  remove_stream.log_stream_name = "s";
  logs.call<wire::DeleteLogStreamResponse>("DeleteLogStream", remove_stream);
  EXPECT_GE(rounds_until_done(logs), 3);
  EXPECT_EQ(events_in(logs.directory.file()), 1'500);
  EXPECT_EQ(logs.read("b", "t").size(), 1'500);
  EXPECT_EQ(logs.describe_group("b").stored_bytes, 1'500 * 27);
}

// A stream is deleted while its group's events expire: its bytes are subtracted once.
RC_GTEST_PROP(sweep, stored_bytes_are_those_of_the_events_that_can_be_read, ()) {
  TestLogs logs;
  logs.create_group("g");
  const std::vector<std::string> names = {"a", "b", "c"};
  std::set<std::string> existing;
  const int steps = *rc::gen::inRange(1, 25);
  for (int step = 0; step < steps; ++step) {
    const std::string name = *rc::gen::elementOf(names);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        if (existing.contains(name)) {
          wire::DeleteLogStreamRequest remove;
          remove.log_group_name = "g";
          remove.log_stream_name = name;
          logs.call<wire::DeleteLogStreamResponse>("DeleteLogStream", remove);
          existing.erase(name);
        }
        break;
      case 1:
        RC_ASSERT(logs.service->sweep(logs.now).has_value());
        break;
      case 2:
        set_retention(logs, "g", *rc::gen::element(1, 3, 7));
        break;
      default:
        if (existing.insert(name).second) logs.create_stream("g", name);
        logs.put(put_request("g", name,
                             {{ms_before_now(*rc::gen::inRange<int64_t>(0, 10) * day), name}}));
    }
  }
  RC_ASSERT(logs.service->sweep(logs.now).has_value());
  int64_t bytes = 0;
  for (const std::string& name : existing) {
    const auto events = logs.read("g", name);
    bytes += std::ssize(events) * 27;
    const wire::LogStream stream = logs.describe_stream("g", name);
    RC_ASSERT(stream.first_event_timestamp.has_value() == !events.empty());
    RC_ASSERT(stream.last_event_timestamp.has_value() == !events.empty());
    if (events.empty()) continue;
    RC_ASSERT(*stream.first_event_timestamp == events.front().timestamp);
    RC_ASSERT(*stream.last_event_timestamp == events.back().timestamp);
  }
  RC_ASSERT(logs.describe_group("g").stored_bytes == bytes);
}

TEST(sweep, a_group_without_a_retention_has_the_store_s) {
  TestLogs logs;
  logs.reopen({.retention_days = 3});
  for (const char* group : {"none", "own"}) {
    logs.create_group(group);
    logs.create_stream(group, "s");
    logs.put(put_request(group, "s", {{ms_before_now(4 * day), "old"}}));
    logs.put(put_request(group, "s", {{ms_before_now(2 * day), "new"}}));
  }
  set_retention(logs, "own", 7);
  rounds_until_done(logs);
  EXPECT_EQ(logs.read("none", "s").size(), 1U);
  EXPECT_EQ(logs.read("own", "s").size(), 2U);
}

TEST(sweep, a_group_over_its_quota_loses_its_oldest_events_and_no_more) {
  base::set_log_level(base::LogLevel::Error);
  TestLogs logs;
  logs.reopen({.group_bytes = 100'000});
  for (const char* group : {"small", "large"}) {
    logs.create_group(group);
    logs.create_stream(group, "s");
  }
  logs.put(put_request("small", "s", {{ms_before_now(9 * day), "older than all"}}));
  const std::string text(974, 'x');  // 1,000 bytes with what is counted beside it.
  for (int64_t i = 0; i < 300; ++i) {
    logs.put(put_request("large", "s", {{ms_before_now(1'000 - i), text}}));
  }
  rounds_until_done(logs);
  const auto left = logs.read("large", "s");
  ASSERT_EQ(left.size(), 100U);
  EXPECT_EQ(left.front().timestamp, ms_before_now(800));
  EXPECT_EQ(left.back().timestamp, ms_before_now(701));
  EXPECT_EQ(logs.describe_group("large").stored_bytes, 100'000);
  EXPECT_EQ(logs.read("small", "s").size(), 1U);
}

TEST(sweep, where_all_are_too_much_the_largest_group_loses_its_oldest) {
  base::set_log_level(base::LogLevel::Error);
  TestLogs logs;
  logs.reopen({.file_bytes = 2'000'000});
  for (const char* group : {"small", "large"}) {
    logs.create_group(group);
    logs.create_stream(group, "s");
  }
  logs.put(put_request("small", "s", {{ms_before_now(9 * day), "older than all"}}));
  const std::string text(10'000, 'x');
  for (int64_t i = 0; i < 500; ++i) {
    logs.put(put_request("large", "s", {{ms_before_now(1'000 - i), text}}));
    if (i % 50 == 0) rounds_until_done(logs);
  }
  rounds_until_done(logs);
  const size_t left = logs.read("large", "s").size();
  EXPECT_GT(left, 50U);
  EXPECT_LT(left, 250U);
  EXPECT_EQ(logs.read("large", "s").back().timestamp, ms_before_now(501));
  EXPECT_EQ(logs.read("small", "s").size(), 1U);
}

TEST(sweep, keeps_up_with_events_that_come_fast) {
  base::set_log_level(base::LogLevel::Error);
  TestLogs logs;
  logs.reopen({.group_bytes = 300'000});
  logs.create_group("g");
  logs.create_stream("g", "s");
  for (int i = 0; i < 20; ++i) {
    logs.put(put_request("g", "s", std::vector<Line>(10'000, Line{ms_before_now(1), "y"})));
    ASSERT_TRUE(logs.service->sweep(logs.now).has_value());
    EXPECT_LE(*logs.describe_group("g").stored_bytes, 300'000);
  }
}

TEST(sweep, a_disk_that_is_almost_full_takes_no_events_and_lets_them_be_removed) {
  base::set_log_level(base::LogLevel::Error);
  TestLogs logs;
  logs.create_group("g");
  logs.create_stream("g", "s");
  logs.put(put_request("g", "s", {{ms_before_now(1), "kept"}}));
  logs.reopen({.disk_bytes = int64_t{1} << 62});
  const base::Error error =
      logs.error("PutLogEvents", put_request("g", "s", {{ms_before_now(1), "m"}}));
  EXPECT_EQ(error.code, "ServiceUnavailableException");
  EXPECT_TRUE(error.message.contains("MiB free")) << error.message;
  EXPECT_EQ(logs.read("g", "s").size(), 1U);
  wire::DeleteLogGroupRequest remove;
  remove.log_group_name = "g";
  logs.call<wire::DeleteLogGroupResponse>("DeleteLogGroup", remove);
  EXPECT_TRUE(logs.service->sweep(logs.now).has_value());
}

}  // namespace
}  // namespace logs
