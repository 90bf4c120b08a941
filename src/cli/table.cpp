#include "cli/table.h"

#include <algorithm>
#include <cstdio>

#include "base/format.h"
#include "cli/terminal.h"

namespace cli {

namespace {

constexpr size_t indent = 4;

}  // namespace

void print_table(const std::vector<Line>& lines, size_t width) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const Line& line : lines) {
    std::string text;
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      text += base::format("{:<{}}  ", line[i], widths[i]);
    }
    if (width <= 2 * indent || text.size() + line.back().size() <= width) {
      std::puts((text + line.back()).c_str());
      continue;
    }
    std::puts(text.substr(0, text.find_last_not_of(' ') + 1).c_str());
    for (const std::string& part : wrapped(line.back(), width - indent)) {
      std::puts((std::string(indent, ' ') + part).c_str());
    }
  }
}

}  // namespace cli
