// A text of somebody else's as a sentence among others.
#pragma once

#include <string>
#include <utility>

namespace base {

// With a full stop at the end, where there is none. An empty text stays empty.
inline std::string sentence(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
  if (text.empty() || text.ends_with('.') || text.ends_with('!') || text.ends_with('?')) {
    return text;
  }
  return std::move(text) + ".";
}

}  // namespace base
