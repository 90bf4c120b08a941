#include "json/utf8.h"

#include <algorithm>
#include <string_view>

#include "json/text.h"

namespace json {

std::string valid_utf8(std::string bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const size_t length = utf8_sequence_length(rest);
    if (length == 0) break;
    rest.remove_prefix(length);
  }
  if (rest.empty()) return bytes;
  std::string text;
  rest = bytes;
  while (!rest.empty()) {
    const size_t length = utf8_sequence_length(rest);
    text += length == 0 ? std::string_view("\xEF\xBF\xBD") : rest.substr(0, length);
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  return text;
}

}  // namespace json
