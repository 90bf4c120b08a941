#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "json/value.h"

namespace json {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

std::string double_text(double value) {
  std::string out;
  append_double(out, value);
  return out;
}

TEST(json, strings_are_escaped_and_utf8_is_kept) {
  EXPECT_EQ(quoted("a\"b\\c/"), R"("a\"b\\c/")");
  EXPECT_EQ(quoted("\n\r\t\b\f"), R"("\n\r\t\b\f")");
  EXPECT_EQ(quoted(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(quoted("Grüße 你好 😀"), "\"Grüße 你好 😀\"");
}

TEST(json, invalid_utf8_becomes_the_replacement_character) {
  EXPECT_EQ(quoted("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(quoted("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                  // Overlong.
  EXPECT_EQ(quoted("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // Surrogate.
  EXPECT_EQ(quoted("\xE4\xBD"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                  // Cut off.
  EXPECT_EQ(utf8_sequence_length("\xF4\x8F\xBF\xBF"), 4U);
  EXPECT_EQ(utf8_sequence_length("\xF4\x90\x80\x80"), 0U);
}

TEST(json, doubles_print_shortest) {
  EXPECT_EQ(double_text(0.1), "0.1");
  EXPECT_EQ(double_text(5.0), "5");
  EXPECT_EQ(double_text(1e300), "1e+300");
  EXPECT_EQ(double_text(std::numeric_limits<double>::infinity()), "\"Infinity\"");
}

TEST(json, a_document_is_read_into_values) {
  const auto value =
      parse(R"( {"a": [1, -2.5, "x\u00e9\ud83d\ude00", true, null], "b": {"c": {}}} )");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ((*value)["a"].items().size(), 5U);
  EXPECT_EQ((*value)["a"].at(0).as_int64(), 1);
  EXPECT_EQ((*value)["a"].at(1).as_double(), -2.5);
  EXPECT_EQ((*value)["a"].at(2).text_or(""), "xé😀");
  EXPECT_EQ((*value)["a"].at(3).as_bool(), true);
  EXPECT_TRUE((*value)["a"].at(4).is_null());
  EXPECT_TRUE((*value)["a"].at(5).is_null());
  EXPECT_TRUE((*value)["b"]["c"].is_object());
  EXPECT_TRUE((*value)["b"]["nothing"]["here"].is_null());
  EXPECT_EQ(print(*value), R"({"a":[1,-2.5,"xé😀",true,null],"b":{"c":{}}})");
}

TEST(json, the_last_of_two_equal_names_counts) {
  EXPECT_EQ((*parse(R"({"a":1,"a":2})"))["a"].as_int64(), 2);
}

TEST(json, values_are_built_and_printed) {
  Value value = Value::object({{"Image", "busybox"}, {"Tty", false}});
  value.set("Cmd", Value::array({"sh", "-c", "true"})).set("Tty", true);
  value.set("HostConfig", Value::object({{"Memory", int64_t{64} << 20}}));
  EXPECT_EQ(
      print(value),
      R"({"Image":"busybox","Tty":true,"Cmd":["sh","-c","true"],"HostConfig":{"Memory":67108864}})");
  Value list;
  list.push(1).push("two").push(Value());
  EXPECT_EQ(print(list), R"([1,"two",null])");
  EXPECT_EQ(print(Value::array(std::vector<std::string>{"a", "b"})), R"(["a","b"])");
}

TEST(json, integers_keep_all_their_bits) {
  const auto value =
      parse("[9223372036854775807,-9223372036854775808,18446744073709551615,1.0,1e3]");
  EXPECT_EQ(value->at(0).as_int64(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(value->at(1).as_int64(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(value->at(2).kind(), Kind::Double);
  EXPECT_EQ(value->at(2).as_int64(), std::nullopt);
  EXPECT_EQ(value->at(3).as_int64(), 1);
  EXPECT_EQ(value->at(4).as_int64(), 1000);
}

TEST(json, doubles_are_read_to_the_last_bit) {
  for (const double exact :
       {0.1, 1.0 / 3.0, 2.2250738585072014e-308, 1.7976931348623157e308, 123456789.123456789}) {
    const auto value = parse(double_text(exact));
    ASSERT_TRUE(value);
    EXPECT_EQ(value->as_double(), exact) << double_text(exact);
  }
}

TEST(json, what_is_not_json_is_refused_with_the_place) {
  for (const char* text :
       {"",    " ",        "{",        "[1,]",    "{\"a\":}",    "{a:1}",  "[1] 2",
        "nul", "\"\x01\"", "\"\xFF\"", "'a'",     "{\"a\":1,}",  "01",     "+1",
        "1.",  ".5",       "[1 2]",    "\"\\x\"", "\"\\ud800\"", "//c\n1", "NaN"}) {
    const auto value = parse(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, "SerializationException");
  }
  EXPECT_EQ(parse("[1, x]").error().message,
            "The text is not valid JSON at byte 4 of 6: syntax error.");
}

TEST(json, depth_is_limited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse(nested(64)));
  const auto value = parse(nested(65));
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().message, testing::HasSubstr("deeper than 64 levels"));
  EXPECT_FALSE(parse(nested(1'000'000)));
  EXPECT_FALSE(parse(nested(4), {.max_depth = 3}));
}

}  // namespace
}  // namespace json
