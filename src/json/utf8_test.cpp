#include "json/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "json/value.h"

namespace json {
namespace {

TEST(utf8, what_is_text_stays_and_what_is_none_is_replaced_byte_by_byte) {
  EXPECT_EQ(valid_utf8(""), "");
  EXPECT_EQ(valid_utf8("gr\xC3\xBC\xC3\x9F dich"), "gr\xC3\xBC\xC3\x9F dich");
  EXPECT_EQ(valid_utf8("a\xFF\xC3"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

RC_GTEST_PROP(utf8, is_what_comes_back_from_json, (std::string bytes)) {
  const auto back = parse(print(Value(bytes)));
  RC_ASSERT(back.has_value());
  RC_ASSERT(valid_utf8(bytes) == back->text_or("none"));
}

}  // namespace
}  // namespace json
