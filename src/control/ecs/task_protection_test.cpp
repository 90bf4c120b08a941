// Who may protect a task: an agent speaks for the tasks of its own instance, a task for itself.
#include <gtest/gtest.h>

#include "control/testing.h"

namespace control {
namespace {

using testing::Plane;

TEST(TaskProtection, an_agents_key_is_for_tasks_of_its_own_instance) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn mine = plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  ASSERT_EQ(plane.describe(task).container_instance_arn, mine.str());
  const model::InstanceArn other = plane.register_instance("c5.2xlarge", "b");
  model::ClusterState state = plane.core.state();
  for (const auto& [id, of] : {std::pair("KEYOFMINE", mine), std::pair("KEYOFOTHER", other)}) {
    model::apply(state, model::AgentKeyPut{{.id = id,
                                            .cluster = model::ClusterName("default"),
                                            .instance = of,
                                            .created_at = plane.now,
                                            .join_token = {}}});
  }
  plane.core = Core(std::move(state), Settings{}, 7, plane.now);
  api::ecs::UpdateTaskProtectionRequest update;
  update.tasks = {task};
  update.protection_enabled = true;
  api::ecs::GetTaskProtectionRequest get;
  get.tasks = {task};
  const auto answers = [&](const char* key) {
    plane.caller.access_key_id = key;
    plane.caller.access = auth::AgentAccess{};
    const auto updated =
        plane.call<api::ecs::UpdateTaskProtectionResponse>("UpdateTaskProtection", update);
    const auto got = plane.call<api::ecs::GetTaskProtectionResponse>("GetTaskProtection", get);
    return std::pair(updated ? updated->failures.at(0).reason.value_or("") : updated.error().code,
                     got ? got->failures.at(0).reason.value_or("") : got.error().code);
  };
  using Both = std::pair<std::string, std::string>;
  // Allowed; it is no task of a service.
  EXPECT_EQ(answers("KEYOFMINE"), Both("TASK_NOT_VALID", "TASK_NOT_VALID"));
  EXPECT_EQ(answers("KEYOFOTHER"), Both("AccessDeniedException", "AccessDeniedException"));
}

TEST(TaskProtection, a_tasks_key_is_for_that_task_alone_however_it_is_named) {
  Plane plane;
  plane.create_cluster();
  plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  const std::string mine = *plane.run_task("cpu")->tasks.at(0).task_arn;
  const std::string other = *plane.run_task("cpu")->tasks.at(0).task_arn;
  plane.caller.access = auth::TaskAccess{.task = mine, .log_groups = {}, .secrets = {}};
  const auto answer = [&](std::vector<std::string> tasks) -> std::string {
    api::ecs::UpdateTaskProtectionRequest update;
    update.protection_enabled = true;
    for (std::string& task : tasks) update.tasks.push_back(std::move(task));
    const auto updated =
        plane.call<api::ecs::UpdateTaskProtectionResponse>("UpdateTaskProtection", update);
    return updated ? updated->failures.at(0).reason.value_or("") : updated.error().code;
  };
  // Allowed; it is no task of a service.
  EXPECT_EQ(answer({mine}), "TASK_NOT_VALID");
  EXPECT_EQ(answer({std::string(model::short_id(mine))}), "TASK_NOT_VALID");
  EXPECT_EQ(answer({other}), "AccessDeniedException");
  EXPECT_EQ(answer({mine, other}), "AccessDeniedException");
  // Nor does it learn which tasks there are.
  EXPECT_EQ(answer({std::string(32, '0')}), "AccessDeniedException");
  api::ecs::GetTaskProtectionRequest get;
  get.tasks = {other};
  EXPECT_EQ(
      (plane.call<api::ecs::GetTaskProtectionResponse>("GetTaskProtection", get).error().code),
      "AccessDeniedException");
}

}  // namespace
}  // namespace control
