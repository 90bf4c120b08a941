#include "server/shared_keys.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/random.h"

namespace server {
namespace {

model::TaskArn arn_of(int number) {
  return model::TaskArn(
      base::format("arn:aws:ecs:us-east-1:123456789012:task/default/{:032x}", number));
}

auth::Caller caller_of(const model::TaskArn& task) {
  auth::Caller caller;
  caller.access = auth::TaskAccess{.task = task.str(), .log_groups = {}, .secrets = {}};
  return caller;
}

void put(model::ClusterState& state, const model::TaskArn& arn, model::TaskStatus status) {
  model::Task& task = state.tasks[arn];
  task.arn = arn;
  task.last_status = status;
}

SharedKeys some_keys() {
  return {auth::KeyRing(), auth::KeyDerivation("m"), model::Account{}};
}

TEST(SharedKeys, the_keys_of_a_tasks_roles_end_with_the_task) {
  SharedKeys keys = some_keys();
  model::ClusterState state;
  for (const auto status : {model::TaskStatus::Provisioning, model::TaskStatus::Running,
                            model::TaskStatus::Stopping, model::TaskStatus::Deprovisioning}) {
    put(state, arn_of(1), status);
    keys.take_tasks(state, {arn_of(1)});
    EXPECT_TRUE(keys.check(caller_of(arn_of(1))).has_value());
  }
  put(state, arn_of(1), model::TaskStatus::Stopped);
  keys.take_tasks(state, {arn_of(1)});
  const auto refused = keys.check(caller_of(arn_of(1)));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "ExpiredTokenException");
  EXPECT_NE(refused.error().message.find(arn_of(1).str()), std::string::npos);
}

TEST(SharedKeys, a_forgotten_and_an_unknown_task_has_no_keys) {
  SharedKeys keys = some_keys();
  model::ClusterState state;
  put(state, arn_of(1), model::TaskStatus::Running);
  keys.take_all(state);
  EXPECT_TRUE(keys.check(caller_of(arn_of(1))).has_value());
  EXPECT_FALSE(keys.check(caller_of(arn_of(2))).has_value());
  state.tasks.clear();
  keys.take_tasks(state, {arn_of(1)});
  EXPECT_FALSE(keys.check(caller_of(arn_of(1))).has_value());
}

TEST(SharedKeys, other_keys_have_no_task_to_end_with) {
  const SharedKeys keys = some_keys();
  EXPECT_TRUE(keys.check({}).has_value());
  auth::Caller agent;
  agent.access = auth::AgentAccess{.cluster = "default", .container_instance = {}};
  EXPECT_TRUE(keys.check(agent).has_value());
}

TEST(LiveTasks, what_is_taken_change_by_change_is_what_the_whole_state_says) {
  base::Random random(7);
  model::ClusterState state;
  LiveTasks by_change;
  for (int round = 0; round < 200; ++round) {
    std::vector<model::TaskArn> changed;
    for (int i = 0; i < 20; ++i) {
      changed.push_back(arn_of(static_cast<int>(random.below(3'000))));
      switch (random.below(3)) {
        case 0:
          put(state, changed.back(), model::TaskStatus::Running);
          break;
        case 1:
          put(state, changed.back(), model::TaskStatus::Stopped);
          break;
        default:
          state.tasks.erase(changed.back());
      }
    }
    by_change.take(state, changed);
  }
  LiveTasks whole;
  whole.take_all(state);
  for (int i = 0; i < 3'000; ++i) {
    const auto* const task = model::find_task(state, arn_of(i));
    const bool live = task != nullptr && task->last_status != model::TaskStatus::Stopped;
    EXPECT_EQ(by_change.contains(arn_of(i).str()), live);
    EXPECT_EQ(whole.contains(arn_of(i).str()), live);
  }
}

TEST(SharedKeys, the_keys_of_a_tasks_roles_end_with_the_key_of_the_agent_that_has_them) {
  SharedKeys keys = some_keys();
  model::ClusterState state;
  put(state, arn_of(1), model::TaskStatus::Running);
  const model::AgentKey agent{.id = "BERTHA1",
                              .cluster = model::ClusterName("default"),
                              .instance = model::InstanceArn("arn:instance"),
                              .created_at = {},
                              .join_token = {}};
  state.agent_keys.emplace(agent.id, agent);
  EXPECT_TRUE(keys.take_all(state).empty());
  auth::Caller caller = caller_of(arn_of(1));
  std::get<auth::TaskAccess>(caller.access).through = agent.id;
  EXPECT_TRUE(keys.check(caller).has_value());
  state.agent_keys.clear();
  EXPECT_EQ(keys.take_agent_keys(state), std::vector<std::string>{"arn:instance"});
  const auto refused = keys.check(caller);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "ExpiredTokenException");
  EXPECT_TRUE(keys.check(caller_of(arn_of(1))).has_value());
}

}  // namespace
}  // namespace server
