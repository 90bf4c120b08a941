#include "cli/join.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace cli {
namespace {

std::string never_read() {
  ADD_FAILURE() << "standard input was read";
  return {};
}

TEST(ReadToken, counts_the_token_itself_first_and_the_environment_last) {
  EXPECT_EQ("told", *read_token({.text = "told", .file = {}}, "environment", never_read));
  EXPECT_EQ("environment", *read_token({}, "environment", never_read));
  EXPECT_EQ("", *read_token({}, "", never_read));
}

TEST(ReadToken, is_read_from_standard_input_and_from_a_file_without_the_end_of_its_line) {
  EXPECT_EQ("typed", *read_token({.text = "-", .file = {}}, "", [] { return "typed\n"; }));
  std::string dir = (std::filesystem::temp_directory_path() / "berth-join-XXXXXX").string();
  ASSERT_NE(nullptr, ::mkdtemp(dir.data()));
  const std::string file = dir + "/token";
  std::ofstream(file) << "kept\n";
  EXPECT_EQ("kept", *read_token({.text = {}, .file = file}, "environment", never_read));
  std::filesystem::remove_all(dir);
  EXPECT_EQ("IoError", read_token({.text = {}, .file = file}, "", never_read).error().code);
  EXPECT_EQ("InvalidParameterException",
            read_token({.text = "-", .file = {}}, "", [] { return "\n"; }).error().code);
}

}  // namespace
}  // namespace cli
