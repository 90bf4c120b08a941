// Base64 with padding, as blobs are on the wire. Source: RFC 4648, section 4.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace api {

void append_base64(std::string& out, std::string_view bytes);

// nullopt unless `text` is the one base64 form of some bytes.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace api
