// Time as values. The pure zone gets `now` as an argument; edges read it from a Clock.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace base {

using Milliseconds = std::chrono::milliseconds;
// UTC wall-clock time, milliseconds since 1970-01-01.
using Time = std::chrono::sys_time<Milliseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() = 0;
  // Never goes back; only differences mean anything.
  virtual Milliseconds monotonic() = 0;
};

// The machine's own clocks. Thread-safe.
class SystemClock final : public Clock {
 public:
  Time now() override;
  Milliseconds monotonic() override;
};

// "2026-01-31T12:00:00Z" or with a fraction and a zone offset, or a date alone (00:00 UTC).
// nullopt for anything else. Source: RFC 3339.
std::optional<Time> parse_rfc3339(std::string_view text);
// "2026-01-31T12:00:00.250Z".
std::string format_rfc3339(Time time);
// "20260131T120000Z", as SigV4 wants it.
std::string format_basic(Time time);
// The inverse of format_basic; nullopt for anything else.
std::optional<Time> parse_basic(std::string_view text);

}  // namespace base
