// Text of bytes that may be none.
#pragma once

#include <string>

namespace json {

// As it will be once it has been JSON: each byte that is not part of valid UTF-8 becomes U+FFFD,
// three bytes.
std::string valid_utf8(std::string bytes);

}  // namespace json
