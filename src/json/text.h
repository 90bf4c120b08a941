// JSON's own spelling of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace json {

// Appends `text` as a JSON string with its quotes: '"', '\' and control characters are escaped,
// other UTF-8 is kept as it is, and every byte that is not part of valid UTF-8 becomes U+FFFD, so
// that the result is always valid JSON.
void append_string(std::string& out, std::string_view text);

void append_integer(std::string& out, int64_t value);
void append_integer(std::string& out, uint64_t value);

// The shortest text that reads back as the same number. JSON has no infinity and no NaN: those
// become the strings "Infinity", "-Infinity" and "NaN", as AWS protocols write them.
void append_double(std::string& out, double value);

// The length in bytes of the UTF-8 sequence at the start of `text`, 0 if it is not valid UTF-8.
// text is not empty. Source: RFC 3629, section 4.
size_t utf8_sequence_length(std::string_view text);

}  // namespace json
