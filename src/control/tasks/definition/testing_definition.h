// Task definitions as text, and a control plane that takes or refuses them. For tests only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/json.h"
#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/step/queue_notes.h"

namespace control::definition_testing {

// A control plane with nothing in it.
struct EmptyPlane {
  model::ClusterState state;
  placement::Engine engine;
  base::Random random{7};
  Settings settings;
  Output output;
  QueueNotes queue_notes;
  RefusedClaims refused_claims;
  Step step{state,
            engine,
            random,
            settings,
            queue_notes,
            refused_claims,
            base::Time(base::Milliseconds(1'700'000'000'123)),
            output};

  EmptyPlane() { step.caller.arn = "arn:aws:iam::123456789012:root"; }

  // As the server does: text to a typed request to the action.
  base::Result<api::ecs::RegisterTaskDefinitionResponse> register_text(const std::string& text) {
    return ecs::register_task_definition(
        step, TRY(api::parse<api::ecs::RegisterTaskDefinitionRequest>(text)));
  }
  api::ecs::TaskDefinition describe(const std::string& name) {
    api::ecs::DescribeTaskDefinitionRequest request;
    request.task_definition = name;
    auto answer = ecs::describe_task_definition(step, request);
    if (!answer) return {};
    return *answer->task_definition;
  }
};

// A good container with further members: `"cpu": 5, "user": "root"`.
inline std::string container(const std::string& more = "", const std::string& name = "main") {
  return base::format(R"({{"name": "{}", "image": "busybox:test", "memory": 64{}}})", name,
                      more.empty() ? "" : ", " + more);
}
inline std::string definition(const std::string& containers, const std::string& more = "") {
  return base::format(R"({{"family": "train", "containerDefinitions": [{}]{}}})", containers,
                      more.empty() ? "" : ", " + more);
}
inline std::string one(const std::string& more) {
  return definition(container(more));
}
// A good definition with further members of the task.
inline std::string task(const std::string& more) {
  return definition(container(), more);
}
inline std::string two(const std::string& first, const std::string& second,
                       const std::string& more = "") {
  return definition(container(first, "a") + ", " + container(second, "b"), more);
}

struct Bad {
  std::string text;
  std::string code;
  std::string message;  // A part of it.
};

inline void expect_refused(const std::vector<Bad>& table) {
  for (const Bad& bad : table) {
    EmptyPlane plane;
    const auto answer = plane.register_text(bad.text);
    ASSERT_FALSE(answer) << "accepted: " << bad.text;
    EXPECT_EQ(answer.error().code, bad.code) << bad.text << "\n" << answer.error().message;
    EXPECT_THAT(answer.error().message, ::testing::HasSubstr(bad.message)) << bad.text;
    EXPECT_TRUE(plane.state.task_definitions.empty()) << bad.text;
    EXPECT_TRUE(plane.output.changes.empty()) << bad.text;
  }
}

inline void expect_accepted(const std::vector<std::string>& table) {
  for (const std::string& text : table) {
    EmptyPlane plane;
    const auto answer = plane.register_text(text);
    EXPECT_TRUE(answer) << text << "\n" << answer.error().message;
  }
}

inline constexpr auto client = "ClientException";
inline constexpr auto parameter = "InvalidParameterException";

}  // namespace control::definition_testing
