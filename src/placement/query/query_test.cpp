#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/query/evaluate.h"
#include "placement/query/parser.h"

namespace placement::query {
namespace {

using ::testing::HasSubstr;

struct Instance {
  std::map<std::string, std::string> attributes = {{"ecs.instance-type", "g2.2xlarge"},
                                                   {"ecs.availability-zone", "us-east-1a"},
                                                   {"rack", "9"},
                                                   {"flag", ""}};
  std::vector<std::string> groups = {"service:production", "family:train"};
  bool agent_connected = true;
  std::string agent_version = "1.14.5";
  std::string ec2_instance_id = "i-abcd1234";
  base::Time registered_at = *base::parse_rfc3339("2018-06-18T22:28:28.250Z");
  int64_t running_tasks = 1;
};

bool matches(std::string_view text, const Instance& instance = {}) {
  const base::Result<Expression> expression = parse(text);
  EXPECT_TRUE(expression.has_value()) << text << ": " << expression.error().message;
  if (!expression) return false;
  return holds(*expression, {.attributes = instance.attributes,
                             .task_groups = instance.groups,
                             .agent_connected = instance.agent_connected,
                             .agent_version = instance.agent_version,
                             .ec2_instance_id = instance.ec2_instance_id,
                             .registered_at = instance.registered_at,
                             .running_tasks = instance.running_tasks});
}

std::string error_of(std::string_view text) {
  const base::Result<Expression> expression = parse(text);
  EXPECT_FALSE(expression.has_value()) << text;
  if (expression) return "";
  EXPECT_EQ(expression.error().code, "InvalidParameterException");
  return expression.error().message;
}

TEST(Query, examples_of_the_guide_hold_or_do_not) {
  const std::pair<std::string_view, bool> cases[] = {
      {"attribute:ecs.instance-type == t2.small", false},
      {"attribute:ecs.instance-type == g2.2xlarge", true},
      {"attribute:ecs.availability-zone in [us-east-1a, us-east-1b]", true},
      {"attribute:ecs.instance-type =~ g2.* and attribute:ecs.availability-zone != us-east-1d",
       true},
      {"task:group == service:production", true},
      {"not(task:group == database)", true},
      {"not(task:group == service:production)", false},
      {"runningTasksCount == 1", true},
      {"agentVersion < 1.14.5", false},
      {"registeredAt < 2018-02-13", false},
      {"ec2InstanceId in ['i-abcd1234', 'i-wxyx7890']", true},
      {"(runningTasksCount == 0 or agentConnected == true) and attribute:rack == 9", true},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(matches(text), expected) << text;
}

TEST(Query, every_operator_has_its_symbol_and_its_word) {
  const std::pair<std::string_view, bool> cases[] = {
      {"runningTasksCount equals 1", true},    {"runningTasksCount not_equals 1", false},
      {"runningTasksCount != 1", false},       {"runningTasksCount greater_than 0", true},
      {"runningTasksCount > 1", false},        {"runningTasksCount greater_than_equal 1", true},
      {"runningTasksCount >= 2", false},       {"runningTasksCount less_than 2", true},
      {"runningTasksCount < 1", false},        {"runningTasksCount less_than_equal 1", true},
      {"runningTasksCount<=0", false},         {"attribute:rack in [8,9]", true},
      {"attribute:rack in[8]", false},         {"attribute:rack !in [8,9]", false},
      {"attribute:rack not_in [8]", true},     {"attribute:rack =~ [0-9]", true},
      {"attribute:rack matches 1.*", false},   {"attribute:rack !~ 1.*", true},
      {"attribute:rack not_matches 9", false}, {"attribute:rack exists", true},
      {"attribute:rack !exists", false},       {"attribute:rack not_exists", false},
      {"attribute:flag exists", true},         {"attribute:gone exists", false},
      {"attribute:gone !exists", true},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(matches(text), expected) << text;
}

TEST(Query, an_absent_attribute_answers_no_to_positive_and_yes_to_negative_questions) {
  for (const std::string_view text :
       {"attribute:gone == x", "attribute:gone in [x]", "attribute:gone =~ .*",
        "attribute:gone < 1", "attribute:gone >= 0", "attribute:gone exists"}) {
    EXPECT_FALSE(matches(text)) << text;
  }
  for (const std::string_view text : {"attribute:gone != x", "attribute:gone !in [x]",
                                      "attribute:gone !~ .*", "attribute:gone !exists"}) {
    EXPECT_TRUE(matches(text)) << text;
  }
}

TEST(Query, not_binds_tighter_than_and_which_binds_tighter_than_or) {
  EXPECT_TRUE(
      matches("runningTasksCount == 1 or runningTasksCount == 1 and runningTasksCount == 0"));
  EXPECT_FALSE(
      matches("(runningTasksCount == 1 or runningTasksCount == 1) and runningTasksCount == 0"));
  EXPECT_FALSE(matches("not runningTasksCount == 1 and runningTasksCount == 1"));
  EXPECT_TRUE(matches("!runningTasksCount == 0&&runningTasksCount == 1||runningTasksCount == 9"));
  EXPECT_TRUE(matches("!!agentConnected == true"));
}

TEST(Query, mixing_and_and_or_without_parentheses_warns) {
  EXPECT_EQ(parse("agentConnected == true and agentConnected == true")->warning, "");
  EXPECT_EQ(parse("(agentConnected == true and agentConnected == true) or agentConnected == true")
                ->warning,
            "");
  EXPECT_THAT(
      parse("agentConnected == true and agentConnected == true or agentConnected == true")->warning,
      HasSubstr("parentheses"));
  EXPECT_THAT(
      parse("agentConnected == true or agentConnected == true and agentConnected == true")->warning,
      HasSubstr("parentheses"));
}

TEST(Query, versions_compare_per_component_as_numbers) {
  Instance instance;
  instance.agent_version = "1.14.5";
  EXPECT_FALSE(matches("agentVersion < 1.9.0", instance));
  EXPECT_TRUE(matches("agentVersion > 1.9", instance));
  instance.agent_version = "v1.14.0";
  EXPECT_TRUE(matches("agentVersion == 1.14", instance));
  instance.agent_version = "";
  EXPECT_FALSE(matches("agentVersion >= 0", instance));
  EXPECT_TRUE(matches("agentVersion != 1.0", instance));
}

TEST(Query, times_are_read_with_and_without_zone_and_as_dates) {
  EXPECT_TRUE(matches("registeredAt == 2018-06-18T22:28:28+00:00"));
  EXPECT_TRUE(matches("registeredAt == 2018-06-18T22:28:28Z"));
  EXPECT_TRUE(matches("registeredAt == 2018-06-18T22:28:28"));
  EXPECT_TRUE(matches("registeredAt == 2018-06-19T00:28:28+02:00"));
  EXPECT_TRUE(matches("registeredAt > 2018-06-18"));
  EXPECT_TRUE(matches("registeredAt <= \"2018-06-18T22:28:28.250Z\""));
}

TEST(Query, attributes_are_ordered_as_numbers_when_both_sides_are_numbers) {
  EXPECT_TRUE(matches("attribute:rack < 10"));
  EXPECT_FALSE(matches("attribute:rack < 10a"));
  EXPECT_TRUE(matches("attribute:ecs.instance-type > g1"));
}

TEST(Query, values_may_be_quoted_and_bare_words_may_hold_punctuation) {
  EXPECT_TRUE(matches("attribute:flag == ''"));
  EXPECT_TRUE(matches("attribute:flag == \"\""));
  EXPECT_TRUE(matches("task:group in [a, service:production]"));
  EXPECT_TRUE(matches("task:group =~ 'service:(production|test)'"));
  EXPECT_TRUE(matches("(task:group =~ service:(production|test))"));
  EXPECT_FALSE(matches("attribute:rack == 'and'"));
  EXPECT_FALSE(matches("task:group != service:production"));
  EXPECT_TRUE(matches("task:group != service:other"));
}

TEST(Query, a_pattern_matches_the_whole_value) {
  EXPECT_FALSE(matches("attribute:ecs.instance-type =~ g2"));
  EXPECT_TRUE(matches("attribute:ecs.instance-type =~ g2.*"));
  EXPECT_TRUE(matches("agentConnected =~ t.*"));
}

TEST(Query, errors_point_at_the_character_and_say_what_was_expected) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "character 1: expected an expression, found the end"},
      {"   ", "expected an expression, found the end"},
      {"foo == 1", "character 1: expected a subject"},
      {"attribute: == 1", "character 12: expected the attribute's name, found '=='"},
      {"attribute:x = 1", "character 13: expected an operator of attribute:x"},
      {"attribute:x ==", "character 15: expected a value, found the end"},
      {"attribute:x == a b", "character 18: expected 'and', 'or' or the end"},
      {"attribute:berth.gpu-model == Tesla T4",
       "the end of the expression (a value with blanks stands in quotes), found 'T4'"},
      {"(attribute:x == a b)", "'or' (a value with blanks stands in quotes), found 'b'"},
      {"attribute:x == a AND attribute:x == b", "keywords are lower-case"},
      {"attribute:x == a)", "no '(' is open"},
      {"(attribute:x == a", "character 18: expected ')', 'and' or 'or', found the end"},
      {"attribute:x in a", "character 16: expected '[' and a list of values, found 'a'"},
      {"attribute:x in [a b]",
       "character 19: expected ',' or ']' (a value with blanks stands in quotes), found 'b'"},
      {"attribute:x in [a,]", "character 19: expected a value, found ']'"},
      {"attribute:x == and", "character 16: 'and' is a keyword"},
      {"attribute:x == 'a", "character 16: the quote (') is never closed"},
      {"runningTasksCount == many", "character 22: expected a whole number, found 'many'"},
      {"runningTasksCount =~ 1", "character 19: expected an operator of runningTasksCount"},
      {"agentVersion == new", "character 17: expected a version such as 1.14.5"},
      {"registeredAt > yesterday", "character 16: expected a time"},
      {"agentConnected == yes", "character 19: expected true or false, found 'yes'"},
      {"attribute:x =~ (?=a)b", "look-around, back-references"},
      {"attribute:x =~ '(a)\\1'", "look-around, back-references"},
      {"attribute:x =~ '('", "not a regular expression"},
      {"attribute:x == a and", "expected a subject"},
      {"not", "expected a subject"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(error_of(text), HasSubstr(expected)) << text;
  }
}

TEST(Query, an_expression_has_at_most_2000_characters_and_200_levels) {
  const std::string simple = "agentConnected == true";
  EXPECT_THAT(error_of(simple + std::string(2000, ' ')), HasSubstr("at most 2000 characters"));
  EXPECT_TRUE(matches(simple + std::string(2000 - simple.size(), ' ')));
  EXPECT_THAT(error_of(std::string(300, '(')), HasSubstr("more than 200 levels"));
  EXPECT_THAT(error_of(std::string(300, '!')), HasSubstr("more than 200 levels"));
  EXPECT_TRUE(matches(std::string(90, '(') + simple + std::string(90, ')')));
}

}  // namespace
}  // namespace placement::query
