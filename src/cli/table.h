// What commands print for people: columns under a head line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

using Line = std::vector<std::string>;

// The first line is the head; every line has as many cells as it. A cell is cut where it is very
// long, and control characters in it are spelled out: it may hold what somebody else has said. With
// a `width` other than 0 a line's last cell that would go beyond it stands beneath the line,
// wrapped.
void print_table(const std::vector<Line>& lines, size_t width = 0);
// What print_table() prints.
std::string table_text(std::vector<Line> lines, size_t width = 0);

}  // namespace cli
