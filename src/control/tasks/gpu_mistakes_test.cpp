#include "control/tasks/gpu_mistakes.h"

#include <gmock/gmock.h>

#include "control/testing.h"

namespace control {
namespace {

using ::testing::HasSubstr;
using testing::Plane;

TEST(RunTask, a_gpu_override_in_a_wrong_shape_is_answered_with_the_right_one_and_runs_nothing) {
  Plane plane;
  plane.create_cluster();
  plane.register_instance("p3.8xlarge", "a");
  plane.define("train", "1");
  api::ecs::ContainerOverride by_call;
  by_call.name = "main";
  by_call.gpus = api::Document{"\"4\""};
  api::ecs::RunTaskRequest request;
  request.task_definition = "train";
  request.overrides.emplace().container_overrides.push_back(by_call);
  const auto answer = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "ClientException");
  EXPECT_THAT(answer.error().message,
              HasSubstr(R"("resourceRequirements": [{"type": "GPU", "value": "4"}])"));
  EXPECT_TRUE(plane.core.state().tasks.empty());
}

TEST(GpuMistakes, each_spelling_is_refused_and_the_right_one_is_not) {
  const api::Document two{"2"};
  for (const auto member :
       {&api::ecs::ContainerDefinition::gpu, &api::ecs::ContainerDefinition::gpus,
        &api::ecs::ContainerDefinition::gpu_count}) {
    api::ecs::ContainerDefinition container;
    container.*member = two;
    EXPECT_FALSE(refuse_gpu_mistakes(container));
  }
  api::ecs::ContainerDefinition container;
  api::ecs::ResourceRequirement requirement;
  requirement.value = "2";
  container.resource_requirements = {requirement};
  EXPECT_TRUE(refuse_gpu_mistakes(container));
  container.resource_requirements.front().count = two;
  EXPECT_FALSE(refuse_gpu_mistakes(container));
}

}  // namespace
}  // namespace control
