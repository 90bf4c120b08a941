#include "auth/permission.h"

#include <gtest/gtest.h>

namespace auth {
namespace {

Caller agent(std::string cluster, std::string container_instance) {
  return {.access_key_id = "AKIDAGENT",
          .arn = "arn:aws:iam::123456789012:user/agent",
          .account = "123456789012",
          .user_id = "AIDAAGENT",
          .service = "ecs",
          .access = AgentAccess{std::move(cluster), std::move(container_instance)}};
}

TEST(Allow, a_full_key_may_do_everything) {
  const Caller caller{
      .access_key_id = "A", .arn = "arn", .account = "1", .user_id = "1", .service = "ecs"};
  EXPECT_TRUE(allow(caller, {"ecs", "DeleteCluster", "any", "any"}));
}

TEST(Allow, an_agents_key_may_do_what_an_agent_does) {
  const Caller caller = agent("default", "");
  EXPECT_TRUE(allow(caller, {"ecs", "RegisterContainerInstance", "default"}));
  EXPECT_TRUE(allow(caller, {"ecs", "SubmitTaskStateChange", "default", "arn:any"}));
  EXPECT_TRUE(allow(caller, {"logs", "PutLogEvents"}));
  EXPECT_TRUE(allow(caller, {"sts", "GetCallerIdentity"}));
  const auto denied = allow(caller, {"ecs", "RunTask", "default"});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, "AccessDeniedException");
  EXPECT_EQ(denied.error().message,
            "User: arn:aws:iam::123456789012:user/agent is not authorized to perform: ecs:RunTask "
            "because an agent's key does not allow this action.");
  EXPECT_FALSE(allow(caller, {"logs", "DeleteLogGroup"}));
  EXPECT_FALSE(allow(caller, {"iam", "RegisterContainerInstance", "default"}));
}

TEST(Allow, an_agents_key_is_bound_to_its_cluster_and_instance) {
  const Caller caller = agent("default", "arn:one");
  EXPECT_TRUE(allow(caller, {"ecs", "Poll", "default", "arn:one"}));
  EXPECT_EQ(allow(caller, {"ecs", "Poll", "other", "arn:one"}).error().code,
            "AccessDeniedException");
  EXPECT_EQ(allow(caller, {"ecs", "Poll", "default", "arn:two"}).error().code,
            "AccessDeniedException");
}

}  // namespace
}  // namespace auth
