#include "cli/table.h"

#include <algorithm>
#include <cstdio>

#include "base/format.h"

namespace cli {

void print_table(const std::vector<Line>& lines) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const Line& line : lines) {
    std::string text;
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      text += base::format("{:<{}}  ", line[i], widths[i]);
    }
    std::puts((text + line.back()).c_str());
  }
}

}  // namespace cli
