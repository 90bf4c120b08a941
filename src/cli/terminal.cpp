#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/format.h"

namespace cli {
namespace {

constexpr size_t usual_width = 80;  // Of a terminal that does not tell.

}  // namespace

size_t terminal_width() {
  if (::isatty(STDOUT_FILENO) != 1) return 0;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_width;
  return size.ws_col;
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (lines.empty() || lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back(word);
    } else {
      lines.back() += ' ';
      lines.back() += word;
    }
  }
  return lines;
}

std::string span_text(base::Milliseconds span) {
  using namespace std::chrono;
  const auto age = std::max(floor<seconds>(span), seconds(0));
  if (age < minutes(2)) return base::format("{} s", age.count());
  if (age < hours(2)) return base::format("{} min", floor<minutes>(age).count());
  return age < days(2) ? base::format("{} h", floor<hours>(age).count())
                       : base::format("{} days", floor<days>(age).count());
}

}  // namespace cli
