#include "cli/output.h"

#include <cstdio>

#include "base/printable.h"

namespace cli {

void print_line(std::string_view text) {
  std::puts(base::printable(text).c_str());
}

void print_lines(std::string_view text) {
  std::fputs(base::printable(text, std::string_view::npos, "\n").c_str(), stdout);
}

}  // namespace cli
