// Lines out of the byte stream of GET /containers/{id}/logs?timestamps=1, in whatever pieces the
// bytes arrive.
//
// Multiplexed (a container without a terminal): frames of an 8-byte header {stream, 0, 0, 0, length
// in 4 bytes, highest first} and a payload "2026-01-31T12:00:00.123456789Z text\n". A line longer
// than 16 KiB comes in several frames with the same time, only the last of which has the newline.
// Raw (with a terminal): the payloads alone, one after another.
// Source: Docker Engine API reference, "Attach to a container", Stream format; the repetition of
// the time in both forms was recorded from Docker 20.10.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "docker/runtime.h"

namespace docker {

// Nanoseconds since 1970 of an RFC 3339 time with up to 9 fraction digits; nullopt for anything
// else and for years that do not fit.
std::optional<int64_t> parse_time_ns(std::string_view text);
// "1795256513.000000042", as the daemon takes `since`.
std::string format_since(int64_t time_ns);

enum class LogForm { Multiplexed, Raw };

// Memory: at most one piece of a line per output stream (max_log_line_bytes each).
class LogDemultiplexer {
 public:
  explicit LogDemultiplexer(LogForm form) : form_(form) {}

  // False when on_line said so; then the object is done. The error is a sentence on bytes that are
  // no log stream, or the daemon's own error frame.
  std::expected<bool, std::string> feed(std::string_view bytes, const OnLogLine& on_line);
  // The stream has ended: tells the last lines that have no newline. An error when it ended in the
  // middle of a frame.
  std::expected<void, std::string> finish(const OnLogLine& on_line);

 private:
  struct Pending {  // The line that a stream has begun.
    bool open = false;
    int64_t time_ns = 0;
    std::string bytes;
  };
  enum class Step { Header, Time, Text, Repeat, ErrorFrame };

  Pending& pending() { return lines_[stream_ == OutputStream::Stdout ? 0 : 1]; }
  std::expected<void, std::string> take_header(std::string_view& bytes);
  std::expected<bool, std::string> take_time(std::string_view& bytes, const OnLogLine& on_line);
  bool take_text(std::string_view& bytes, const OnLogLine& on_line);
  bool take_repeat(std::string_view& bytes, const OnLogLine& on_line);
  bool append(std::string_view text, const OnLogLine& on_line);
  bool emit(bool complete, const OnLogLine& on_line);
  void end_payload_if_done();

  LogForm form_;
  Step step_ = Step::Header;
  OutputStream stream_ = OutputStream::Stdout;
  uint64_t left_in_frame_ = 0;
  std::string header_;     // The bytes of a frame header so far, or of the daemon's error.
  std::string time_;       // The bytes of a time so far; in Raw the last one, to know its repeat.
  size_t repeated_ = 0;    // How much of time_ has been seen again.
  size_t since_time_ = 0;  // Text bytes since the last time.
  std::array<Pending, 2> lines_;
};

}  // namespace docker
