// What commands print for people passes here: it holds what others have said, such as why a task
// stopped, and a terminal does what it reads.
#pragma once

#include <string_view>

namespace cli {

// One line on standard output, every control character in it spelled out.
void print_line(std::string_view text);
// Lines, each ended by "\n", on standard output.
void print_lines(std::string_view text);

}  // namespace cli
