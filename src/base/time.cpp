#include "base/time.h"

#include "base/format.h"

namespace base {
namespace {

// Reads exactly `digits` decimal digits at the front of `text` and drops them.
std::optional<int> take_number(std::string_view& text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take_char(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text, bool dashes) {
  const auto year = take_number(text, 4);
  if (!year || (dashes && !take_char(text, '-'))) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || (dashes && !take_char(text, '-'))) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date};
}

std::optional<Milliseconds> take_time_of_day(std::string_view& text, bool colons) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || (colons && !take_char(text, ':'))) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || (colons && !take_char(text, ':'))) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return std::nullopt;
  Milliseconds result =
      std::chrono::hours{*hour} + std::chrono::minutes{*minute} + std::chrono::seconds{*second};
  if (take_char(text, '.')) {
    int scale = 100;
    size_t digits = 0;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; ++digits) {
      result += Milliseconds{scale * (text.front() - '0')};
      scale /= 10;
      text.remove_prefix(1);
    }
    if (digits == 0) return std::nullopt;
  }
  return result;
}

// "Z", nothing, or "+hh:mm" / "-hh:mm": what to subtract to get UTC.
std::optional<Milliseconds> take_zone(std::string_view& text) {
  if (text.empty()) return Milliseconds{0};
  if (take_char(text, 'Z') || take_char(text, 'z')) return Milliseconds{0};
  const bool negative = text.front() == '-';
  if (!take_char(text, '+') && !take_char(text, '-')) return std::nullopt;
  const auto hours = take_number(text, 2);
  take_char(text, ':');
  const auto minutes = take_number(text, 2);
  if (!hours || !minutes) return std::nullopt;
  const Milliseconds offset = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
  return negative ? -offset : offset;
}

}  // namespace

Time SystemClock::now() {
  return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
}

Milliseconds SystemClock::monotonic() {
  return std::chrono::duration_cast<Milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

std::optional<Time> parse_rfc3339(std::string_view text) {
  const auto date = take_date(text, true);
  if (!date) return std::nullopt;
  if (text.empty()) return Time{*date};
  if (!take_char(text, 'T') && !take_char(text, ' ') && !take_char(text, 't')) return std::nullopt;
  const auto time_of_day = take_time_of_day(text, true);
  if (!time_of_day) return std::nullopt;
  const auto zone = take_zone(text);
  if (!zone || !text.empty()) return std::nullopt;
  return Time{*date} + *time_of_day - *zone;
}

std::string format_rfc3339(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                clock.subseconds().count());
}

std::string format_basic(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::optional<Time> parse_basic(std::string_view text) {
  const auto date = take_date(text, false);
  if (!date || !take_char(text, 'T')) return std::nullopt;
  const auto time_of_day = take_time_of_day(text, false);
  if (!time_of_day || text != "Z") return std::nullopt;
  return Time{*date} + *time_of_day;
}

}  // namespace base
