#include "acs/exec.h"

#include <gtest/gtest.h>

namespace acs {
namespace {

TEST(ExecMessage, a_message_is_its_kind_and_any_bytes) {
  const std::string bytes("\0\xff\r\n", 4);
  const std::string message = encode_exec(ExecKind::Error, bytes);
  EXPECT_EQ(message, "e" + bytes);
  const auto read = decode_exec(message);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->kind, ExecKind::Error);
  EXPECT_EQ(read->bytes, bytes);
  EXPECT_EQ(decode_exec("q")->kind, ExecKind::EndOfInput);
  EXPECT_FALSE(decode_exec(""));
  EXPECT_FALSE(decode_exec("?x"));
  EXPECT_FALSE(decode_exec(std::string_view("\0", 1)));
}

TEST(ExecMessage, what_is_told_in_bytes_reads_back_and_nonsense_does_not) {
  EXPECT_EQ(read_exec_start(decode_exec(encode_exec(ExecStart{false}))->bytes), ExecStart{false});
  EXPECT_EQ(read_terminal_size(decode_exec(encode_exec(TerminalSize{91, 33}))->bytes),
            (TerminalSize{91, 33}));
  EXPECT_EQ(read_exec_consumed(decode_exec(encode_exec_consumed(4'096))->bytes), 4'096U);
  for (const std::string_view text : {"", "{}", "[]", "{", R"({"terminal":1})"}) {
    EXPECT_FALSE(read_exec_start(text)) << text;
  }
  for (const std::string_view text : {"", "{}", R"({"cols":0,"rows":1})", R"({"cols":1})",
                                      R"({"cols":1,"rows":10001})", R"({"cols":-1,"rows":1})"}) {
    EXPECT_FALSE(read_terminal_size(text)) << text;
  }
  for (const std::string_view text :
       {"", "0", "-1", "1x", " 1", "1048577", "99999999999999999999"}) {
    EXPECT_FALSE(read_exec_consumed(text)) << text;
  }
}

}  // namespace
}  // namespace acs
