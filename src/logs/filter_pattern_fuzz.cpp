// Any pattern on any message, with a zero byte between them: no crash, and a pattern that is
// written otherwise but means the same gives the same answer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "logs/filter_pattern.h"
#include "logs/json_fields.h"

namespace {

logs::JsonFields& json_fields() {
  static const auto database = *sqlite::Database::open(":memory:", {});
  static logs::JsonFields fields = *logs::JsonFields::prepare(*database);
  return fields;
}

// nullopt: it is no pattern.
std::optional<bool> matches(const std::string& text, std::string_view message) {
  const auto pattern = logs::FilterPattern::parse(text);
  if (!pattern) {
    CHECK(pattern.error().code == "InvalidParameterException");
    CHECK(!pattern.error().message.empty());
    return std::nullopt;
  }
  CHECK(pattern->terms() <= text.size());
  const auto answer =
      pattern->matches(message, [](std::string_view looked_at, const std::string& path) {
        return json_fields().read(looked_at, path);
      });
  CHECK(answer.has_value());
  return *answer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t middle = std::min(input.find('\0'), input.size());
  const std::string pattern(input.substr(0, middle));
  const std::string_view message = input.substr(std::min(middle + 1, input.size()));
  const auto plain = matches(pattern, message);
  CHECK(matches(pattern, message) == plain);
  if (!plain) return 0;
  // Where a variant is too long or too deep it is refused, and says nothing.
  const auto agrees = [&](const std::string& variant) {
    const auto answer = matches(variant, message);
    CHECK(!answer || *answer == *plain);
  };
  agrees(" " + pattern + "\t");
  const size_t open = pattern.find_first_not_of(" \t\r\n");
  if (open == std::string::npos || pattern[open] != '{') return 0;
  const std::string inner = pattern.substr(open + 1, pattern.rfind('}') - open - 1);
  agrees("{(" + inner + ")}");
  agrees("{(" + inner + ")&&(" + inner + ")}");
  agrees("{(" + inner + ")||(" + inner + ")}");
  return 0;
}
