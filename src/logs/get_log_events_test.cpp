#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "logs/testing.h"

namespace logs {
namespace {

wire::GetLogEventsRequest get_request() {
  wire::GetLogEventsRequest request;
  request.log_group_name = "g";
  request.log_stream_name = "s";
  return request;
}

struct get_log_events : testing::Test {
  get_log_events() {
    logs.create_group("g");
    logs.create_stream("g", "s");
    logs.create_stream("g", "other");
  }

  wire::GetLogEventsResponse get(const wire::GetLogEventsRequest& request) {
    return logs.call<wire::GetLogEventsResponse>("GetLogEvents", request);
  }

  // Puts random batches; answers what the stream then holds, in order.
  std::vector<Seen> fill() {
    std::vector<Seen> all;
    int number = 0;
    const int batches = *rc::gen::inRange(0, 6);
    for (int batch = 0; batch < batches; ++batch) {
      std::vector<Line> lines;
      const int count = *rc::gen::inRange(1, 12);
      for (int index = 0; index < count; ++index) {
        lines.push_back({ms_before_now(*rc::gen::inRange<int64_t>(0, 15)), ""});
      }
      sort_by_time(lines);
      for (Line& line : lines) {
        line.message = std::to_string(number++);
        all.push_back({"s", line.timestamp, line.message});
      }
      logs.put(put_request("g", "s", lines));
      logs.put(put_request("g", "other", lines));
    }
    sort_by_time(all);
    return all;
  }

  TestLogs logs;
};

std::vector<Seen> events_of(const wire::GetLogEventsResponse& page) {
  std::vector<Seen> seen;
  for (const auto& event : page.events) seen.push_back({"s", *event.timestamp, *event.message});
  return seen;
}

TEST_F(get_log_events, answers_the_latest_events_first_unless_told_otherwise) {
  logs.put(put_request(
      "g", "s", {{ms_before_now(3), "a"}, {ms_before_now(2), "b"}, {ms_before_now(1), "c"}}));
  auto request = get_request();
  request.limit = 2;
  auto page = get(request);
  ASSERT_EQ(page.events.size(), 2);
  EXPECT_EQ(page.events[0].message, "b");
  EXPECT_EQ(page.events[1].message, "c");
  EXPECT_EQ(page.events[1].timestamp, ms_before_now(1));
  EXPECT_EQ(page.events[1].ingestion_time, ms_before_now(0));
  request.start_from_head = true;
  page = get(request);
  EXPECT_EQ(page.events[0].message, "a");
  EXPECT_EQ(page.events[1].message, "b");
}

TEST_F(get_log_events, gives_the_same_token_at_the_end_and_new_events_behind_it) {
  auto request = get_request();
  request.start_from_head = true;
  for (int round = 0; round < 3; ++round) {
    auto page = get(request);  // Of the empty stream at first.
    request.next_token = page.next_forward_token;
    page = get(request);
    EXPECT_TRUE(page.events.empty());
    EXPECT_TRUE(page.events.present());
    EXPECT_EQ(page.next_forward_token, request.next_token);
    logs.put(put_request("g", "s", {{ms_before_now(100 - round), std::to_string(round)}}));
    page = get(request);
    ASSERT_EQ(page.events.size(), 1);
    EXPECT_EQ(page.events[0].message, std::to_string(round));
  }
}

TEST_F(get_log_events, includes_the_start_time_and_excludes_the_end_time) {
  logs.put(put_request(
      "g", "s", {{ms_before_now(3), "a"}, {ms_before_now(2), "b"}, {ms_before_now(1), "c"}}));
  auto request = get_request();
  request.start_time = ms_before_now(3);
  request.end_time = ms_before_now(1);
  const auto page = get(request);
  ASSERT_EQ(page.events.size(), 2);
  EXPECT_EQ(page.events[0].message, "a");
  EXPECT_EQ(page.events[1].message, "b");
}

TEST_F(get_log_events, a_page_holds_at_most_one_mebibyte_but_at_least_one_event) {
  for (int index = 0; index < 3; ++index) {
    logs.put(put_request("g", "s", {{ms_before_now(3), std::string(600'000, 'x')}}));
  }
  logs.put(put_request("g", "s", {{ms_before_now(2), std::string(1'048'550, 'y')}}));
  auto request = get_request();
  request.start_from_head = true;
  size_t events = 0;
  for (int pages = 0; pages < 4; ++pages) {
    const auto page = get(request);
    EXPECT_EQ(page.events.size(), 1);
    events += page.events.size();
    request.next_token = page.next_forward_token;
  }
  EXPECT_EQ(events, 4);
  EXPECT_TRUE(get(request).events.empty());
}

TEST_F(get_log_events, bad_requests_are_refused) {
  auto request = get_request();
  request.next_token = "f/12/s";
  EXPECT_EQ(logs.error("GetLogEvents", request),
            (base::Error{"InvalidParameterException", "The specified nextToken is invalid."}));
  request = get_request();
  for (const int limit : {0, 10'001}) {
    request.limit = limit;
    EXPECT_EQ(logs.error("GetLogEvents", request).code, "InvalidParameterException");
  }
  request = get_request();
  request.start_time = -1;
  EXPECT_EQ(logs.error("GetLogEvents", request).code, "InvalidParameterException");
  request = get_request();
  request.log_stream_name = "missing";
  EXPECT_EQ(logs.error("GetLogEvents", request),
            (base::Error{"ResourceNotFoundException", "The specified log stream does not exist."}));
  request.log_group_name = "missing";
  EXPECT_EQ(logs.error("GetLogEvents", request).message, "The specified log group does not exist.");
}

RC_GTEST_FIXTURE_PROP(get_log_events, pages_of_any_size_make_up_the_whole_in_both_directions, ()) {
  std::vector<Seen> all = fill();
  auto request = get_request();
  request.limit = *rc::gen::inRange(1, 20);
  if (*rc::gen::arbitrary<bool>()) {
    request.start_time = ms_before_now(*rc::gen::inRange<int64_t>(0, 15));
    std::erase_if(all, [&](const Seen& seen) { return seen.timestamp < *request.start_time; });
  }
  if (*rc::gen::arbitrary<bool>()) {
    request.end_time = ms_before_now(*rc::gen::inRange<int64_t>(0, 15));
    std::erase_if(all, [&](const Seen& seen) { return seen.timestamp >= *request.end_time; });
  }

  std::vector<Seen> forward;
  auto walk = request;
  walk.start_from_head = true;
  for (;;) {
    const auto page = get(walk);
    const auto seen = events_of(page);
    forward.insert(forward.end(), seen.begin(), seen.end());
    if (page.next_forward_token == walk.next_token) break;
    RC_ASSERT(std::ssize(seen) <= *walk.limit);
    walk.next_token = page.next_forward_token;
  }
  RC_ASSERT(forward == all);

  std::vector<Seen> backward;
  walk = request;
  for (;;) {
    const auto page = get(walk);
    const auto seen = events_of(page);
    backward.insert(backward.begin(), seen.begin(), seen.end());
    if (page.next_backward_token == walk.next_token) break;
    walk.next_token = page.next_backward_token;
  }
  RC_ASSERT(backward == all);
}

// Any zigzag: a forward token continues right behind the page, a backward one right before it.
RC_GTEST_FIXTURE_PROP(get_log_events, tokens_lead_to_the_neighbours_of_a_page, ()) {
  const std::vector<Seen> all = fill();
  auto request = get_request();
  request.start_from_head = true;
  size_t begin = 0;  // The page that was read last is [begin, end) of all.
  size_t end = 0;
  for (int step = 0; step < 12; ++step) {
    request.limit = *rc::gen::inRange(1, 8);
    const auto limit = static_cast<size_t>(*request.limit);
    const bool forward = !request.next_token || request.next_token->starts_with("f/");
    if (forward) {
      begin = end;
      end = std::min(all.size(), begin + limit);
    } else {
      end = begin;
      begin = end - std::min(end, limit);
    }
    const auto page = get(request);
    RC_ASSERT(events_of(page) == std::vector<Seen>(all.begin() + static_cast<ptrdiff_t>(begin),
                                                   all.begin() + static_cast<ptrdiff_t>(end)));
    request.next_token =
        *rc::gen::arbitrary<bool>() ? page.next_forward_token : page.next_backward_token;
  }
}

}  // namespace
}  // namespace logs
