// How texts are laid out for people: what fits on a line of their terminal, times in words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace cli {

// Columns of the terminal on standard output; 0: it is none.
size_t terminal_width();

// The text in lines of at most `width` bytes, cut at blanks; a longer word has a line of its own.
// `width` is above 0.
std::vector<std::string> wrapped(std::string_view text, size_t width);

// "12 s", "3 min", "5 h", "2 days"; what is negative counts as 0.
std::string span_text(base::Milliseconds span);

}  // namespace cli
