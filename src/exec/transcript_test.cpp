#include "exec/transcript.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "base/format.h"
#include "exec/testing.h"
#include "json/utf8.h"
#include "json/value.h"

namespace exec {
namespace {

using acs::ExecKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t much = size_t{1} << 30;

Transcript transcript(bool terminal = true) {
  return Transcript({.session = "ecs-execute-command-1",
                     .caller = "arn:aws:iam::123456789012:root",
                     .task = "arn:aws:ecs:us-east-1:123456789012:task/default/t",
                     .container = "main",
                     .command = "sh -c \"ls\""},
                    terminal, noon);
}

std::vector<std::string> messages(std::vector<api::logs::InputLogEvent> events) {
  std::vector<std::string> texts;
  for (auto& event : events) texts.push_back(std::move(*event.message));
  return texts;
}

// Without the first event and, where it has ended, the last.
std::vector<std::string> lines_of(Transcript& taken) {
  auto texts = messages(taken.take(much, much));
  texts.erase(texts.begin());
  if (taken.ended()) texts.pop_back();
  return texts;
}

// What the lines of a text are, read at once.
std::vector<std::string> reference(const std::string& text) {
  std::vector<std::string> lines;
  std::string rest = text + '\n';
  for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
    std::string line = rest.substr(0, end);
    rest.erase(0, end + 1);
    while (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(json::valid_utf8(std::move(line)));
  }
  return lines;
}

RC_GTEST_PROP(Transcript, lines_are_the_same_in_whatever_pieces_they_come, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::oneOf(
      rc::gen::element('\n', '\r', 'a', '\xC3', '\xBC', '\0'), rc::gen::arbitrary<char>()));
  auto made = transcript();
  for (size_t at = 0; at < text.size();) {
    const auto size = *rc::gen::inRange<size_t>(1, 8);
    made.output(ExecKind::Output, std::string_view(text).substr(at, size), room, after(1));
    at += size;
  }
  made.end_with_exit_code("0", after(2));
  RC_ASSERT(lines_of(made) == reference(text));
  RC_ASSERT(made.empty());
  RC_ASSERT(made.kept_bytes() == 0U);
}

RC_GTEST_PROP(Transcript, what_is_taken_in_helpings_is_what_there_is_and_in_order, ()) {
  const auto writes = *rc::gen::container<std::vector<std::pair<bool, int>>>(
      rc::gen::pair(rc::gen::arbitrary<bool>(), rc::gen::inRange(0, 40)));
  auto whole = transcript(false);
  auto helped = transcript(false);
  std::vector<api::logs::InputLogEvent> taken;
  int64_t now = 0;
  for (const auto& [error, number] : writes) {
    now += number % 3;
    const std::string line = base::format("{}{}", number, number % 4 == 0 ? "" : "\n");
    const ExecKind kind = error ? ExecKind::Error : ExecKind::Output;
    whole.output(kind, line, room, after(now));
    helped.output(kind, line, room, after(now));
    const auto most_bytes = *rc::gen::inRange<size_t>(1, 200);
    const auto most_events = *rc::gen::inRange<size_t>(0, 4);
    auto some = helped.take(most_bytes, most_events);
    size_t bytes = 0;
    for (const auto& event : some) bytes += event.message->size() + 26;
    RC_ASSERT(some.size() <= 1 || bytes <= most_bytes);
    RC_ASSERT(some.size() <= most_events);
    taken.insert(taken.end(), some.begin(), some.end());
  }
  whole.end_with_exit_code("0", after(now));
  helped.end_with_exit_code("0", after(now));
  for (auto& event : helped.take(much, much)) taken.push_back(std::move(event));
  RC_ASSERT(taken == whole.take(much, much));
  for (size_t i = 1; i < taken.size(); ++i) RC_ASSERT(taken[i - 1].timestamp <= taken[i].timestamp);
  RC_ASSERT(helped.kept_bytes() == 0U);
}

TEST(Transcript, where_much_waits_several_lines_are_an_event) {
  auto made = transcript();
  std::string expected;
  for (int i = 0; i < 300'000; ++i) {
    const std::string line = base::format("{}\n", i);
    made.output(ExecKind::Output, line, room, after(i / 10'000));
    expected += line;
  }
  made.end_with_exit_code("0", after(30));
  const auto before = made.kept_bytes();
  const auto events = messages(made.take(much, 400));
  EXPECT_EQ(made.kept_bytes() > 0, !made.empty());
  EXPECT_LT(made.kept_bytes(), before);
  ASSERT_THAT(events, SizeIs(::testing::Lt(400)));
  EXPECT_THAT(events.front(), ::testing::HasSubstr("begin"));
  EXPECT_EQ(events[1].substr(0, 4), "0\n1\n");
  EXPECT_THAT(events.back(), ::testing::StartsWith("{\"berthExec\":\"end\""));
  std::string told;
  for (size_t i = 1; i + 1 < events.size(); ++i) {
    EXPECT_LE(events[i].size(), Transcript::most_packed_bytes);
    told += events[i] + "\n";
  }
  EXPECT_EQ(told, expected);
}

TEST(Transcript, the_first_event_says_who_what_and_where_and_the_last_how_it_ended) {
  auto made = transcript(false);
  made.output(ExecKind::Output, "a\n", room, after(5));
  made.end_with_exit_code("3", after(7));
  made.end_without("too late", after(9));
  made.output(ExecKind::Output, "too late\n", room, after(9));
  const auto events = made.take(much, much);
  ASSERT_THAT(events, SizeIs(3));
  const auto begin = json::parse(*events[0].message);
  ASSERT_TRUE(begin.has_value());
  EXPECT_EQ((*begin)["berthExec"].text_or(""), "begin");
  EXPECT_EQ((*begin)["sessionId"].text_or(""), "ecs-execute-command-1");
  EXPECT_EQ((*begin)["callerArn"].text_or(""), "arn:aws:iam::123456789012:root");
  EXPECT_EQ((*begin)["taskArn"].text_or(""), "arn:aws:ecs:us-east-1:123456789012:task/default/t");
  EXPECT_EQ((*begin)["containerName"].text_or(""), "main");
  EXPECT_EQ((*begin)["command"].text_or(""), "sh -c \"ls\"");
  EXPECT_EQ((*begin)["terminal"].as_bool(), false);
  EXPECT_EQ(events[1].message, "a");
  const auto end = json::parse(*events[2].message);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ((*end)["berthExec"].text_or(""), "end");
  EXPECT_EQ((*end)["exitCode"].as_int64(), 3);
  EXPECT_EQ(events[0].timestamp, noon.time_since_epoch().count());
  EXPECT_EQ(events[1].timestamp, after(5).time_since_epoch().count());
  EXPECT_EQ(events[2].timestamp, after(7).time_since_epoch().count());
}

TEST(Transcript, an_end_without_an_exit_code_says_why) {
  for (const bool odd_code : {false, true}) {
    auto made = transcript();
    if (odd_code) {
      made.end_with_exit_code("3x", noon);
    } else {
      made.end_without("The session was terminated.", noon);
    }
    const auto end = json::parse(messages(made.take(much, much)).back());
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ((*end)["reason"].text_or(""),
              odd_code ? "The agent told no exit code." : "The session was terminated.");
    EXPECT_EQ((*end)["exitCode"].as_int64(), std::nullopt);
  }
}

TEST(Transcript, an_agent_cannot_make_the_last_event_too_large) {
  auto made = transcript();
  made.end_without(std::string(size_t{2} << 20, '\xFF'), noon);
  EXPECT_LT(messages(made.take(much, much)).back().size(), size_t{16} << 10);
}

TEST(Transcript, lines_of_standard_error_stand_between_those_of_the_output) {
  auto made = transcript(false);
  made.output(ExecKind::Output, "one\ntw", room, after(1));
  made.output(ExecKind::Error, "oh\nno", room, after(2));
  made.output(ExecKind::Output, "o\n\n\r\n", room, after(3));
  EXPECT_THAT(lines_of(made), ElementsAre("one", "oh", "two"));
  made.end_with_exit_code("0", after(4));
  EXPECT_THAT(messages(made.take(much, much)), ElementsAre("no", ::testing::HasSubstr("exitCode")));
}

TEST(Transcript, a_long_line_is_cut_between_characters) {
  auto made = transcript();
  const std::string many(Transcript::most_line_bytes - 1, 'x');
  made.output(ExecKind::Output, many + "\xE2\x82\xAC", room, after(1));
  made.output(ExecKind::Output, many + "yz\n", room, after(2));
  const auto lines = lines_of(made);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0], many);
  EXPECT_EQ(lines[1], "\xE2\x82\xAC" + many.substr(2));
  EXPECT_EQ(lines[2], "xxyz");
}

TEST(Transcript, no_event_is_larger_than_the_log_store_takes_and_no_more_is_kept_open) {
  auto made = transcript();
  const std::string no_text(size_t{1} << 20, '\xFF');
  for (int i = 0; i < 4; ++i) made.output(ExecKind::Output, no_text, room, after(i));
  size_t characters = 0;
  for (const std::string& line : lines_of(made)) {
    EXPECT_LE(line.size(), size_t{1} << 20);
    characters += line.size() / 3;
  }
  EXPECT_GE(characters + Transcript::most_line_bytes, 4 * no_text.size());
  EXPECT_LE(made.kept_bytes(), Transcript::most_line_bytes);
}

TEST(Transcript, a_line_that_has_not_ended_for_a_minute_is_an_event) {
  auto made = transcript();
  EXPECT_EQ(made.next_due(), std::nullopt);
  made.output(ExecKind::Output, "/ # ", room, after(10));
  made.output(ExecKind::Output, "ls", room, after(20));
  EXPECT_EQ(made.next_due(), after(60'010));
  made.tick(after(60'009));
  EXPECT_THAT(lines_of(made), IsEmpty());
  made.tick(after(60'010));
  EXPECT_THAT(messages(made.take(much, much)), ElementsAre("/ # ls"));
  EXPECT_EQ(made.next_due(), std::nullopt);
  made.output(ExecKind::Output, "\nbin\n", room, after(60'020));
  EXPECT_THAT(messages(made.take(much, much)), ElementsAre("bin"));
}

TEST(Transcript, output_without_room_is_told_of_at_its_place) {
  auto made = transcript();
  made.output(ExecKind::Output, "one\ntw", room, after(1));
  made.output(ExecKind::Output, "o\nthree\n", 7, after(2));
  made.output(ExecKind::Output, "four\n", 4, after(3));
  made.output(ExecKind::Output, "five\nsix\n", 9, after(4));
  made.output(ExecKind::Output, "seven\n", 0, after(5));
  made.end_with_exit_code("0", after(6));
  const auto lines = lines_of(made);
  ASSERT_THAT(lines, SizeIs(6));
  EXPECT_EQ(lines[0], "one");
  EXPECT_EQ(lines[1], "tw");
  const auto gap = json::parse(lines[2]);
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ((*gap)["berthExec"].text_or(""), "gap");
  EXPECT_EQ((*gap)["bytes"].as_int64(), 13);
  EXPECT_EQ((*gap)["reason"].text_or(""), "The log did not keep up with the output.");
  EXPECT_EQ(lines[3], "five");
  EXPECT_EQ(lines[4], "six");
  EXPECT_THAT(lines[5], ::testing::HasSubstr("\"bytes\":6"));
}

}  // namespace
}  // namespace exec
