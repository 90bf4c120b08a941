#include "exec/log.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "api/generated/logs.h"
#include "base/format.h"
#include "exec/testing.h"

namespace exec {
namespace {

using acs::ExecKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const base::Error busy{"ServiceUnavailableException", "The logs file cannot be used: full."};
const base::Error no_group{"ResourceNotFoundException", "The specified log group does not exist."};

Log log_of_a_session() {
  Beginning beginning;
  beginning.session = "s-1";
  beginning.command = "sh";
  return Log("audit", std::move(beginning), true, noon);
}

// A stream as the log store keeps it: of events that are numbered each is stored once.
struct Stream {
  bool made = false;
  std::vector<std::string> lines;
  int64_t next = 0;

  base::Result<void> apply(const LogCall& call) {
    if (call.operation->name == "CreateLogStream") {
      const auto& create = call.input.as<api::logs::CreateLogStreamRequest>();
      EXPECT_EQ(create.log_group_name, "audit");
      EXPECT_EQ(create.log_stream_name, "s-1");
      if (std::exchange(made, true)) return base::fail("ResourceAlreadyExistsException", "There.");
      return {};
    }
    EXPECT_EQ(call.operation->name, "PutLogEvents");
    EXPECT_TRUE(made);
    const auto& put = call.input.as<api::logs::PutLogEventsRequest>();
    const int64_t position = put.berth_position.value_or(-1);
    const int64_t end = position + std::ssize(put.log_events);
    EXPECT_LE(position, next) << "a gap";
    for (int64_t i = std::max(next, position); i < end; ++i) {
      lines.push_back(*put.log_events[static_cast<size_t>(i - position)].message);
    }
    next = std::max(next, end);
    return {};
  }

  void carry_out(Log& log, base::Time now) {
    while (auto call = log.next(now)) log.answered(apply(*call), now);
  }

  // Without the first and the last.
  std::vector<std::string> output() const { return {lines.begin() + 1, lines.end() - 1}; }
};

TEST(Log, the_begin_is_written_at_once_and_output_within_a_second) {
  Log log = log_of_a_session();
  Stream stream;
  stream.carry_out(log, noon);
  ASSERT_THAT(stream.lines, SizeIs(1));
  EXPECT_THAT(stream.lines[0], HasSubstr("begin"));
  EXPECT_EQ(log.next_due(), base::Time::max());
  log.output(ExecKind::Output, "a\n", room, after(100));
  log.output(ExecKind::Output, "b\n", room, after(900));
  EXPECT_EQ(log.next_due(), after(1'100));
  EXPECT_FALSE(log.next(after(1'099)).has_value());
  stream.carry_out(log, after(1'100));
  EXPECT_THAT(stream.lines, ElementsAre(HasSubstr("begin"), "a", "b"));
  log.end_with_exit_code("0", after(1'200));
  EXPECT_FALSE(log.may_end());
  stream.carry_out(log, after(1'200));
  EXPECT_THAT(stream.lines.back(), HasSubstr("exitCode"));
  EXPECT_TRUE(log.may_end() && log.settled());
  EXPECT_EQ(log.kept_bytes(), 0U);
  EXPECT_FALSE(log.take_complaint().has_value());
}

TEST(Log, much_is_written_before_the_second_is_over_and_one_call_at_a_time) {
  Log log = log_of_a_session();
  Stream stream;
  stream.carry_out(log, noon);
  const std::string line = std::string(1'023, 'x') + "\n";
  for (int i = 0; i < 500; ++i) log.output(ExecKind::Output, line, room, after(1));
  const auto first = log.next(after(1));
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(log.next(after(1)).has_value()) << "a call is under way";
  EXPECT_EQ(log.next_due(), base::Time::max());
  log.answered(stream.apply(*first), after(2));
  const auto written = stream.lines.size();
  EXPECT_GT(written, 200U);
  EXPECT_LT(written, 270U);
  log.end_with_exit_code("0", after(3));
  stream.carry_out(log, after(3));
  EXPECT_THAT(stream.output(), SizeIs(500));
}

TEST(Log, a_session_whose_group_does_not_exist_is_not_logged_and_goes_on) {
  Log log = log_of_a_session();
  ASSERT_TRUE(log.next(noon).has_value());
  log.answered(base::fail(no_group), noon);
  const auto told = log.take_complaint();
  ASSERT_TRUE(told.has_value());
  EXPECT_THAT(*told, HasSubstr("s-1 of ExecuteCommand is not logged in the log group audit: The "
                               "specified log group does not exist."));
  EXPECT_FALSE(log.take_complaint().has_value());
  log.output(ExecKind::Output, "a\n", room, after(1));
  EXPECT_EQ(log.kept_bytes(), 0U);
  EXPECT_EQ(log.next_due(), base::Time::max());
  EXPECT_FALSE(log.next(after(99'000)).has_value());
  EXPECT_TRUE(log.may_end());
  EXPECT_FALSE(log.settled());
  log.end_with_exit_code("0", after(2));
  EXPECT_TRUE(log.settled());
  EXPECT_THAT(log.rest(), IsEmpty());
}

TEST(Log, a_group_that_is_deleted_meanwhile_ends_the_log_alone) {
  Log log = log_of_a_session();
  Stream stream;
  stream.carry_out(log, noon);
  log.output(ExecKind::Output, "a\n", room, noon);
  ASSERT_TRUE(log.next(after(1'000)).has_value());
  log.answered(base::fail(no_group), after(1'000));
  EXPECT_THAT(log.take_complaint().value_or(""), HasSubstr("is logged no further"));
  EXPECT_TRUE(log.may_end());
  EXPECT_EQ(log.kept_bytes(), 0U);
}

TEST(Log, a_store_that_does_not_take_it_is_asked_again_each_second_and_holds_up_no_end) {
  Log log = log_of_a_session();
  Stream stream;
  stream.carry_out(log, noon);
  log.output(ExecKind::Output, "a\n", room, noon);
  ASSERT_TRUE(log.next(after(1'000)).has_value());
  log.answered(base::fail(busy), after(1'000));
  EXPECT_THAT(log.take_complaint().value_or(""), HasSubstr("for now"));
  log.end_with_exit_code("0", after(1'100));
  EXPECT_TRUE(log.may_end());
  EXPECT_FALSE(log.settled());
  EXPECT_EQ(log.next_due(), after(2'000));
  EXPECT_FALSE(log.next(after(1'999)).has_value());
  ASSERT_TRUE(log.next(after(2'000)).has_value());
  log.answered(base::fail(busy), after(2'000));
  EXPECT_FALSE(log.take_complaint().has_value()) << "said once";
  stream.carry_out(log, after(3'000));
  EXPECT_THAT(stream.output(), ElementsAre("a"));
  EXPECT_TRUE(log.settled());
}

TEST(Log, a_store_that_takes_nothing_for_a_minute_after_the_end_is_given_up) {
  Log log = log_of_a_session();
  int64_t now = 0;
  log.end_with_exit_code("0", noon);
  while (auto call = log.next(after(now))) {
    log.answered(base::fail(busy), after(now));
    now += 1'000;
    ASSERT_LE(now, 60'000);
  }
  EXPECT_EQ(now, 60'000);
  EXPECT_THAT(log.take_complaint().value_or(""), HasSubstr("within a minute"));
  EXPECT_TRUE(log.settled());
  EXPECT_EQ(log.kept_bytes(), 0U);
}

TEST(Log, events_that_the_store_refuses_do_not_hold_up_the_rest) {
  Log log = log_of_a_session();
  Stream stream;
  stream.carry_out(log, noon);
  log.output(ExecKind::Output, "four\n", room, noon);
  ASSERT_TRUE(log.next(after(1'000)).has_value());
  log.answered(base::fail("InvalidParameterException", "No."), after(1'000));
  log.output(ExecKind::Output, "five\n", room, after(1'000));
  log.end_with_exit_code("0", after(1'001));
  stream.carry_out(log, after(1'001));
  ASSERT_THAT(stream.output(), SizeIs(2));
  EXPECT_THAT(stream.output()[0], HasSubstr("\"bytes\":4"));
  EXPECT_EQ(stream.output()[1], "five");
}

TEST(Log, keeps_no_more_than_it_may_while_the_store_takes_nothing) {
  Log log = log_of_a_session();
  const std::string some = std::string(32'767, 'x') + "\n";
  for (int i = 0; i < 1'000; ++i) {
    log.output(ExecKind::Output, some, room, after(i));
    ASSERT_LE(log.kept_bytes(), Log::most_kept_bytes + 1'000 * size_t{64});
  }
  EXPECT_GT(log.kept_bytes(), Log::most_kept_bytes / 2);
  Stream stream;
  while (log.kept_bytes() > Log::most_kept_bytes / 2 + 2 * some.size()) {
    const auto call = log.next(after(1'000));
    ASSERT_TRUE(call.has_value());
    log.answered(stream.apply(*call), after(1'000));
    log.output(ExecKind::Output, some, room, after(1'000));
    EXPECT_THAT(stream.lines, Not(Contains(HasSubstr("gap"))));
  }
  log.end_with_exit_code("0", after(1'001));
  stream.carry_out(log, after(1'001));
  EXPECT_THAT(stream.output().back(), HasSubstr("gap"));
  EXPECT_EQ(std::ranges::count_if(stream.lines,
                                  [](const std::string& line) { return line.contains("gap"); }),
            1);
}

TEST(Log, the_rest_goes_in_order_behind_what_is_under_way) {
  for (const int begun : {0, 1, 2}) {
    Log log = log_of_a_session();
    Stream stream;
    std::vector<LogCall> under_way;
    for (int i = 0; i < begun; ++i) {
      auto call = log.next(noon);
      ASSERT_TRUE(call.has_value());
      if (i + 1 < begun) {
        log.answered(stream.apply(*call), noon);
      } else {
        under_way.push_back(std::move(*call));
      }
    }
    std::string many;
    for (int i = 0; i < 20'000; ++i) many += "a\n";
    log.output(ExecKind::Output, many, room, after(1));
    log.end_without("The server stops.", after(1));
    for (const LogCall& call : under_way) EXPECT_TRUE(stream.apply(call));
    for (const LogCall& call : log.rest()) EXPECT_TRUE(stream.apply(call));
    EXPECT_THAT(stream.output(), SizeIs(20'000)) << begun;
    EXPECT_THAT(stream.lines.front(), HasSubstr("begin"));
    EXPECT_THAT(stream.lines.back(), HasSubstr("The server stops."));
  }
}

// Calls fail before or after they were carried out; in the end each line is there once, in order.
RC_GTEST_PROP(Log, whatever_fails_each_line_is_written_once_and_in_order, ()) {
  Log log = log_of_a_session();
  Stream stream;
  std::vector<std::string> said;
  int64_t now = 0;
  const auto acts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 8));
  for (const int act : acts) {
    now += *rc::gen::inRange(0, 700);
    if (act < 4) {
      said.push_back(base::format("line {}", said.size()));
      log.output(ExecKind::Output, said.back() + "\n", room, after(now));
      continue;
    }
    auto call = log.next(after(now));
    if (!call) continue;
    const auto carried_out = act < 7 ? stream.apply(*call) : base::Result<void>{};
    log.answered(act < 6 ? carried_out : base::fail(busy), after(now));
  }
  log.end_with_exit_code("0", after(now));
  stream.carry_out(log, after(now + 1'000));
  RC_ASSERT(stream.output() == said);
  RC_ASSERT(log.settled());
  RC_ASSERT(log.kept_bytes() == 0U);
  RC_ASSERT(log.next_due() == base::Time::max());
}

}  // namespace
}  // namespace exec
