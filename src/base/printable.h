// Text of others as it may stand on a terminal or in a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace base {

// `text` with every control character spelled as JSON spells it: \u001b, and \n as \u000a, so that
// it stays on its line, moves no cursor and tells a terminal nothing. C1, DEL and the marks that
// turn the direction of writing count as such; a byte that is no UTF-8 becomes \u00xx. Of more than
// `most` bytes the rest is left out, and how much it was is said. `kept` are control characters
// that stay as they are. Cost: O(text), at most O(most).
std::string printable(std::string_view text, size_t most = std::string_view::npos,
                      std::string_view kept = {});

}  // namespace base
