#include "docker/log_demultiplexer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "docker/testing_frames.h"

namespace docker {
namespace {

constexpr int64_t begin_ns = 1'795'256'507'239'812'602;
constexpr std::string_view begin_text = "2026-11-21T10:21:47.239812602Z";
constexpr size_t piece_bytes = 16384;

struct Line {
  OutputStream stream;
  int64_t time_ns;
  std::string bytes;
  friend bool operator==(const Line&, const Line&) = default;
};

// What the daemon prints: RFC 3339 with nine digits, here always within the minute of begin_text.
std::string time_text(int64_t time_ns) {
  const int64_t since_minute = time_ns - begin_ns + 47'239'812'602;
  return base::format("2026-11-21T10:21:{:02}.{:09}Z", since_minute / 1'000'000'000,
                      since_minute % 1'000'000'000);
}

std::string log_frame(OutputStream stream, std::string_view payload) {
  return frame(stream == OutputStream::Stdout ? 1 : 2, payload);
}

// As dockerd writes it: pieces of 16 KiB, each with the line's time, the newline in the last.
std::string encode(const Line& line, LogForm form) {
  std::string result;
  std::string rest = line.bytes + "\n";
  while (!rest.empty()) {
    const std::string payload =
        base::format("{} {}", time_text(line.time_ns), rest.substr(0, piece_bytes));
    result += form == LogForm::Raw ? payload : log_frame(line.stream, payload);
    rest.erase(0, std::min(rest.size(), piece_bytes));
  }
  return result;
}

struct Collector {
  std::vector<Line> lines;
  OnLogLine on_line() {
    return [this](LogLine&& line) {
      if (begun) {
        lines.back().bytes += line.bytes;
      } else {
        lines.push_back({line.stream, line.time_ns, line.bytes});
      }
      begun = !line.complete;
      return true;
    };
  }
  bool begun = false;  // The last line goes on.
};

rc::Gen<std::string> line_bytes() {
  const auto any_byte_but_newline = rc::gen::map(rc::gen::inRange<int>(0, 255), [](int byte) {
    return static_cast<char>(byte < 10 ? byte : byte + 1);
  });
  // Around the daemon's piece, around the end of a time, and ordinary ones.
  const auto long_line = rc::gen::apply(
      [](size_t size, std::string head) {
        head.resize(size, '2');  // The letter that a time begins with.
        return head;
      },
      rc::gen::element<size_t>(piece_bytes - 1, piece_bytes, piece_bytes + 1, 2 * piece_bytes,
                               2 * piece_bytes + 40, max_log_line_bytes - 1, max_log_line_bytes,
                               max_log_line_bytes + 1),
      rc::gen::container<std::string>(any_byte_but_newline));
  return rc::gen::weightedOneOf<std::string>(
      {{8, rc::gen::container<std::string>(any_byte_but_newline)}, {1, long_line}});
}

void check_lines_survive_any_cutting(LogForm form) {
  const auto texts = *rc::gen::container<std::vector<std::string>>(line_bytes());
  std::vector<Line> lines;
  std::string bytes;
  for (const std::string& text : texts) {
    const bool err = form == LogForm::Multiplexed && *rc::gen::arbitrary<bool>();
    lines.push_back({err ? OutputStream::Stderr : OutputStream::Stdout,
                     begin_ns + static_cast<int64_t>(lines.size()), text});
    bytes += encode(lines.back(), form);
  }
  Collector collector;
  LogDemultiplexer demultiplexer(form);
  const auto most = *rc::gen::element<size_t>(1, 9, 40, 5000, 100'000);
  for (size_t at = 0; at < bytes.size();) {
    const auto size =
        most <= 9 && bytes.size() > 50'000 ? 4096 : *rc::gen::inRange<size_t>(1, most + 1);
    const auto fed =
        demultiplexer.feed(std::string_view(bytes).substr(at, size), collector.on_line());
    RC_ASSERT(fed.value());
    at += size;
  }
  RC_ASSERT(demultiplexer.finish(collector.on_line()).has_value());
  RC_ASSERT(collector.lines == lines);
}

RC_GTEST_PROP(LogDemultiplexer, frames_give_the_lines_however_they_are_cut, ()) {
  check_lines_survive_any_cutting(LogForm::Multiplexed);
}

RC_GTEST_PROP(LogDemultiplexer, raw_output_gives_the_lines_however_it_is_cut, ()) {
  check_lines_survive_any_cutting(LogForm::Raw);
}

std::vector<LogLine> all_lines(LogForm form, std::string_view bytes) {
  std::vector<LogLine> lines;
  const OnLogLine on_line = [&lines](LogLine&& line) {
    lines.push_back(std::move(line));
    return true;
  };
  LogDemultiplexer demultiplexer(form);
  EXPECT_TRUE(demultiplexer.feed(bytes, on_line).value());
  EXPECT_TRUE(demultiplexer.finish(on_line).has_value());
  return lines;
}

TEST(LogDemultiplexer, recorded_frames_of_docker_20_10_become_lines) {
  const std::string bytes(
      "\x01\0\0\0\0\0\0\x23"
      "2026-11-21T10:21:47.239812602Z out\n"
      "\x02\0\0\0\0\0\0\x23"
      "2026-11-21T10:21:47.239921714Z err\n",
      86);
  const auto lines = all_lines(LogForm::Multiplexed, bytes);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].stream, OutputStream::Stdout);
  EXPECT_EQ(lines[0].bytes, "out");
  EXPECT_EQ(lines[0].time_ns, begin_ns);
  EXPECT_EQ(lines[1].stream, OutputStream::Stderr);
  EXPECT_EQ(lines[1].bytes, "err");
}

TEST(LogDemultiplexer, a_last_line_without_newline_is_told_at_the_end) {
  const std::string bytes = log_frame(OutputStream::Stdout, base::format("{} abc", begin_text));
  const auto lines = all_lines(LogForm::Multiplexed, bytes);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].bytes, "abc");
  EXPECT_TRUE(lines[0].complete);
}

TEST(LogDemultiplexer, another_time_begins_another_line_even_without_newline) {
  const std::string bytes =
      log_frame(OutputStream::Stdout, time_text(begin_ns) + " before the restart") +
      log_frame(OutputStream::Stdout, time_text(begin_ns + 5) + " after\n");
  const auto lines = all_lines(LogForm::Multiplexed, bytes);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].bytes, "before the restart");
  EXPECT_EQ(lines[1].bytes, "after");
}

TEST(LogDemultiplexer, pieces_of_two_streams_do_not_mix) {
  const std::string bytes = log_frame(OutputStream::Stdout, time_text(begin_ns) + " aaa") +
                            log_frame(OutputStream::Stderr, time_text(begin_ns + 1) + " bbb\n") +
                            log_frame(OutputStream::Stdout, time_text(begin_ns) + "  ccc\n");
  const auto lines = all_lines(LogForm::Multiplexed, bytes);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].bytes, "bbb");
  EXPECT_EQ(lines[1].bytes, "aaa ccc");
}

TEST(LogDemultiplexer, an_endless_line_is_told_in_pieces_of_the_longest_event) {
  const std::string text(2 * max_log_line_bytes + 5, 'x');
  const auto lines = all_lines(
      LogForm::Multiplexed, encode({OutputStream::Stdout, begin_ns, text}, LogForm::Multiplexed));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].bytes.size(), max_log_line_bytes);
  EXPECT_FALSE(lines[0].complete);
  EXPECT_FALSE(lines[1].complete);
  EXPECT_EQ(lines[2].bytes, "xxxxx");
  EXPECT_TRUE(lines[2].complete);
}

TEST(LogDemultiplexer, raw_text_that_only_resembles_a_time_is_kept) {
  const std::string text = std::string(piece_bytes, 'x') + "2026-11-21T10 is a time";
  const std::string bytes = base::format("{} {}\n", begin_text, text);
  const auto lines = all_lines(LogForm::Raw, bytes);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].bytes, text);
}

TEST(LogDemultiplexer, raw_carriage_returns_are_part_of_the_line) {
  const auto lines = all_lines(LogForm::Raw, base::format("{} hello\r\n", begin_text));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].bytes, "hello\r");
}

std::string error_of(LogForm form, std::string_view bytes) {
  const OnLogLine on_line = [](LogLine&&) { return true; };
  LogDemultiplexer demultiplexer(form);
  const auto fed = demultiplexer.feed(bytes, on_line);
  if (!fed) return fed.error();
  const auto finished = demultiplexer.finish(on_line);
  return finished ? "" : finished.error();
}

TEST(LogDemultiplexer, bytes_that_are_no_log_are_refused_with_the_cause) {
  EXPECT_EQ(error_of(LogForm::Multiplexed, "HTTP/1.1 200 OK"),
            "the log stream has a frame of an unknown kind");
  EXPECT_EQ(error_of(LogForm::Multiplexed, log_frame(OutputStream::Stdout, "no time here\n")),
            "the log stream has a line that does not begin with its time");
  EXPECT_EQ(error_of(LogForm::Multiplexed, log_frame(OutputStream::Stdout, "short")),
            "the log stream has a line that does not begin with its time");
  EXPECT_EQ(error_of(LogForm::Raw, "2026-11-21T10:21:47." + std::string(100, '0') + "Z text\n"),
            "the log stream has a line that does not begin with its time");
  EXPECT_EQ(error_of(LogForm::Raw, std::string(100, 'x')),
            "the log stream has a line that does not begin with its time");
  const std::string whole = log_frame(OutputStream::Stdout, base::format("{} abc\n", begin_text));
  EXPECT_EQ(error_of(LogForm::Multiplexed, whole.substr(0, whole.size() - 1)),
            "the log stream ended in the middle of a frame");
  EXPECT_EQ(error_of(LogForm::Multiplexed, whole + whole.substr(0, 5)),
            "the log stream ended in the middle of a frame");
}

TEST(LogDemultiplexer, the_daemons_error_frame_is_the_error) {
  std::string bytes = log_frame(OutputStream::Stdout, "cannot read the log file");
  bytes[0] = 3;
  EXPECT_EQ(error_of(LogForm::Multiplexed, bytes), "cannot read the log file");
}

TEST(LogDemultiplexer, a_reader_that_has_enough_ends_it) {
  LogDemultiplexer demultiplexer(LogForm::Raw);
  const std::string bytes = base::format("{} a\n{} b\n", begin_text, begin_text);
  int lines = 0;
  EXPECT_FALSE(demultiplexer.feed(bytes, [&lines](LogLine&&) { return ++lines < 1; }).value());
  EXPECT_EQ(lines, 1);
}

TEST(LogDemultiplexer, times_are_read_to_the_nanosecond) {
  EXPECT_EQ(parse_time_ns(begin_text), begin_ns);
  EXPECT_EQ(parse_time_ns("1970-01-01T00:00:01Z"), 1'000'000'000);
  EXPECT_EQ(parse_time_ns("1970-01-01T00:00:00.5Z"), 500'000'000);
  EXPECT_EQ(parse_time_ns("1970-01-01T02:00:00.000000001+02:00"), 1);
  EXPECT_EQ(parse_time_ns("9999-01-01T00:00:00Z"), std::nullopt);
  EXPECT_EQ(parse_time_ns("2026-11-21T10:21:47.Z"), std::nullopt);
  EXPECT_EQ(parse_time_ns("yesterday"), std::nullopt);
  EXPECT_EQ(format_since(begin_ns), "1795256507.239812602");
  EXPECT_EQ(format_since(1), "0.000000001");
}

}  // namespace
}  // namespace docker
