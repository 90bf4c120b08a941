#include "exec/transcript.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/utf8.h"
#include "json/value.h"

namespace exec {
namespace {

constexpr size_t event_overhead = 26;  // As PutLogEvents counts it.
constexpr size_t lines_overhead = 64;  // What an empty Lines takes, about.
constexpr size_t longest_reason = 4 << 10;
constexpr std::string_view too_fast = "The log did not keep up with the output.";

// At most so many bytes, and no part of a character at the end where that can be helped.
size_t cut_of(std::string_view bytes, size_t most) {
  size_t end = std::min(bytes.size(), most);
  if (end == bytes.size()) return end;
  const auto continues = [&](size_t at) {
    return (static_cast<uint8_t>(bytes[at]) & 0xC0U) == 0x80;
  };
  size_t back = 0;
  while (back < 3 && end > back + 1 && continues(end - back)) ++back;
  return continues(end - back) ? end : end - back;
}

}  // namespace

Transcript::Transcript(Beginning beginning, bool terminal, base::Time now)
    : session_(std::move(beginning.session)) {
  push_own(json::print(json::Value::object({{"berthExec", "begin"},
                                            {"sessionId", session_},
                                            {"callerArn", beginning.caller},
                                            {"taskArn", beginning.task},
                                            {"containerName", beginning.container},
                                            {"command", beginning.command},
                                            {"terminal", terminal}})),
           now);
}

Transcript::Open& Transcript::open(acs::ExecKind kind) {
  return open_[kind == acs::ExecKind::Error ? 1 : 0];
}

void Transcript::output(acs::ExecKind kind, std::string_view bytes, size_t room, base::Time now) {
  if (ended_ || bytes.empty()) return;
  if (bytes.size() > room) {
    finish_all(now);  // What comes after a gap is not the rest of a line before it.
    return lose(bytes.size(), too_fast);
  }
  if (lost_bytes_ > 0) push_gap(now);
  Open& line = open(kind);
  for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    add(line, bytes.substr(0, end), now);
    finish(line, now);
    bytes.remove_prefix(end + 1);
  }
  add(line, bytes, now);
}

void Transcript::add(Open& line, std::string_view bytes, base::Time now) {
  if (bytes.empty()) return;
  if (line.bytes.empty()) line.since = now;
  line.bytes += bytes;
  kept_bytes_ += bytes.size();
  while (line.bytes.size() > most_line_bytes) {
    const size_t end = cut_of(line.bytes, most_line_bytes);
    Open rest{.bytes = line.bytes.substr(end), .since = now};
    line.bytes.resize(end);
    finish(line, now);
    line = std::move(rest);
  }
}

void Transcript::finish(Open& line, base::Time now) {
  std::string text = std::exchange(line.bytes, {});
  kept_bytes_ -= text.size();
  while (text.ends_with('\r')) text.pop_back();
  if (!text.empty()) push_line(json::valid_utf8(std::move(text)), now);
}

void Transcript::finish_all(base::Time now) {
  for (Open& line : open_) finish(line, now);
}

void Transcript::push_line(std::string_view line, base::Time now) {
  if (lines_.empty() || lines_.back().at != now || !lines_.back().is_output) {
    lines_.push_back({.at = now, .text = {}});
    kept_bytes_ += lines_overhead;
  }
  kept_bytes_ += line.size() + 1;
  lines_.back().text += line;
  lines_.back().text += '\n';
}

void Transcript::push_own(std::string_view line, base::Time now) {
  lines_.push_back({.at = now, .text = std::string(line) + '\n', .is_output = false});
  kept_bytes_ += lines_overhead + line.size() + 1;
}

void Transcript::push_gap(base::Time now) {
  push_own(json::print(json::Value::object({{"berthExec", "gap"},
                                            {"sessionId", session_},
                                            {"bytes", static_cast<int64_t>(lost_bytes_)},
                                            {"reason", lost_because_}})),
           now);
  lost_bytes_ = 0;
}

void Transcript::lose(size_t bytes, std::string_view why) {
  if (lost_bytes_ == 0) lost_because_ = why;
  lost_bytes_ += bytes;
}

void Transcript::forget() {
  ended_ = true;
  open_ = {};
  lines_.clear();
  taken_of_first_ = 0;
  kept_bytes_ = 0;
}

void Transcript::end(std::string_view line, base::Time now) {
  if (ended_) return;
  ended_ = true;
  finish_all(now);
  if (lost_bytes_ > 0) push_gap(now);
  push_own(line, now);
}

void Transcript::end_with_exit_code(std::string_view code, base::Time now) {
  const auto number = base::parse_number<int64_t>(code);
  if (!number) return end_without("The agent told no exit code.", now);
  end(json::print(json::Value::object(
          {{"berthExec", "end"}, {"sessionId", session_}, {"exitCode", *number}})),
      now);
}

void Transcript::end_without(std::string_view why, base::Time now) {
  end(json::print(json::Value::object({{"berthExec", "end"},
                                       {"sessionId", session_},
                                       {"reason", why.substr(0, longest_reason)}})),
      now);
}

void Transcript::tick(base::Time now) {
  for (Open& line : open_) {
    if (!line.bytes.empty() && line.since + longest_line_wait <= now) finish(line, now);
  }
}

std::vector<api::logs::InputLogEvent> Transcript::take(size_t most_bytes, size_t most_events) {
  std::vector<api::logs::InputLogEvent> events;
  size_t bytes = 0;
  const bool packs = kept_bytes_ > pack_above_bytes;
  while (!lines_.empty() && events.size() < most_events) {
    const Lines& first = lines_.front();
    const std::string_view rest = std::string_view(first.text).substr(taken_of_first_);
    const size_t line_end = rest.find('\n');
    const size_t pack_end = packs ? rest.substr(0, most_packed_bytes).rfind('\n') : line_end;
    const std::string_view line =
        rest.substr(0, pack_end == std::string_view::npos ? line_end : pack_end);
    if (!events.empty() && bytes + line.size() + event_overhead > most_bytes) break;
    bytes += line.size() + event_overhead;
    events.push_back(
        {.timestamp = first.at.time_since_epoch().count(), .message = std::string(line)});
    kept_bytes_ -= line.size() + 1;
    taken_of_first_ += line.size() + 1;
    if (taken_of_first_ < first.text.size()) continue;
    taken_of_first_ = 0;
    kept_bytes_ -= lines_overhead;
    lines_.pop_front();
  }
  return events;
}

std::optional<base::Time> Transcript::oldest() const {
  if (lines_.empty()) return std::nullopt;
  return lines_.front().at;
}

std::optional<base::Time> Transcript::next_due() const {
  std::optional<base::Time> due;
  for (const Open& line : open_) {
    if (line.bytes.empty()) continue;
    due = std::min(due.value_or(base::Time::max()), line.since + longest_line_wait);
  }
  return due;
}

}  // namespace exec
