#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "logs/testing.h"

namespace logs {
namespace {

constexpr int64_t hour = 3'600'000;

struct put_log_events : testing::Test {
  put_log_events() {
    logs.create_group("g");
    logs.create_stream("g", "s");
  }

  base::Error error_of(const std::vector<Line>& lines) {
    return logs.error("PutLogEvents", put_request("g", "s", lines));
  }
  std::vector<std::string> messages() {
    std::vector<std::string> found;
    for (const Seen& seen : logs.read("g", "s")) found.push_back(seen.message);
    return found;
  }

  TestLogs logs;
};

using Texts = std::vector<std::string>;

TEST_F(put_log_events, stores_events_and_the_figures_of_stream_and_group) {
  const auto answer =
      logs.put(put_request("g", "s", {{ms_before_now(500), "one"}, {ms_before_now(400), "two"}}));
  EXPECT_TRUE(answer.next_sequence_token);
  EXPECT_FALSE(answer.rejected_log_events_info);
  EXPECT_FALSE(answer.berth_next_position);
  logs.now += std::chrono::seconds(1);
  auto request = put_request("g", "s", {{ms_before_now(600), "zero"}});
  request.sequence_token = "ignored";
  logs.put(request);
  EXPECT_EQ(messages(), (Texts{"zero", "one", "two"}));
  const wire::LogStream stream = logs.describe_stream("g", "s");
  EXPECT_EQ(stream.first_event_timestamp, ms_before_now(600));
  EXPECT_EQ(stream.last_event_timestamp, ms_before_now(400));
  EXPECT_EQ(stream.last_ingestion_time, ms_before_now(-1000));
  EXPECT_EQ(stream.stored_bytes, 0);  // Always, since 2019; the group's is real.
  EXPECT_TRUE(stream.upload_sequence_token);
  EXPECT_EQ(logs.describe_group("g").stored_bytes, 3 + 3 + 4 + 3 * 26);
}

TEST_F(put_log_events, events_of_one_time_stay_in_the_order_of_their_arrival) {
  const int64_t time = ms_before_now(10);
  logs.put(put_request("g", "s", {{time, "1"}, {time, "2"}}));
  logs.put(put_request("g", "s", {{time - 1, "0"}, {time, "3"}}));
  EXPECT_EQ(messages(), (Texts{"0", "1", "2", "3"}));
}

TEST_F(put_log_events, messages_come_back_byte_for_byte) {
  const std::string nul("a\0b", 3);
  const Texts texts = {nul, "\xF0\x9F\x9A\xA2", "line\nbreak\r\n\ttab", "\x1b[31mred", "'\"\\%"};
  std::vector<Line> lines;
  for (const std::string& text : texts) lines.push_back({ms_before_now(1), text});
  logs.put(put_request("g", "s", lines));
  EXPECT_EQ(messages(), texts);
}

TEST_F(put_log_events, a_missing_group_or_stream_is_named_in_the_sentence_of_aws) {
  EXPECT_EQ(logs.error("PutLogEvents", put_request("x", "s", {{ms_before_now(1), "m"}})),
            (base::Error{"ResourceNotFoundException", "The specified log group does not exist."}));
  EXPECT_EQ(logs.error("PutLogEvents", put_request("g", "x", {{ms_before_now(1), "m"}})),
            (base::Error{"ResourceNotFoundException", "The specified log stream does not exist."}));
}

TEST_F(put_log_events, a_batch_must_be_in_chronological_order) {
  EXPECT_EQ(
      error_of({{ms_before_now(1), "a"}, {ms_before_now(2), "b"}}),
      (base::Error{"InvalidParameterException",
                   "Log events in a single PutLogEvents request must be in chronological order."}));
  EXPECT_TRUE(messages().empty());
}

TEST_F(put_log_events, a_batch_spans_at_most_24_hours) {
  EXPECT_EQ(error_of({{ms_before_now(day), "a"}, {ms_before_now(0), "b"}}), base::Error{});
  EXPECT_EQ(error_of({{ms_before_now(day + 1), "a"}, {ms_before_now(0), "b"}}),
            (base::Error{"InvalidParameterException",
                         "The batch of log events in a single PutLogEvents request cannot span "
                         "more than 24 hours."}));
  // Only those events count that are stored.
  EXPECT_EQ(error_of({{ms_before_now(20 * day), "old"}, {ms_before_now(0), "c"}}), base::Error{});
}

TEST_F(put_log_events, a_batch_has_at_most_10000_events_and_at_least_one) {
  EXPECT_EQ(error_of({}).code, "InvalidParameterException");
  std::vector<Line> lines(10'000, Line{ms_before_now(1), "m"});
  EXPECT_EQ(error_of(lines), base::Error{});
  lines.push_back(lines.back());
  EXPECT_EQ(error_of(lines).code, "InvalidParameterException");
  EXPECT_EQ(messages().size(), 10'000);
}

TEST_F(put_log_events, a_batch_has_at_most_one_mebibyte_with_26_bytes_for_each_event) {
  std::vector<Line> lines = {{ms_before_now(1), std::string(524'288 - 26, 'a')},
                             {ms_before_now(1), std::string(524'288 - 26, 'b')}};
  EXPECT_EQ(error_of(lines), base::Error{});
  lines[1].message += "c";
  EXPECT_EQ(error_of(lines),
            (base::Error{"InvalidParameterException",
                         "Upload too large: 1048577 bytes exceeds limit of 1048576"}));
  EXPECT_EQ(error_of({{ms_before_now(1), std::string(1'048'577, 'a')}}),
            (base::Error{"InvalidParameterException",
                         "Log event too large: 1048603 bytes exceeds limit of 1048576"}));
}

TEST_F(put_log_events, empty_messages_and_negative_times_are_refused_by_their_place) {
  EXPECT_NE(error_of({{ms_before_now(1), "a"}, {ms_before_now(1), ""}})
                .message.find("'logEvents.2.member.message'"),
            std::string::npos);
  EXPECT_NE(error_of({{-1, "a"}}).message.find("'logEvents.1.member.timestamp'"),
            std::string::npos);
  auto request = put_request("g", "s", {{1, "a"}});
  request.log_events[0].timestamp = std::nullopt;
  EXPECT_NE(logs.error("PutLogEvents", request).message.find("must not be null"),
            std::string::npos);
}

TEST_F(put_log_events, too_old_and_too_new_events_are_rejected_and_the_rest_is_stored) {
  const auto answer = logs.put(put_request("g", "s",
                                           {{ms_before_now(15 * day), "old"},
                                            {ms_before_now(14 * day + 1), "old too"},
                                            {ms_before_now(1), "good"},
                                            {ms_before_now(-2 * hour), "good too"},
                                            {ms_before_now(-2 * hour - 1), "new"},
                                            {ms_before_now(-9 * hour), "new too"}}));
  ASSERT_TRUE(answer.rejected_log_events_info);
  EXPECT_EQ(answer.rejected_log_events_info->too_old_log_event_end_index, 2);
  EXPECT_EQ(answer.rejected_log_events_info->too_new_log_event_start_index, 4);
  EXPECT_EQ(answer.rejected_log_events_info->expired_log_event_end_index, std::nullopt);
  EXPECT_EQ(messages(), (Texts{"good", "good too"}));
  EXPECT_EQ(
      logs.put(put_request("g", "s", {{ms_before_now(14 * day), "just"}})).rejected_log_events_info,
      std::nullopt);
}

TEST_F(put_log_events, events_before_the_retention_are_rejected_as_expired) {
  wire::PutRetentionPolicyRequest retention;
  retention.log_group_name = "g";
  retention.retention_in_days = 3;
  logs.call<wire::PutRetentionPolicyResponse>("PutRetentionPolicy", retention);
  const auto answer = logs.put(put_request("g", "s",
                                           {{ms_before_now(14 * day + 1), "old"},
                                            {ms_before_now(3 * day + 1), "expired"},
                                            {ms_before_now(3 * day), "good"}}));
  ASSERT_TRUE(answer.rejected_log_events_info);
  EXPECT_EQ(answer.rejected_log_events_info->too_old_log_event_end_index, 1);
  EXPECT_EQ(answer.rejected_log_events_info->expired_log_event_end_index, 2);
  EXPECT_EQ(answer.rejected_log_events_info->too_new_log_event_start_index, std::nullopt);
  EXPECT_EQ(messages(), (Texts{"good"}));
}

TEST_F(put_log_events, a_batch_of_rejected_events_only_stores_nothing) {
  const auto answer = logs.put(put_request("g", "s", {{ms_before_now(15 * day), "old"}}));
  ASSERT_TRUE(answer.rejected_log_events_info);
  EXPECT_EQ(answer.rejected_log_events_info->too_old_log_event_end_index, 1);
  EXPECT_TRUE(messages().empty());
  EXPECT_EQ(logs.describe_stream("g", "s").last_ingestion_time, std::nullopt);
}

const Writer agent{.kind = Writer::Kind::Agent, .instance = "arn:instance/one"};
const Writer role{.kind = Writer::Kind::TaskRole};
const Writer other_agent{.kind = Writer::Kind::Agent, .instance = "arn:instance/two"};

// The stream is the agent's that calls.
struct numbered_log_events : put_log_events {
  numbered_log_events() {
    logs.writer = agent;
    ask_for("s");
  }

  std::string ask_for(const std::string& stream) {
    wire::CreateLogStreamRequest request;
    request.log_group_name = "g";
    request.log_stream_name = stream;
    return logs.error("CreateLogStream", request).code;
  }
  std::vector<int64_t> times() {
    std::vector<int64_t> found;
    for (const Seen& seen : logs.read("g", "s")) found.push_back(seen.timestamp);
    return found;
  }
};

TEST_F(numbered_log_events, a_repeated_batch_of_an_agent_is_stored_once) {
  const auto batch = put_request("g", "s", {{ms_before_now(2), "0"}, {ms_before_now(1), "1"}}, 0);
  EXPECT_EQ(logs.put(batch).berth_next_position, 2);
  EXPECT_EQ(logs.put(batch).berth_next_position, 2);
  EXPECT_EQ(messages(), (Texts{"0", "1"}));
  EXPECT_EQ(logs.describe_stream("g", "s").berth_next_position, 2);
}

TEST_F(numbered_log_events, of_an_overlapping_batch_only_the_rest_is_stored) {
  const int64_t time = ms_before_now(1);
  logs.put(put_request("g", "s", {{time, "0"}, {time, "1"}}, 0));
  EXPECT_EQ(logs.put(put_request("g", "s", {{time, "1"}, {time, "2"}}, 1)).berth_next_position, 3);
  EXPECT_EQ(logs.put(put_request("g", "s", {{time, "1"}}, 1)).berth_next_position, 3);
  EXPECT_EQ(messages(), (Texts{"0", "1", "2"}));
}

TEST_F(numbered_log_events, positions_go_on_behind_a_gap) {
  logs.put(put_request("g", "s", {{ms_before_now(2), "4"}, {ms_before_now(1), "5"}}, 4));
  const auto answer = logs.put(put_request("g", "s", {{ms_before_now(1), "9"}}, 9));
  EXPECT_EQ(answer.berth_next_position, 10);
  EXPECT_EQ(logs.put(put_request("g", "s", {{ms_before_now(1), "4"}}, 4)).berth_next_position, 10);
  EXPECT_EQ(messages(), (Texts{"4", "5", "9"}));
}

TEST_F(numbered_log_events, a_stream_made_anew_takes_the_agents_next_events) {
  const int64_t time = ms_before_now(1);
  logs.put(put_request("g", "s", {{time, "0"}, {time, "1"}}, 0));
  wire::DeleteLogStreamRequest remove;
  remove.log_group_name = "g";
  remove.log_stream_name = "s";
  logs.call<wire::DeleteLogStreamResponse>("DeleteLogStream", remove);
  logs.create_stream("g", "s");
  EXPECT_EQ(logs.put(put_request("g", "s", {{time, "2"}}, 2)).berth_next_position, 3);
  EXPECT_EQ(messages(), (Texts{"2"}));
}

TEST_F(numbered_log_events, events_without_positions_leave_the_agents_position_alone) {
  const int64_t time = ms_before_now(1);
  logs.put(put_request("g", "s", {{time, "0"}}, 0));
  EXPECT_EQ(logs.put(put_request("g", "s", {{time, "by hand"}})).berth_next_position, std::nullopt);
  EXPECT_EQ(logs.put(put_request("g", "s", {{time, "1"}}, 1)).berth_next_position, 2);
  EXPECT_EQ(messages(), (Texts{"0", "by hand", "1"}));
}

TEST_F(numbered_log_events, absurd_positions_are_refused) {
  for (const int64_t position : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    const base::Error error =
        logs.error("PutLogEvents", put_request("g", "s", {{ms_before_now(1), "m"}}, position));
    EXPECT_EQ(error.code, "InvalidParameterException");
    EXPECT_NE(error.message.find("berthPosition"), std::string::npos);
  }
}

TEST_F(numbered_log_events, only_an_agent_that_asked_for_the_stream_numbers_or_writes_its_events) {
  logs.put(put_request("g", "s", {{ms_before_now(3), "0"}}, 0));
  logs.writer = role;
  const int64_t far = int64_t{1} << 61;
  EXPECT_EQ(logs.error("PutLogEvents", put_request("g", "s", {{ms_before_now(2), "x"}}, far)).code,
            "AccessDeniedException");
  logs.writer = other_agent;
  EXPECT_EQ(logs.error("PutLogEvents", put_request("g", "s", {{ms_before_now(2), "x"}}, far)).code,
            "AccessDeniedException");
  EXPECT_EQ(logs.error("PutLogEvents", put_request("g", "s", {{ms_before_now(2), "x"}})).code,
            "AccessDeniedException");
  logs.writer = agent;
  logs.put(put_request("g", "s", {{ms_before_now(1), "1"}}, 1));
  EXPECT_EQ(messages(), (Texts{"0", "1"}));
  // A role writes without numbers, and harms nobody's.
  logs.writer = role;
  logs.put(put_request("g", "s", {{ms_before_now(1), "by hand"}}));
  EXPECT_EQ(messages(), (Texts{"0", "1", "by hand"}));
}

TEST_F(numbered_log_events, a_stream_of_several_agents_is_each_one_s_that_asked_for_it) {
  logs.writer = other_agent;
  EXPECT_EQ(ask_for("s"), "ResourceAlreadyExistsException");
  logs.put(put_request("g", "s", {{ms_before_now(2), "two"}}));
  logs.writer = agent;
  logs.put(put_request("g", "s", {{ms_before_now(1), "one"}}));
  EXPECT_EQ(messages(), (Texts{"two", "one"}));
}

TEST_F(numbered_log_events, a_stream_that_was_deleted_is_no_longer_the_agent_s) {
  logs.writer = {};
  wire::DeleteLogStreamRequest remove;
  remove.log_group_name = "g";
  remove.log_stream_name = "s";
  logs.call<wire::DeleteLogStreamResponse>("DeleteLogStream", remove);
  logs.create_stream("g", "s");
  logs.writer = agent;
  EXPECT_EQ(logs.error("PutLogEvents", put_request("g", "s", {{ms_before_now(1), "x"}})).code,
            "AccessDeniedException");
}

TEST_F(numbered_log_events, the_streams_of_sessions_are_the_server_s_alone) {
  const std::string session = "ecs-execute-command-0123456789abcdef0";
  for (const Writer& writer : {Writer{}, role, agent}) {
    logs.writer = writer;
    EXPECT_EQ(ask_for(session), "AccessDeniedException");
  }
  logs.writer = {.kind = Writer::Kind::Server};
  logs.create_stream("g", session);
  logs.put(put_request("g", session, {{ms_before_now(2), "0"}}, 0));
  for (const Writer& writer : {Writer{}, role, agent}) {
    logs.writer = writer;
    EXPECT_EQ(logs.error("PutLogEvents", put_request("g", session, {{ms_before_now(1), "x"}})).code,
              "AccessDeniedException");
  }
  EXPECT_EQ(logs.read("g", session).size(), 1U);
}

TEST_F(numbered_log_events, a_line_is_kept_whatever_its_clock_said_and_in_its_order) {
  logs.put(put_request("g", "s", {{ms_before_now(-6 * hour), "ahead"}}, 0));
  logs.put(put_request("g", "s", {{ms_before_now(-2 * hour), "taken"}}, 1));
  logs.put(put_request("g", "s", {{ms_before_now(hour), "back"}}, 2));
  const auto answer = logs.put(put_request("g", "s", {{0, "no clock"}, {5, "at all"}}, 3));
  EXPECT_FALSE(answer.rejected_log_events_info);
  EXPECT_EQ(messages(), (Texts{"ahead", "taken", "back", "no clock", "at all"}));
  const int64_t taken = ms_before_now(-2 * hour);
  EXPECT_EQ(times(), (std::vector<int64_t>{ms_before_now(0), taken, taken, taken, taken}));
}

TEST_F(numbered_log_events, lines_of_a_server_whose_clock_was_set_back_keep_their_order) {
  logs.now = test_now + std::chrono::hours(6);
  logs.put(put_request("g", "s", {{ms_before_now(-6 * hour), "0"}}, 0));
  logs.now = test_now;
  logs.put(put_request("g", "s", {{ms_before_now(0), "1"}}, 1));
  EXPECT_EQ(messages(), (Texts{"0", "1"}));
}

TEST_F(numbered_log_events, a_line_that_is_too_old_is_there_to_be_read) {
  wire::PutRetentionPolicyRequest retention;
  retention.log_group_name = "g";
  retention.retention_in_days = 1;
  logs.call<wire::PutRetentionPolicyResponse>("PutRetentionPolicy", retention);
  logs.put(put_request("g", "s", {{0, "old"}}, 0));
  ASSERT_TRUE(logs.service->sweep(logs.now).has_value());
  EXPECT_EQ(messages(), (Texts{"old"}));
}

// An agent that loses answers, repeats batches cut anew and starts again from any acknowledged
// position, against a server that starts again as well.
RC_GTEST_FIXTURE_PROP(numbered_log_events, at_least_once_shipping_stores_every_line_exactly_once,
                      ()) {
  const auto total = *rc::gen::inRange<int64_t>(1, 60);
  const auto line = [](int64_t index) {
    return Line{ms_before_now(1000 - index / 3), std::to_string(index)};
  };
  int64_t acknowledged = 0;
  int batches = 0;
  while (acknowledged < total) {
    std::vector<Line> batch;
    const int64_t end = std::min(total, acknowledged + *rc::gen::inRange<int64_t>(1, 12));
    for (int64_t index = acknowledged; index < end; ++index) batch.push_back(line(index));
    const auto answer = logs.put(put_request("g", "s", batch, acknowledged));
    RC_ASSERT(*answer.berth_next_position >= end);
    // Every fourth answer arrives for sure, so that this ends whatever is generated.
    const bool arrives = ++batches % 4 == 0 || *rc::gen::arbitrary<bool>();
    acknowledged = arrives ? end : *rc::gen::inRange(acknowledged, end + 1);
    if (*rc::gen::inRange(0, 6) == 0) logs.reopen();
  }
  Texts expected;
  for (int64_t index = 0; index < total; ++index) expected.push_back(std::to_string(index));
  RC_ASSERT(messages() == expected);
}

}  // namespace
}  // namespace logs
