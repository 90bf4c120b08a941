// Output as the daemon multiplexes it, for tests only.
#pragma once

#include <string>
#include <string_view>

namespace docker {

// The stream's number, three zeros and the size as a big-endian number; then the payload.
inline std::string frame(char stream, std::string_view payload) {
  std::string result(8, '\0');
  result[0] = stream;
  for (size_t i = 0; i < 4; ++i) {
    result[7 - i] = static_cast<char>((payload.size() >> (8 * i)) & 0xffU);
  }
  return result.append(payload);
}

}  // namespace docker
