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

TEST(GpuMistakes, a_variable_that_means_to_choose_gpus_is_refused_where_it_would_be_overruled) {
  const auto refusal = [](const std::string& name, const std::string& value,
                          const std::string& gpus = "") {
    api::List<api::ecs::ResourceRequirement> requirements;
    if (!gpus.empty()) {
      requirements.push_back({.type = api::ecs::ResourceType::Gpu, .value = gpus});
    }
    const auto answer =
        refuse_gpu_variables("main", {{.name = name, .value = value}}, requirements);
    return answer ? std::string() : answer.error().code + ": " + answer.error().message;
  };
  const struct {
    std::string value;
    std::string meant;
  } asked[] = {{"all", "ALL"}, {"0", "1"}, {"0,1", "2"}, {"GPU-a,GPU-b,GPU-c", "3"}};
  for (const auto& [value, meant] : asked) {
    const std::string text = refusal("NVIDIA_VISIBLE_DEVICES", value);
    EXPECT_THAT(text,
                HasSubstr("ClientException: Container \"main\" sets NVIDIA_VISIBLE_DEVICES to "
                          "\"" +
                          value + "\" in its environment and asks for no GPU"));
    EXPECT_THAT(
        text, HasSubstr(R"("resourceRequirements": [{"type": "GPU", "value": ")" + meant + "\"}]"));
  }
  for (const char* const none : {"", "void", "none"}) {
    EXPECT_EQ(refusal("NVIDIA_VISIBLE_DEVICES", none), "");
  }
  EXPECT_EQ(refusal("NVIDIA_VISIBLE_DEVICES", "all", "2"), "") << "as on ECS; Berth's own wins";
  EXPECT_EQ(refusal("NVIDIA_DRIVER_CAPABILITIES", "all"), "");
  for (const char* const name :
       {"CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"}) {
    for (const char* const gpus : {"", "1"}) {
      EXPECT_THAT(refusal(name, "x", gpus),
                  HasSubstr(std::string("sets ") + name + " in its environment, which only Berth"));
    }
  }
}

TEST(RunTask, an_override_may_name_devices_where_its_container_asks_for_gpus) {
  Plane plane;
  plane.create_cluster();
  plane.register_instance("p3.8xlarge", "a");
  plane.define("train", "1");
  plane.define("plain", "");
  api::ecs::ContainerOverride by_call;
  by_call.name = "main";
  by_call.environment.push_back({.name = "NVIDIA_VISIBLE_DEVICES", .value = "all"});
  const auto run = [&](const std::string& family) {
    api::ecs::RunTaskRequest request;
    request.task_definition = family;
    request.overrides.emplace().container_overrides.push_back(by_call);
    return plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  };
  EXPECT_TRUE(run("train"));
  const auto refused = run("plain");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("asks for no GPU"));
  by_call.resource_requirements.push_back({.type = api::ecs::ResourceType::Gpu, .value = "1"});
  EXPECT_TRUE(run("plain"));
}

}  // namespace
}  // namespace control
