#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

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

}  // namespace
}  // namespace logs
