#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "logs/testing.h"

namespace logs {
namespace {

wire::CreateLogStreamRequest stream_request(const std::string& group, const std::string& stream) {
  wire::CreateLogStreamRequest request;
  request.log_group_name = group;
  request.log_stream_name = stream;
  return request;
}

TEST(log_streams, a_new_stream_has_no_event_times) {
  TestLogs logs;
  logs.create_group("a");
  logs.create_stream("a", "web/nginx/0123");
  const wire::LogStream stream = logs.describe_stream("a", "web/nginx/0123");
  EXPECT_EQ(stream.arn,
            "arn:aws:logs:eu-west-1:123456789012:log-group:a:log-stream:web/nginx/0123");
  EXPECT_EQ(stream.creation_time, test_now.time_since_epoch().count());
  EXPECT_EQ(stream.first_event_timestamp, std::nullopt);
  EXPECT_EQ(stream.last_event_timestamp, std::nullopt);
  EXPECT_EQ(stream.last_ingestion_time, std::nullopt);
  EXPECT_EQ(stream.stored_bytes, 0);
  EXPECT_EQ(stream.berth_next_position, std::nullopt);
}

TEST(log_streams, creation_is_refused_with_the_sentences_of_aws) {
  TestLogs logs;
  EXPECT_EQ(logs.error("CreateLogStream", stream_request("a", "s")),
            (base::Error{"ResourceNotFoundException", "The specified log group does not exist."}));
  logs.create_group("a");
  logs.create_stream("a", "s");
  EXPECT_EQ(
      logs.error("CreateLogStream", stream_request("a", "s")),
      (base::Error{"ResourceAlreadyExistsException", "The specified log stream already exists"}));
  for (const std::string& bad :
       {std::string(), std::string("a:b"), std::string("a*"), std::string(513, 'x')}) {
    const base::Error error = logs.error("CreateLogStream", stream_request("a", bad));
    EXPECT_EQ(error.code, "InvalidParameterException") << bad;
    EXPECT_NE(error.message.find("logStreamName"), std::string::npos) << error.message;
  }
  std::string umlauts;
  for (int index = 0; index < 512; ++index) umlauts += "\xC3\xA4";
  EXPECT_EQ(logs.error("CreateLogStream", stream_request("a", umlauts)), base::Error{});
}

TEST(log_streams, deletion_removes_the_events_from_every_answer) {
  TestLogs logs;
  logs.create_group("a");
  for (const char* name : {"keep", "drop"}) {
    logs.create_stream("a", name);
    logs.put(put_request("a", name, {{ms_before_now(1), name}}));
  }
  EXPECT_EQ(logs.describe_group("a").stored_bytes, 2 * (4 + 26));
  wire::DeleteLogStreamRequest remove;
  remove.log_group_name = "a";
  remove.log_stream_name = "drop";
  logs.call<wire::DeleteLogStreamResponse>("DeleteLogStream", remove);
  EXPECT_EQ(logs.error("DeleteLogStream", remove),
            (base::Error{"ResourceNotFoundException", "The specified log stream does not exist."}));
  EXPECT_EQ(logs.describe_group("a").stored_bytes, 4 + 26);
  wire::FilterLogEventsRequest filter;
  filter.log_group_name = "a";
  const auto found = logs.call<wire::FilterLogEventsResponse>("FilterLogEvents", filter);
  ASSERT_EQ(found.events.size(), 1);
  EXPECT_EQ(found.events[0].message, "keep");
  logs.create_stream("a", "drop");
  EXPECT_TRUE(logs.read("a", "drop").empty());
}

TEST(log_streams, cannot_be_ordered_by_event_time_and_chosen_by_prefix_at_once) {
  TestLogs logs;
  logs.create_group("a");
  wire::DescribeLogStreamsRequest request;
  request.log_group_name = "a";
  request.log_stream_name_prefix = "s";
  request.order_by = wire::OrderBy::LastEventTime;
  EXPECT_EQ(logs.error("DescribeLogStreams", request),
            (base::Error{"InvalidParameterException",
                         "Cannot order by LastEventTime with a logStreamNamePrefix."}));
  request.log_stream_name_prefix = std::nullopt;
  for (const char* token : {"x", "n/s", "t/", "t/1", "t/x/s"}) {
    request.next_token = token;
    EXPECT_EQ(logs.error("DescribeLogStreams", request).message,
              "The specified nextToken is invalid.");
  }
  request.next_token = std::nullopt;
  request.log_group_identifier = "a";
  EXPECT_EQ(logs.error("DescribeLogStreams", request).code, "InvalidParameterException");
  request.log_group_name = std::nullopt;
  EXPECT_EQ(logs.error("DescribeLogStreams", request), base::Error{});
  request.log_group_identifier = std::nullopt;
  EXPECT_EQ(logs.error("DescribeLogStreams", request).code, "InvalidParameterException");
}

// Every order, direction, prefix and limit, against a sorted vector.
RC_GTEST_PROP(log_streams, pages_of_any_size_make_up_the_whole_list_in_order, ()) {
  TestLogs logs;
  logs.create_group("a");
  logs.create_group("b");
  logs.create_stream("b", "other");
  struct Model {
    std::string name;
    int64_t last = -1;
  };
  std::vector<Model> model;
  const auto count = *rc::gen::inRange(0, 30);
  for (int index = 0; index < count; ++index) {
    Model stream{.name = (*rc::gen::arbitrary<bool>() ? "p/" : "\xC3\xA4") + std::to_string(index)};
    logs.create_stream("a", stream.name);
    if (*rc::gen::arbitrary<bool>()) {
      stream.last = ms_before_now(*rc::gen::inRange<int64_t>(0, 5));
      logs.put(put_request("a", stream.name, {{stream.last, "x"}}));
    }
    model.push_back(stream);
  }
  wire::DescribeLogStreamsRequest request;
  request.log_group_name = "a";
  request.limit = *rc::gen::inRange(1, 12);
  const bool descending = *rc::gen::arbitrary<bool>();
  request.descending = descending;
  const bool by_time = *rc::gen::arbitrary<bool>();
  if (by_time) {
    request.order_by = wire::OrderBy::LastEventTime;
  } else if (*rc::gen::arbitrary<bool>()) {
    request.log_stream_name_prefix =
        *rc::gen::element<std::string>("p", "p/", "p/1", "\xC3\xA4", "q");
    std::erase_if(model, [&](const Model& stream) {
      return !stream.name.starts_with(*request.log_stream_name_prefix);
    });
  }
  std::ranges::sort(model, [&](const Model& left, const Model& right) {
    return by_time ? std::tie(left.last, left.name) < std::tie(right.last, right.name)
                   : left.name < right.name;
  });
  if (descending) std::ranges::reverse(model);

  std::vector<std::string> seen;
  for (;;) {
    const auto page = logs.call<wire::DescribeLogStreamsResponse>("DescribeLogStreams", request);
    RC_ASSERT(std::ssize(page.log_streams) <= *request.limit);
    for (const auto& stream : page.log_streams) seen.push_back(*stream.log_stream_name);
    if (!page.next_token) break;
    request.next_token = page.next_token;
  }
  std::vector<std::string> expected;
  for (const Model& stream : model) expected.push_back(stream.name);
  RC_ASSERT(seen == expected);
}

}  // namespace
}  // namespace logs
