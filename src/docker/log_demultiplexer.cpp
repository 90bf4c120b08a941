#include "docker/log_demultiplexer.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/format.h"
#include "base/time.h"
#include "base/units.h"

namespace docker {
namespace {

constexpr size_t header_bytes = 8;
constexpr size_t max_time_bytes = 64;
constexpr size_t max_error_bytes = 4096;
// dockerd reads a container's output in buffers of this size; a line that fills one is told in
// pieces, each but the last of exactly this length.
constexpr size_t daemon_piece_bytes = 16384;

}  // namespace

std::optional<int64_t> parse_time_ns(std::string_view text) {
  // The fraction is cut out and read here, since base::Time has milliseconds only.
  int64_t fraction_ns = 0;
  std::string whole(text);
  if (const size_t dot = text.find('.'); dot != std::string_view::npos) {
    size_t end = dot + 1;
    int64_t scale = 100'000'000;
    for (; end < text.size() && text[end] >= '0' && text[end] <= '9'; ++end, scale /= 10) {
      fraction_ns += scale * (text[end] - '0');
    }
    if (end == dot + 1) return std::nullopt;
    whole = std::string(text.substr(0, dot)) + std::string(text.substr(end));
  }
  const std::optional<base::Time> time = base::parse_rfc3339(whole);
  if (!time) return std::nullopt;
  const int64_t ms = time->time_since_epoch().count();
  constexpr int64_t most_ms = std::numeric_limits<int64_t>::max() / base::ns_per_ms - 1000;
  if (ms > most_ms || ms < -most_ms) return std::nullopt;
  return ms * base::ns_per_ms + fraction_ns;
}

std::string format_since(int64_t time_ns) {
  constexpr int64_t ns_per_s = 1'000'000'000;
  return base::format("{}.{:09}", time_ns / ns_per_s, time_ns % ns_per_s);
}

std::expected<bool, std::string> LogDemultiplexer::feed(std::string_view bytes,
                                                        const OnLogLine& on_line) {
  if (form_ == LogForm::Raw && step_ == Step::Header) step_ = Step::Time;
  while (!bytes.empty()) {
    bool go_on = true;
    switch (step_) {
      case Step::Header: {
        auto taken = take_header(bytes);
        if (!taken) return std::unexpected(std::move(taken).error());
        break;
      }
      case Step::Time: {
        auto taken = take_time(bytes, on_line);
        if (!taken) return std::unexpected(std::move(taken).error());
        go_on = *taken;
        break;
      }
      case Step::Text:
        go_on = take_text(bytes, on_line);
        break;
      case Step::Repeat:
        go_on = take_repeat(bytes, on_line);
        break;
      case Step::ErrorFrame: {
        const size_t most = std::min<uint64_t>(left_in_frame_, bytes.size());
        header_.append(bytes.substr(0, std::min(most, max_error_bytes - header_.size())));
        bytes.remove_prefix(most);
        left_in_frame_ -= most;
        if (left_in_frame_ == 0) return std::unexpected(std::exchange(header_, {}));
        break;
      }
    }
    if (!go_on) return false;
  }
  return true;
}

std::expected<void, std::string> LogDemultiplexer::finish(const OnLogLine& on_line) {
  const bool cut = form_ == LogForm::Multiplexed && (step_ != Step::Header || !header_.empty());
  if (step_ == Step::Repeat && !append(std::string_view(time_).substr(0, repeated_), on_line)) {
    return {};
  }
  for (const OutputStream stream : {OutputStream::Stdout, OutputStream::Stderr}) {
    stream_ = stream;
    if (pending().open && !emit(true, on_line)) return {};
  }
  if (cut) return std::unexpected("the log stream ended in the middle of a frame");
  return {};
}

std::expected<void, std::string> LogDemultiplexer::take_header(std::string_view& bytes) {
  const size_t most = std::min(header_bytes - header_.size(), bytes.size());
  header_.append(bytes.substr(0, most));
  bytes.remove_prefix(most);
  if (header_.size() < header_bytes) return {};
  const auto byte = [this](size_t index) { return static_cast<uint8_t>(header_[index]); };
  const uint8_t kind = byte(0);
  if (kind > 3 || byte(1) != 0 || byte(2) != 0 || byte(3) != 0) {
    return std::unexpected("the log stream has a frame of an unknown kind");
  }
  left_in_frame_ = (uint64_t{byte(4)} << 24) | (uint64_t{byte(5)} << 16) |
                   (uint64_t{byte(6)} << 8) | uint64_t{byte(7)};
  header_.clear();
  if (left_in_frame_ == 0) return {};
  if (kind == 3) {
    step_ = Step::ErrorFrame;
    return {};
  }
  stream_ = kind == 2 ? OutputStream::Stderr : OutputStream::Stdout;
  time_.clear();
  step_ = Step::Time;
  return {};
}

std::expected<bool, std::string> LogDemultiplexer::take_time(std::string_view& bytes,
                                                             const OnLogLine& on_line) {
  const size_t most =
      form_ == LogForm::Raw ? bytes.size() : std::min<uint64_t>(left_in_frame_, bytes.size());
  const size_t space = bytes.substr(0, most).find(' ');
  const size_t taken = space == std::string_view::npos ? most : space + 1;
  const bool too_long = time_.size() + taken > max_time_bytes;
  if (!too_long) time_.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  left_in_frame_ -= form_ == LogForm::Raw ? 0 : taken;
  const bool whole = space != std::string_view::npos;
  if (!whole && !too_long && (form_ == LogForm::Raw || left_in_frame_ > 0)) return true;
  const std::optional<int64_t> time_ns =
      whole && !too_long ? parse_time_ns(std::string_view(time_).substr(0, time_.size() - 1))
                         : std::nullopt;
  if (!time_ns) {
    return std::unexpected("the log stream has a line that does not begin with its time");
  }
  // The pieces of one line carry one time. Another time begins another line, so what went before
  // was the last output of a process, without a newline.
  if (pending().open && pending().time_ns != *time_ns && !emit(true, on_line)) return false;
  pending().open = true;
  pending().time_ns = *time_ns;
  since_time_ = 0;
  step_ = Step::Text;
  end_payload_if_done();
  return true;
}

bool LogDemultiplexer::take_text(std::string_view& bytes, const OnLogLine& on_line) {
  const bool raw = form_ == LogForm::Raw;
  if (raw && since_time_ == daemon_piece_bytes && bytes.front() == time_.front()) {
    repeated_ = 0;
    step_ = Step::Repeat;
    return true;
  }
  size_t most = raw ? bytes.size() : std::min<uint64_t>(left_in_frame_, bytes.size());
  if (raw && since_time_ < daemon_piece_bytes) {
    most = std::min(most, daemon_piece_bytes - since_time_);
  }
  const size_t newline = bytes.substr(0, most).find('\n');
  const bool ends = newline != std::string_view::npos;
  const std::string_view text = bytes.substr(0, ends ? newline : most);
  const size_t taken = text.size() + (ends ? 1 : 0);
  bytes.remove_prefix(taken);
  since_time_ += taken;
  left_in_frame_ -= raw ? 0 : taken;
  pending().open = true;
  if (!append(text, on_line)) return false;
  if (ends) {
    if (!emit(true, on_line)) return false;
    if (raw) {
      time_.clear();
      step_ = Step::Time;
    }
  }
  end_payload_if_done();
  return true;
}

// In Raw a full piece may be followed by the line's time again, which is not part of the text.
bool LogDemultiplexer::take_repeat(std::string_view& bytes, const OnLogLine& on_line) {
  while (!bytes.empty() && repeated_ < time_.size() && bytes.front() == time_[repeated_]) {
    bytes.remove_prefix(1);
    ++repeated_;
  }
  if (repeated_ == time_.size()) {
    since_time_ = 0;
    step_ = Step::Text;
    return true;
  }
  if (bytes.empty()) return true;
  // It only looked like the time.
  since_time_ += repeated_;
  step_ = Step::Text;
  return append(std::string_view(time_).substr(0, repeated_), on_line);
}

bool LogDemultiplexer::append(std::string_view text, const OnLogLine& on_line) {
  Pending& line = pending();
  while (line.bytes.size() + text.size() > max_log_line_bytes) {
    const size_t room = max_log_line_bytes - line.bytes.size();
    line.bytes.append(text.substr(0, room));
    text.remove_prefix(room);
    if (!emit(false, on_line)) return false;
  }
  line.bytes.append(text);
  return true;
}

bool LogDemultiplexer::emit(bool complete, const OnLogLine& on_line) {
  Pending& line = pending();
  line.open = !complete;
  return on_line(LogLine{stream_, line.time_ns, std::exchange(line.bytes, {}), complete});
}

void LogDemultiplexer::end_payload_if_done() {
  if (form_ == LogForm::Multiplexed && left_in_frame_ == 0) step_ = Step::Header;
}

}  // namespace docker
