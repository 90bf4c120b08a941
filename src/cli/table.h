// What commands print for people: columns under a head line.
#pragma once

#include <string>
#include <vector>

namespace cli {

using Line = std::vector<std::string>;

// The first line is the head; every line has as many cells as it. A cell is cut where it is very
// long, and control characters in it are spelled out: it may hold what somebody else has said.
void print_table(const std::vector<Line>& lines);
// What print_table() prints.
std::string table_text(std::vector<Line> lines);

}  // namespace cli
