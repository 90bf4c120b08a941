#include "base/printable.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Printable, text_stays_as_it_is) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("exit code 1: \"nvidia-smi\" \\ größer → 東京 🙂"),
            "exit code 1: \"nvidia-smi\" \\ größer → 東京 🙂");
}

TEST(Printable, nothing_reaches_the_terminal_that_it_would_obey) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\u001b[2Jb");
  EXPECT_EQ(printable("\x1b]52;c;ZXZpbA==\a"), "\\u001b]52;c;ZXZpbA==\\u0007");
  EXPECT_EQ(printable("one\r\ntwo\tthree"), "one\\u000d\\u000atwo\\u0009three");
  EXPECT_EQ(printable("\x7f"), "\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\u009b2J");  // CSI in one character.
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\u009b2J");  // And as a bare byte.
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202eb");  // Writes what follows backwards.
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b"),
            "a\\u2028b");
}

TEST(Printable, what_is_no_utf_8_is_spelled_byte_by_byte) {
  EXPECT_EQ(printable("\xff\xc3"), "\\u00ff\\u00c3");
  EXPECT_EQ(printable("\xc0\x9b"), "\\u00c0\\u009b");  // Longer than need be.
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\u00ed\\u00a0\\u0080");
}

TEST(Printable, more_than_the_bound_is_left_out_and_said) {
  EXPECT_EQ(printable("abcdef", 4), "abcd... (2 bytes more)");
  EXPECT_EQ(printable("abcd", 4), "abcd");
  EXPECT_EQ(printable("abcö", 4), "abcö");  // Not within a character.
  EXPECT_LT(printable(std::string(1 << 20, '\x1b'), 1'000).size(), 7'000U);
}

TEST(Printable, what_is_to_be_kept_is_kept) {
  EXPECT_EQ(printable("a\n\x1b", 10, "\n"), "a\n\\u001b");
}

}  // namespace
}  // namespace base
