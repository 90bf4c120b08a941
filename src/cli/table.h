// What commands print for people: columns under a head line.
#pragma once

#include <string>
#include <vector>

namespace cli {

using Line = std::vector<std::string>;

// The first line is the head; every line has as many cells as it.
void print_table(const std::vector<Line>& lines);

}  // namespace cli
