#include "logs/filter_pattern.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "logs/json_fields.h"

namespace logs {
namespace {

class filter_pattern : public testing::Test {
 protected:
  base::Result<bool> matches(std::string_view pattern, std::string_view message) {
    const FilterPattern parsed = TRY(FilterPattern::parse(pattern));
    return parsed.matches(message, [this](std::string_view text, const std::string& path) {
      return fields_.read(text, path);
    });
  }

  void expect(std::string_view pattern, std::string_view message, bool expected) {
    const auto result = matches(pattern, message);
    ASSERT_TRUE(result) << pattern << ": " << result.error().message;
    EXPECT_EQ(*result, expected) << pattern << " on " << message;
  }

  std::unique_ptr<sqlite::Database> database_ = *sqlite::Database::open(":memory:", {});
  JsonFields fields_ = *JsonFields::prepare(*database_);
};

struct Case {
  std::string_view pattern;
  std::string_view message;
  bool matches;
};

// Where the user guide has an example, it stands here.
TEST_F(filter_pattern, terms_match_as_the_user_guide_says) {
  for (const Case& each : std::initializer_list<Case>{
           {"", "anything", true},
           {"  ", "anything", true},
           {"ERROR", "[ERROR] A fatal exception has occurred", true},
           {"ERROR", "Exiting with ERRORCODE: -1", true},
           {"ERROR", "error", false},
           {"ERROR -Exiting", "Exiting with ERRORCODE: -1", false},
           {"ERROR -Exiting", "ERROR", true},
           {"ERROR Exception", "[ERROR] Caught IllegalArgumentException", true},
           {"ERROR Exception", "[ERROR] Unhandled", false},
           {"\"Failed to process the request\"", "[WARN] Failed to process the request", true},
           {"\"Failed to process the request\"", "Failed to process a request", false},
           {"?ERROR ?WARN", "WARN message", true},
           {"?ERROR ?WARN", "ERROR message", true},
           {"?ERROR ?WARN", "INFO message", false},
           {"ERROR WARN", "ERROR message", false},
           {"ERROR -WARN", "ERROR WARN message", false},
           {"ERROR ?WARN", "ERROR alone", true},
           {"-DEBUG", "INFO", true},
           {"-DEBUG", "DEBUG", false},
           {"-\"not this\" that", "that but not this", false},
           {"?\"a b\" ?\"c d\"", "c d", true},
           {R"("say \"hi\"")", R"(they say "hi" twice)", true},
           {R"("C:\\dir")", R"(in C:\dir)", true},
           {"\"\"", "anything", true},
       }) {
    expect(each.pattern, each.message, each.matches);
  }
  expect("\"\xC3\xA4\"", "M\xC3\xA4rz", true);
}

constexpr std::string_view trail_event = R"({
  "eventType": "UpdateTrail", "sourceIPAddress": "111.111.111.111",
  "arrayKey": ["value", "another value"],
  "objectList": [{"name": "a", "id": 1}, {"name": "b", "id": 2}],
  "SomeObject": null, "ThisFlag": true, "off": false,
  "user": {"id": 1, "email": "John.Stiles@example.com"},
  "latency": 55.5, "errorCode": 404, "text-404": "404", "a b": "x", "deep": {"er": {"est": "yes"}}
})";

TEST_F(filter_pattern, json_conditions_match_as_the_user_guide_says) {
  for (const Case& each : std::initializer_list<Case>{
           {R"({ $.eventType = "UpdateTrail" })", trail_event, true},
           {"{$.eventType=UpdateTrail}", trail_event, true},
           {"{ $.eventType != UpdateTrail }", trail_event, false},
           {"{ $.eventType = *Trail }", trail_event, true},
           {"{ $.eventType = Update* }", trail_event, true},
           {"{ $.eventType = *eTr* }", trail_event, true},
           {"{ $.eventType = Up*ail }", trail_event, false},
           {"{ $.eventType = * }", trail_event, true},
           {"{ $.sourceIPAddress != 123.123.* }", trail_event, true},
           {"{ $.sourceIPAddress = 111.111.* }", trail_event, true},
           {R"({ $.arrayKey[0] = "value" })", trail_event, true},
           {R"({ $.arrayKey[1] = "value" })", trail_event, false},
           {"{ $.objectList[1].id = 2 }", trail_event, true},
           {"{ $.objectList[9].id = 2 }", trail_event, false},
           {"{ $.SomeObject IS NULL }", trail_event, true},
           {"{ $.eventType IS NULL }", trail_event, false},
           {"{ $.SomeOtherObject NOT EXISTS }", trail_event, true},
           {"{ $.SomeObject EXISTS }", trail_event, true},
           {"{ $.ThisFlag IS TRUE }", trail_event, true},
           {"{ $.ThisFlag IS FALSE }", trail_event, false},
           {"{ $.off IS FALSE }", trail_event, true},
           {"{ $.off = false }", trail_event, true},
           {"{ $.arrayKey = 1 }", trail_event, false},
           {"{ $.arrayKey != 1 }", trail_event, false},
           {"{ $.missing = 1 }", trail_event, false},
           {"{ $.missing != 1 }", trail_event, false},
           {"{ $.SomeObject != 1 }", trail_event, false},
           {"{ $.latency > 55 }", trail_event, true},
           {"{ $.latency >= 55.5 }", trail_event, true},
           {"{ $.latency < 55.5 }", trail_event, false},
           {"{ $.latency <= +5.55e1 }", trail_event, true},
           {"{ $.latency > 10e-3 }", trail_event, true},
           {"{ $.latency < -1 }", trail_event, false},
           {"{ $.errorCode = 404 }", trail_event, true},
           {"{ $.errorCode = 404.0 }", trail_event, true},
           {"{ $.errorCode = 4* }", trail_event, true},
           {"{ $.errorCode != 500 }", trail_event, true},
           {"{ $.text-404 = 404 }", trail_event, true},
           {"{ $.text-404 > 400 }", trail_event, false},
           {R"({ $["a b"] = x })", trail_event, true},
           {"{ $.deep.er.est = yes }", trail_event, true},
           {R"({ ($.user.id = 1) && ($.user.email = "John.*") })", trail_event, true},
           {"{ $.user.id = 2 && $.eventType = nonmatch || $.errorCode = 404 }", trail_event, true},
           {"{ $.errorCode = 404 || $.user.id = 2 && $.eventType = nonmatch }", trail_event, true},
           {"{ ($.errorCode = 404 || $.user.id = 1) && $.eventType = nomatch }", trail_event,
            false},
           {"{ $.a = 1 }", "not json", false},
           {"{ $.a != 1 }", "not json", false},
           {"{ $.a NOT EXISTS }", "not json", false},
           {"{ $.a NOT EXISTS }", "{\"a\":1", false},
           {"{ $.a = 1 }", "  {\"a\": 1} ", true},
           {"{ $.a[0] = 1 }", "[1]", false},
           {"{ $[0] = 1 }", "[1]", true},
       }) {
    expect(each.pattern, each.message, each.matches);
  }
}

TEST_F(filter_pattern, what_is_not_understood_is_refused_with_the_reason) {
  struct Refused {
    std::string_view pattern;
    std::string_view reason;
  };
  for (const Refused& each : std::initializer_list<Refused>{
           {"foo-bar", "Invalid character(s) in term 'foo-bar'"},
           {"\xC3\xA4", "double quotation marks"},
           {"-", "Invalid character(s) in term ''"},
           {"\"open", "not closed"},
           {"[ip, user, ...]", "space-delimited"},
           {"%ERR.*%", "regular expressions"},
           {"-%ERR%", "regular expressions"},
           {"{ $.a = %x% }", "regular expressions"},
           {"{ $.a = 1", "must end with }"},
           {"{ $.a = 1 } x", "nothing may follow"},
           {"{ a = 1 }", "selector"},
           {"{ $ = 1 }", "must name a field"},
           {"{ $. = 1 }", "behind each dot"},
           {"{ $.a[x] = 1 }", "a number between [ and ]"},
           {"{ $.a[1 = 1 }", "not closed"},
           {"{ $.a }", "one of ="},
           {"{ $.a ~ 1 }", "one of ="},
           {"{ $.a = }", "followed by a value"},
           {"{ $.a > x }", "a number"},
           {"{ $.a IS BLUE }", "NULL, TRUE or FALSE"},
           {"{ $.a NOT THERE }", "EXISTS"},
           {"{ ($.a = 1 }", "not closed"},
           {"{}", "selector"},
           {R"({ $["a\"b"] = 1 })", "cannot be selected"},
       }) {
    const auto parsed = FilterPattern::parse(each.pattern);
    ASSERT_FALSE(parsed) << each.pattern;
    EXPECT_EQ(parsed.error().code, "InvalidParameterException");
    EXPECT_NE(parsed.error().message.find(each.reason), std::string::npos)
        << each.pattern << ": " << parsed.error().message;
  }
  const std::string deep =
      "{ " + std::string(1000, '(') + "$.a = 1" + std::string(1000, ')') + " }";
  EXPECT_FALSE(FilterPattern::parse(deep));
}

RC_GTEST_FIXTURE_PROP(filter_pattern, any_text_is_parsed_or_refused_and_matching_never_fails, ()) {
  const auto letter = rc::gen::element('{', '}', '$', '.', '[', ']', '"', '\\', '=', '!', '<', '*',
                                       '&', '|', '(', ')', '-', '?', ' ', 'a', '1', '%');
  const std::string pattern = *rc::gen::container<std::string>(letter);
  const std::string message = *rc::gen::container<std::string>(letter);
  const auto parsed = FilterPattern::parse(pattern);
  if (!parsed) {
    RC_ASSERT(parsed.error().code == "InvalidParameterException");
    return;
  }
  for (const std::string& text : {message, std::string(R"({"a":{"a":[1,"1"]}})")}) {
    const auto result =
        parsed->matches(text, [this](std::string_view each, const std::string& path) {
          return fields_.read(each, path);
        });
    RC_ASSERT(result.has_value());
  }
}

// A selector that was parsed makes a path that SQLite takes.
RC_GTEST_FIXTURE_PROP(filter_pattern, every_selector_is_one_that_can_be_read, ()) {
  std::string pattern = "{ $";
  for (const int step :
       *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)))) {
    switch (step) {
      case 0:
        pattern += ".a_-1";
        break;
      case 1:
        pattern += "[7]";
        break;
      case 2:
        pattern += "[\"x y.[$'\xC3\xA4\"]";
        break;
      default:
        pattern += ".9";
    }
  }
  pattern += " = 1 }";
  const auto result = matches(pattern, R"({"a_-1":[0]})");
  RC_ASSERT(result.has_value());
}

TEST(filter_pattern_text, is_no_longer_than_cloudwatch_logs_takes) {
  EXPECT_TRUE(FilterPattern::parse(std::string(1'024, 'a')));
  const auto refused = FilterPattern::parse(std::string(1'025, 'a'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "InvalidParameterException");
}

}  // namespace
}  // namespace logs
