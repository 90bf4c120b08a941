// What a session of ExecuteCommand leaves in the log, as log events: what it was, each line of its
// output, how it ended. What was typed stands there only as the terminal echoed it. Pure.
//
// The first event and the last are a JSON object each, with "berthExec" "begin" and "end"; "gap"
// tells how many bytes of output are missing at that place, and why. A command may print the like;
// the first event, and the last of a session that has ended, are never its output.
//
// Between them a line of output is an event, without its end ("\n", "\r\n"); an empty line is none;
// bytes that are no UTF-8 become U+FFFD. A line that is too long for an event becomes several; one
// that has not ended for a minute, such as a prompt, is an event as far as it has come; where much
// waits to be taken, lines that came at once are one event, with "\n" between them. Standard error,
// which there is only without a terminal, stands between the lines of the output as it came.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acs/exec.h"
#include "api/generated/logs.h"
#include "base/time.h"

namespace exec {

// Who has asked for what, where. Its texts are valid UTF-8.
struct Beginning {
  std::string session;    // Its id.
  std::string caller;     // ARN.
  std::string task;       // ARN.
  std::string container;  // Name.
  std::string command;
};

class Transcript {
 public:
  // Longer lines are cut. Source: CloudWatch Logs quotas, the size of an event.
  static constexpr size_t most_line_bytes = (size_t{256} << 10) - 26;
  static constexpr base::Milliseconds longest_line_wait{60'000};
  // Where more than this is kept, several lines are one event of at most so many bytes.
  static constexpr size_t pack_above_bytes = size_t{1} << 20;
  static constexpr size_t most_packed_bytes = size_t{32} << 10;

  Transcript(Beginning beginning, bool terminal, base::Time now);

  // Bytes of the process. `room`: so many may be kept; when they are more all of them are left out,
  // as a gap. `now` never goes back, here and below.
  void output(acs::ExecKind kind, std::string_view bytes, size_t room, base::Time now);
  // Once, the last of all.
  void end_with_exit_code(std::string_view code, base::Time now);
  void end_without(std::string_view why, base::Time now);
  // Lines that have waited for their end long enough.
  void tick(base::Time now);
  // Events that were taken are lost, with so many bytes.
  void lose(size_t bytes, std::string_view why);
  // Nobody will take any more: nothing is kept, now and later.
  void forget();

  // The oldest events, at least one where there is one, and no more of them than these, as
  // PutLogEvents counts bytes. In the order of their timestamps.
  std::vector<api::logs::InputLogEvent> take(size_t most_bytes, size_t most_events);
  // When the oldest event that can be taken came.
  std::optional<base::Time> oldest() const;
  // When a line has to be an event though it has not ended.
  std::optional<base::Time> next_due() const;
  bool ended() const { return ended_; }
  // Whether what came last is missing.
  bool in_gap() const { return lost_bytes_ > 0; }
  bool empty() const { return lines_.empty(); }
  // What it keeps, about.
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  // A line whose end has not come.
  struct Open {
    std::string bytes;
    base::Time since{};
  };
  // Lines that came at once, each with its end.
  struct Lines {
    base::Time at;
    std::string text;
    bool is_output = true;  // Otherwise one line that the session itself says.
  };

  Open& open(acs::ExecKind kind);
  void add(Open& line, std::string_view bytes, base::Time now);
  void finish(Open& line, base::Time now);
  void finish_all(base::Time now);
  void push_line(std::string_view line, base::Time now);
  void push_own(std::string_view line, base::Time now);
  void push_gap(base::Time now);
  void end(std::string_view line, base::Time now);

  std::string session_;
  std::array<Open, 2> open_;  // Of output and of standard error.
  std::deque<Lines> lines_;
  size_t taken_of_first_ = 0;  // Bytes of lines_.front().
  size_t kept_bytes_ = 0;
  size_t lost_bytes_ = 0;  // Since the last gap.
  std::string lost_because_;
  bool ended_ = false;
};

}  // namespace exec
