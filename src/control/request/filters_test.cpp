#include "control/request/filters.h"

#include <gtest/gtest.h>

#include <array>

namespace control {
namespace {

bool fits(const std::string& pattern, const std::string& text) {
  const std::array<ListFilter, 1> filters{{{"name", {pattern}}}};
  return passes(filters, FilterFacts{{"name", text}});
}

TEST(Filters, stars_and_question_marks_stand_for_characters) {
  for (const auto& [pattern, text] : {std::pair{"", ""},
                                      {"a", "a"},
                                      {"*", ""},
                                      {"*", "abc"},
                                      {"a*c", "abbc"},
                                      {"a*b*c", "axbxbyc"},
                                      {"?", "x"},
                                      {"g4dn.*", "g4dn.xlarge"},
                                      {"*large", "xlarge"}}) {
    EXPECT_TRUE(fits(pattern, text)) << pattern << " " << text;
  }
  for (const auto& [pattern, text] : {std::pair{"", "a"},
                                      {"a", ""},
                                      {"a", "ab"},
                                      {"?", ""},
                                      {"a*c", "abcd"},
                                      {"*x", "abc"},
                                      {"a?c", "ac"}}) {
    EXPECT_FALSE(fits(pattern, text)) << pattern << " " << text;
  }
}

TEST(Filters, one_value_of_every_filter_has_to_fit) {
  FilterFacts facts{{"state", "available"}};
  add_tag_facts(facts, "team", "red");
  add_tag_facts(facts, "tier", "gold");
  const auto pass = [&](std::vector<ListFilter> filters) { return passes(filters, facts); };
  EXPECT_TRUE(pass({}));
  EXPECT_TRUE(pass({{"state", {"impaired", "available"}}, {"tag:team", {"red"}}}));
  EXPECT_TRUE(pass({{"tag-key", {"tier"}}, {"tag-value", {"red"}}}));
  EXPECT_FALSE(pass({{"state", {"available"}}, {"tag:team", {"blue"}}}));
  EXPECT_FALSE(pass({{"state", {}}}));
}

TEST(Filters, an_unknown_name_is_found) {
  constexpr std::array<std::string_view, 2> known{"state", "tag:"};
  std::vector<ListFilter> filters{{"state", {}}, {"tag:x", {}}, {"colour", {}}};
  ASSERT_NE(unknown_filter(filters, known), nullptr);
  EXPECT_EQ(unknown_filter(filters, known)->name, "colour");
  filters.pop_back();
  EXPECT_EQ(unknown_filter(filters, known), nullptr);
}

}  // namespace
}  // namespace control
