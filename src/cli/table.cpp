#include "cli/table.h"

#include <algorithm>
#include <cstdio>

#include "base/format.h"
#include "base/printable.h"
#include "cli/terminal.h"

namespace cli {
namespace {

constexpr size_t longest_cell = 1'024;
constexpr size_t indent = 4;

// `start` are the cells before the last one.
std::string line_text(const std::string& start, const std::string& last, size_t width) {
  if (width <= 2 * indent || start.size() + last.size() <= width) return start + last + "\n";
  std::string text = start.substr(0, start.find_last_not_of(' ') + 1) + "\n";
  for (const std::string& part : wrapped(last, width - indent)) {
    text += std::string(indent, ' ') + part + "\n";
  }
  return text;
}

}  // namespace

void print_table(const std::vector<Line>& lines, size_t width) {
  std::fputs(table_text(lines, width).c_str(), stdout);
}

std::string table_text(std::vector<Line> lines, size_t width) {
  std::vector<size_t> widths(lines.front().size());
  for (Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      line[i] = base::printable(line[i], longest_cell);
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const Line& line : lines) {
    std::string start;
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      start += base::format("{:<{}}  ", line[i], widths[i]);
    }
    text += line_text(start, line.back(), width);
  }
  return text;
}

}  // namespace cli
