#include "agent/core/journal.h"

#include <gtest/gtest.h>

namespace agent::core {
namespace {

const std::string arn = "arn:aws:ecs:us-east-1:123456789012:task/default/0123";

base::Result<void> load(State& state, const std::string& agent, const std::string& task,
                        const std::string& payload) {
  return load_journal(state, {{"agent", agent}, {"payload/" + arn, payload}, {"task/" + arn, task}},
                      base::Time{});
}

// An agent is replaced under running containers: what it has written must go on meaning the same.
// The members here are those of the first format; whoever changes their meaning needs an upgrade.
TEST(Journal, one_of_an_older_agent_is_read_and_what_it_does_not_say_is_at_rest) {
  State state(Config{}, base::Time{});
  const auto loaded = load(
      state, R"({"cluster":"default","containerInstanceArn":"arn:ci","highest":7})",
      R"({"arn":")" + arn +
          R"(","containers":[{"name":"main","status":"RUNNING","dockerName":"d","runtimeId":"c1"}]})",
      R"({"arn":")" + arn + R"(","containers":[{"name":"main","image":"busybox"}]})");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(state.instance_arn, "arn:ci");
  EXPECT_EQ(state.progress.highest, 7);
  const Task& task = state.tasks.at(arn);
  EXPECT_FALSE(task.record.stop_desired);
  EXPECT_EQ(task.record.containers.at(0).status, ContainerStatus::Running);
  EXPECT_EQ(state.task_of_container.at("c1"), arn);
}

TEST(Journal, members_that_a_newer_agent_has_written_are_passed_over) {
  State state(Config{}, base::Time{});
  const auto loaded = load(
      state, R"({"cluster":"default","containerInstanceArn":"arn:ci","tomorrow":[1]})",
      R"({"arn":")" + arn +
          R"(","tomorrow":{"a":1},"containers":[{"name":"main","status":"CREATED",)"
          R"("runtimeId":"c1","tomorrow":"x"}]})",
      R"({"arn":")" + arn +
          R"(","tomorrow":true,"containers":[{"name":"main","image":"busybox","tomorrow":null}]})");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(state.tasks.at(arn).record.containers.at(0).status, ContainerStatus::Created);
}

TEST(Journal, a_status_that_this_agent_does_not_know_is_refused_by_name) {
  State state(Config{}, base::Time{});
  const auto loaded =
      load(state, R"({"cluster":"default"})",
           R"({"arn":")" + arn + R"(","containers":[{"name":"main","status":"PAUSED"}]})",
           R"({"arn":")" + arn + R"(","containers":[{"name":"main","image":"busybox"}]})");
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, "JournalCorrupt");
  EXPECT_NE(loaded.error().message.find("task/" + arn), std::string::npos);
}

}  // namespace
}  // namespace agent::core
