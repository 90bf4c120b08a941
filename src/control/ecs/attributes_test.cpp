#include <gtest/gtest.h>

#include "control/testing.h"

namespace control {
namespace {

using testing::Plane;

TEST(Attributes, what_tells_of_an_agent_is_no_clients_to_put_or_delete) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instance = plane.register_instance("c5.2xlarge", "a");
  const auto put = [&](const std::string& name) {
    api::ecs::PutAttributesRequest request;
    api::ecs::Attribute& attribute = request.attributes.emplace_back();
    attribute.name = name;
    attribute.target_id = instance.str();
    return plane.call<api::ecs::PutAttributesResponse>("PutAttributes", request);
  };
  const auto remove = [&](const std::string& name) {
    api::ecs::DeleteAttributesRequest request;
    api::ecs::Attribute& attribute = request.attributes.emplace_back();
    attribute.name = name;
    attribute.target_id = instance.str();
    return plane.call<api::ecs::DeleteAttributesResponse>("DeleteAttributes", request);
  };
  const auto before = plane.core.state().instances.at(instance).attributes;
  for (const char* const name :
       {"berth.agent", "berth.mine", "ecs.os-type", "ecs.capability.task-eni",
        "com.amazonaws.ecs.capability.privileged-container"}) {
    const auto putting = put(name);
    ASSERT_FALSE(putting) << name;
    EXPECT_EQ(putting.error().code, "InvalidParameterException");
    EXPECT_NE(putting.error().message.find("its agent's alone"), std::string::npos);
    EXPECT_FALSE(remove(name)) << name;
  }
  EXPECT_EQ(plane.core.state().instances.at(instance).attributes, before);
  EXPECT_TRUE(put("berthing"));
  EXPECT_TRUE(put("stack"));
  EXPECT_TRUE(remove("stack"));
}

}  // namespace
}  // namespace control
