// The process's own log on standard error. For edges only: the pure zone returns what happened.
// Thread-safe. A line never carries a secret: keys, tokens and signatures are not passed in here.
// What it carries of others' words stays one line of bounded length (base/printable.h).
#pragma once

#include <string_view>

#include "base/format.h"

namespace base {

enum class LogLevel : uint8_t { Debug, Info, Warning, Error };

// Lines below `level` are dropped. The default is Info.
void set_log_level(LogLevel level);
void write_log(LogLevel level, std::string_view text);

template <class... Args>
void log_debug(fmt::format_string<Args...> text, Args&&... args) {
  write_log(LogLevel::Debug, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void log_info(fmt::format_string<Args...> text, Args&&... args) {
  write_log(LogLevel::Info, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> text, Args&&... args) {
  write_log(LogLevel::Warning, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void log_error(fmt::format_string<Args...> text, Args&&... args) {
  write_log(LogLevel::Error, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace base
