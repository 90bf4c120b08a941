#include "control/log_streams.h"

#include <gtest/gtest.h>

#include "control/testing.h"

namespace control {
namespace {

struct LogStreams : ::testing::Test {
  void SetUp() override {
    plane.create_cluster();
    one = plane.register_instance("c5.2xlarge", "one");
  }

  // A task on the only instance so far, whose container has these options of awslogs.
  std::string run(const std::string& family, const std::map<std::string, std::string>& options) {
    plane.define(family, "");
    model::ClusterState state = plane.core.state();
    auto& definition = state.task_definitions.find(family)->second.find(1)->second.definition;
    api::ecs::LogConfiguration& log =
        definition.container_definitions.front().log_configuration.emplace();
    log.log_driver = api::ecs::LogDriver::Awslogs;
    for (const auto& [name, value] : options) log.options[name] = value;
    plane.core = Core(std::move(state), Settings{}, ++plane.reseed, plane.now);
    const auto answer = plane.run_task(family);
    CHECK(answer.has_value() && answer->tasks.size() == 1);
    return *answer->tasks[0].task_arn;
  }
  bool writes(const model::InstanceArn& instance, std::string_view group, std::string_view stream) {
    return writes_logs(plane.core.state(), instance, group, stream);
  }

  testing::Plane plane;
  model::InstanceArn one;
};

TEST_F(LogStreams, of_a_prefix_are_those_of_the_instance_s_own_tasks) {
  const std::string task = run("a", {{"awslogs-group", "g"}, {"awslogs-stream-prefix", "p"}});
  const std::string stream = "p/main/" + std::string(model::short_id(task));
  const model::InstanceArn two = plane.register_instance("c5.2xlarge", "two");
  EXPECT_TRUE(writes(one, "g", stream));
  EXPECT_TRUE(writes(one, "g", ""));
  EXPECT_FALSE(writes(two, "g", stream));
  EXPECT_FALSE(writes(two, "g", ""));
  EXPECT_FALSE(writes(one, "other", stream));
  EXPECT_FALSE(writes(one, "g", "p/side/" + std::string(model::short_id(task))));
  EXPECT_FALSE(writes(one, "g", "p/main/0123"));
  EXPECT_FALSE(writes(one, "g", std::string(64, 'a')));
  EXPECT_FALSE(writes(model::InstanceArn("none"), "g", stream));
  plane.report(task, "STOPPED", 0);
  EXPECT_FALSE(writes(one, "g", stream));
}

TEST_F(LogStreams, without_a_prefix_are_named_or_have_the_id_of_a_container) {
  run("named", {{"awslogs-group", "g"}, {"awslogs-stream", "all"}});
  run("docker-s", {{"awslogs-group", "h"}});
  EXPECT_TRUE(writes(one, "g", "all"));
  EXPECT_FALSE(writes(one, "g", std::string(64, 'a')));
  EXPECT_TRUE(writes(one, "h", std::string(64, 'a')));
  EXPECT_FALSE(writes(one, "h", std::string(63, 'a')));
  EXPECT_FALSE(writes(one, "h", std::string(64, 'x')));
  EXPECT_FALSE(writes(one, "h", "all"));
}

}  // namespace
}  // namespace control
