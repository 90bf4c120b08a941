#include "cli/table.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(Table, what_a_task_says_of_itself_cannot_draw_on_the_terminal) {
  EXPECT_EQ(table_text({{"TASK", "WHY"}, {"a", "\x1b[2J\nroot: all is well\x1b]52;c;eA==\a"}}),
            "TASK  WHY\n"
            "a     \\u001b[2J\\u000aroot: all is well\\u001b]52;c;eA==\\u0007\n");
}

TEST(Table, a_very_long_cell_is_cut) {
  EXPECT_LT(table_text({{"A", "B"}, {std::string(100'000, 'x'), "y"}}).size(), 4'000U);
}

}  // namespace
}  // namespace cli
