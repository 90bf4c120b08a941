#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "logs/testing.h"

namespace logs {
namespace {

struct filter_log_events : testing::Test {
  filter_log_events() { logs.create_group("g"); }

  wire::FilterLogEventsResponse filter(const wire::FilterLogEventsRequest& request) {
    return logs.call<wire::FilterLogEventsResponse>("FilterLogEvents", request);
  }

  // All pages.
  std::vector<Seen> filter_all(wire::FilterLogEventsRequest request) {
    std::vector<Seen> seen;
    std::set<std::string> ids;
    for (;;) {
      const auto page = filter(request);
      for (const auto& event : page.events) {
        seen.push_back({*event.log_stream_name, *event.timestamp, *event.message});
        CHECK(ids.insert(*event.event_id).second);
      }
      CHECK(std::ssize(page.events) <= request.limit.value_or(10'000));
      if (!page.next_token) return seen;
      request.next_token = page.next_token;
    }
  }

  TestLogs logs;
};

wire::FilterLogEventsRequest filter_request() {
  wire::FilterLogEventsRequest request;
  request.log_group_name = "g";
  return request;
}

TEST_F(filter_log_events, interleaves_the_events_of_all_streams) {
  for (const char* name : {"a", "b"}) logs.create_stream("g", name);
  logs.put(put_request("g", "a", {{ms_before_now(5), "1"}, {ms_before_now(3), "3"}}));
  logs.put(put_request("g", "b", {{ms_before_now(4), "2"}, {ms_before_now(3), "4"}}));
  const auto answer = filter(filter_request());
  ASSERT_EQ(answer.events.size(), 4);
  EXPECT_EQ(answer.next_token, std::nullopt);
  EXPECT_TRUE(answer.searched_log_streams.present());
  const auto& first = answer.events[0];
  EXPECT_EQ(first.log_stream_name, "a");
  EXPECT_EQ(first.timestamp, ms_before_now(5));
  EXPECT_EQ(first.message, "1");
  EXPECT_EQ(first.ingestion_time, ms_before_now(0));
  EXPECT_EQ(first.event_id->size(), 56);
  for (size_t index = 0; index < 4; ++index) {
    EXPECT_EQ(answer.events[index].message, std::to_string(index + 1));
  }
}

TEST_F(filter_log_events, an_event_keeps_its_id) {
  logs.create_stream("g", "a");
  logs.put(put_request("g", "a", {{ms_before_now(5), "1"}}));
  const auto id = filter(filter_request()).events[0].event_id;
  logs.reopen();
  logs.put(put_request("g", "a", {{ms_before_now(6), "0"}}));
  auto request = filter_request();
  request.filter_pattern = "1";
  EXPECT_EQ(filter(request).events[0].event_id, id);
}

// `aws logs tail --follow` drops events by their id, so none may come twice.
TEST_F(filter_log_events, the_id_of_a_deleted_event_is_not_given_again) {
  logs.create_stream("g", "a");
  logs.put(put_request("g", "a", {{ms_before_now(5), "1"}}));
  const auto id = filter(filter_request()).events[0].event_id;
  wire::DeleteLogStreamRequest remove;
  remove.log_group_name = "g";
  remove.log_stream_name = "a";
  logs.call<wire::DeleteLogStreamResponse>("DeleteLogStream", remove);
  while (*logs.service->sweep(logs.now)) {
  }
  logs.reopen();
  logs.create_stream("g", "a");
  logs.put(put_request("g", "a", {{ms_before_now(5), "2"}}));
  EXPECT_NE(filter(filter_request()).events[0].event_id, id);
}

TEST_F(filter_log_events, both_times_are_included) {
  logs.create_stream("g", "a");
  logs.put(put_request("g", "a",
                       {{ms_before_now(4), "1"},
                        {ms_before_now(3), "2"},
                        {ms_before_now(2), "3"},
                        {ms_before_now(1), "4"}}));
  auto request = filter_request();
  request.start_time = ms_before_now(3);
  request.end_time = ms_before_now(2);
  const auto answer = filter(request);
  ASSERT_EQ(answer.events.size(), 2);
  EXPECT_EQ(answer.events[0].message, "2");
  EXPECT_EQ(answer.events[1].message, "3");
  request.end_time = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(filter(request).events.size(), 3);
}

TEST_F(filter_log_events, json_messages_are_chosen_by_their_fields) {
  logs.create_stream("g", "a");
  logs.put(put_request("g", "a",
                       {{ms_before_now(3), R"({"level":"error","code":500})"},
                        {ms_before_now(2), R"({"level":"info","code":200})"},
                        {ms_before_now(1), "plain error"}}));
  auto request = filter_request();
  request.filter_pattern = R"({ $.level = "err*" && $.code >= 500 })";
  const auto answer = filter(request);
  ASSERT_EQ(answer.events.size(), 1);
  EXPECT_EQ(answer.events[0].timestamp, ms_before_now(3));
}

TEST_F(filter_log_events, bad_requests_are_refused) {
  const auto code_of = [&](const wire::FilterLogEventsRequest& request) {
    return logs.error("FilterLogEvents", request).code;
  };
  auto request = filter_request();
  request.next_token = "123";
  EXPECT_EQ(logs.error("FilterLogEvents", request).message, "The specified nextToken is invalid.");
  request = filter_request();
  request.log_stream_names = {"a"};
  EXPECT_EQ(logs.error("FilterLogEvents", request).message,
            "The specified log stream does not exist.");
  request.log_stream_name_prefix = "a";
  EXPECT_EQ(code_of(request), "InvalidParameterException");
  request = filter_request();
  request.log_stream_names.set_present();
  EXPECT_EQ(code_of(request), "InvalidParameterException");
  request = filter_request();
  request.filter_pattern = "[a, b]";
  EXPECT_EQ(code_of(request), "InvalidParameterException");
  request = filter_request();
  request.limit = 10'001;
  EXPECT_EQ(code_of(request), "InvalidParameterException");
  request = filter_request();
  request.end_time = -1;
  EXPECT_EQ(code_of(request), "InvalidParameterException");
  request = filter_request();
  request.log_group_name = "missing";
  EXPECT_EQ(logs.error("FilterLogEvents", request).message,
            "The specified log group does not exist.");
}

TEST_F(filter_log_events, a_page_holds_at_most_one_mebibyte) {
  logs.create_stream("g", "a");
  for (int index = 0; index < 3; ++index) {
    logs.put(put_request("g", "a", {{ms_before_now(1), std::string(500'000, 'x')}}));
  }
  auto request = filter_request();
  auto page = filter(request);
  EXPECT_EQ(page.events.size(), 2);
  request.next_token = page.next_token;
  page = filter(request);
  EXPECT_EQ(page.events.size(), 1);
  EXPECT_EQ(page.next_token, std::nullopt);
}

TEST_F(filter_log_events, a_rare_match_is_found_by_following_empty_pages) {
  logs.create_stream("g", "a");
  const std::vector<Line> lines(10'000, Line{ms_before_now(10), "hay"});
  for (int index = 0; index < 12; ++index) logs.put(put_request("g", "a", lines));
  logs.put(put_request("g", "a", {{ms_before_now(9), "needle"}}));
  auto request = filter_request();
  request.filter_pattern = "needle";
  const auto first = filter(request);
  EXPECT_TRUE(first.events.empty());
  EXPECT_TRUE(first.next_token);
  EXPECT_EQ(filter_all(request), (std::vector<Seen>{{"a", ms_before_now(9), "needle"}}));
}

TEST_F(filter_log_events, a_prefix_of_many_streams_finds_the_events_of_each) {
  std::vector<Seen> expected;
  for (int index = 0; index < 130; ++index) {
    const std::string name = "p/" + std::to_string(index);
    logs.create_stream("g", name);
    logs.create_stream("g", "q/" + name);
    logs.put(put_request("g", name, {{ms_before_now(500 - index), "x"}}));
    logs.put(put_request("g", "q/" + name, {{ms_before_now(500 - index), "x"}}));
    expected.push_back({name, ms_before_now(500 - index), "x"});
  }
  auto request = filter_request();
  request.log_stream_name_prefix = "p/";
  request.limit = 7;
  EXPECT_EQ(filter_all(request), expected);
  request.log_stream_name_prefix = "nothing";
  EXPECT_TRUE(filter_all(request).empty());
}

// Every filter at once against a vector that is filtered by hand.
RC_GTEST_FIXTURE_PROP(filter_log_events, answers_what_a_simple_model_answers, ()) {
  const std::vector<std::string> names = {"a", "a1", "b", "c"};
  for (const std::string& name : names) logs.create_stream("g", name);
  logs.create_group("other");
  logs.create_stream("other", "a");
  std::vector<Seen> all;
  const int batches = *rc::gen::inRange(0, 15);
  for (int batch = 0; batch < batches; ++batch) {
    const std::string name = *rc::gen::elementOf(names);
    std::vector<Line> lines;
    const int count = *rc::gen::inRange(1, 10);
    for (int index = 0; index < count; ++index) {
      lines.push_back({ms_before_now(*rc::gen::inRange<int64_t>(0, 10)),
                       *rc::gen::element<std::string>("red", "green", "red green", "blue")});
    }
    sort_by_time(lines);
    for (const Line& line : lines) all.push_back({name, line.timestamp, line.message});
    logs.put(put_request("g", name, lines));
    logs.put(put_request("other", "a", lines));
  }
  sort_by_time(all);

  auto request = filter_request();
  request.limit = *rc::gen::inRange(1, 30);
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      request.log_stream_names = *rc::gen::nonEmpty(
          rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(names)));
      break;
    case 1:
      request.log_stream_name_prefix = *rc::gen::element<std::string>("a", "b", "c", "d");
      break;
    default:
      break;
  }
  if (*rc::gen::arbitrary<bool>()) {
    request.start_time = ms_before_now(*rc::gen::inRange<int64_t>(0, 10));
  }
  if (*rc::gen::arbitrary<bool>()) {
    request.end_time = ms_before_now(*rc::gen::inRange<int64_t>(0, 10));
  }
  request.filter_pattern =
      *rc::gen::element<std::string>("", "red", "red green", "red -green", "?red ?blue");

  std::erase_if(all, [&](const Seen& seen) {
    const bool red = seen.message.starts_with("red");
    const bool green = seen.message.ends_with("green");
    const std::string& pattern = *request.filter_pattern;
    const bool matches = pattern.empty() || (pattern == "red" && red) ||
                         (pattern == "red green" && red && green) ||
                         (pattern == "red -green" && red && !green) ||
                         (pattern == "?red ?blue" && (red || seen.message == "blue"));
    const bool named =
        request.log_stream_names.empty() ||
        std::ranges::find(request.log_stream_names, seen.stream) != request.log_stream_names.end();
    return !matches || !named ||
           !seen.stream.starts_with(request.log_stream_name_prefix.value_or("")) ||
           seen.timestamp < request.start_time.value_or(0) ||
           seen.timestamp > request.end_time.value_or(ms_before_now(0));
  });
  RC_ASSERT(filter_all(request) == all);
}

TEST_F(filter_log_events, one_call_reads_so_many_fields_at_most_and_its_token_leads_on) {
  logs.create_stream("g", "s");
  std::vector<Line> lines;
  for (int i = 0; i < 5'000; ++i) lines.push_back({ms_before_now(1), R"({"a": 1})"});
  logs.put(put_request("g", "s", lines));
  wire::FilterLogEventsRequest request = filter_request();
  std::string pattern = "{ $.a = 0";
  for (int i = 1; i < 60; ++i) pattern += " || $.a = 0";
  request.filter_pattern = pattern + " }";
  int pages = 1;
  for (auto page = filter(request); page.next_token; page = filter(request)) {
    EXPECT_TRUE(page.events.empty());
    request.next_token = page.next_token;
    ++pages;
  }
  EXPECT_EQ(pages, 7);  // 61 of 50,000 an event.
}

TEST_F(filter_log_events, one_call_looks_for_so_many_terms_at_most) {
  logs.create_stream("g", "s");
  for (int i = 0; i < 40; ++i) {
    logs.put(put_request("g", "s", {{ms_before_now(1), std::string(200'000, 'a')}}));
  }
  wire::FilterLogEventsRequest request = filter_request();
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "-b ";
  request.filter_pattern = pattern;
  EXPECT_TRUE(filter(request).next_token.has_value());
  EXPECT_EQ(filter_all(request).size(), 40U);
}

}  // namespace
}  // namespace logs
