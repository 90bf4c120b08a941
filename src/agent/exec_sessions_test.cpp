#include "agent/exec_sessions.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

using Words = std::vector<std::string>;

TEST(SplitCommand, words_are_parted_by_blanks_and_kept_together_by_quotes) {
  EXPECT_EQ(split_command("ls -la /tmp"), (Words{"ls", "-la", "/tmp"}));
  EXPECT_EQ(split_command("  sh -c 'echo \"a b\" $X'"), (Words{"sh", "-c", "echo \"a b\" $X"}));
  EXPECT_EQ(split_command(R"(a\ b "c \" d" '')"), (Words{"a b", "c \" d", ""}));
  EXPECT_EQ(split_command("''x''"), (Words{"x"}));
  EXPECT_EQ(split_command(" \n\t"), Words{});
}

TEST(ExecSessions, only_an_order_is_taken_from_the_control_stream) {
  net::Loop loop(1);
  ExecSessions sessions(loop, {}, "unix:///nowhere/docker.sock");
  EXPECT_FALSE(sessions.take(R"({"type":"HeartbeatMessage","message":{"messageId":"m"}})"));
  EXPECT_FALSE(sessions.take(
      R"({"type":"PayloadMessage","message":{"x":"                                  "BerthExecuteCommandMessage""}})"));
  EXPECT_TRUE(sessions.take(
      R"({"type":"BerthExecuteCommandMessage","message":{"runtimeId":"c","command":"ls","url":"no"}})"));
  sessions.stop();
}

}  // namespace
}  // namespace agent
