#include "cli/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using ::testing::HasSubstr;

std::string picked(std::string_view name) {
  const std::vector<Named> things = {
      {.id = "7f3a01", .other_names = {"box", "arn:7f3a01"}},
      {.id = "7f3b02", .other_names = {"rack-1", "arn:7f3b02"}},
      {.id = "b0c001", .other_names = {"rack-1", ""}},
  };
  const auto found = pick(things, name, "container instance", "berth nodes");
  return found ? things[*found].id : found.error().code + ": " + found.error().message;
}

TEST(Pick, takes_an_id_its_beginning_and_every_other_name) {
  EXPECT_EQ(picked("7f3a01"), "7f3a01");
  EXPECT_EQ(picked("7f3a"), "7f3a01");
  EXPECT_EQ(picked("b"), "b0c001");
  EXPECT_EQ(picked("arn:7f3b02"), "7f3b02");
}

TEST(Pick, a_whole_name_goes_before_the_beginning_of_an_id) {
  EXPECT_EQ(picked("box"), "7f3a01");
  EXPECT_EQ(*pick({{.id = "abc", .other_names = {}}, {.id = "abcd", .other_names = {}}}, "abc",
                  "task", "berth tasks"),
            0U);
}

TEST(Pick, what_could_be_several_or_is_none_is_told_with_what_to_do) {
  EXPECT_EQ(picked("7f3"),
            "Ambiguous: container instance 7f3 can be each of these: 7f3a01, 7f3b02. "
            "Give more of its id");
  EXPECT_THAT(picked("rack-1"), HasSubstr("7f3b02, b0c001"));
  EXPECT_EQ(picked("x"), "NotFound: there is no container instance x; `berth nodes` lists them");
  EXPECT_THAT(picked(""), HasSubstr("NotFound"));
}

}  // namespace
}  // namespace cli
