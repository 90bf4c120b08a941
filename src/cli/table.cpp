#include "cli/table.h"

#include <algorithm>
#include <cstdio>

#include "base/format.h"
#include "base/printable.h"

namespace cli {
namespace {

constexpr size_t longest_cell = 1'024;

}  // namespace

void print_table(const std::vector<Line>& lines) {
  std::fputs(table_text(lines).c_str(), stdout);
}

std::string table_text(std::vector<Line> lines) {
  std::vector<size_t> widths(lines.front().size());
  for (Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      line[i] = base::printable(line[i], longest_cell);
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const Line& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      text += base::format("{:<{}}  ", line[i], widths[i]);
    }
    text += line.back() + "\n";
  }
  return text;
}

}  // namespace cli
