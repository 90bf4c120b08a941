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
  EXPECT_TRUE(allow(caller, {"ecs", "SubmitTaskStateChange", "default"}));
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

// As the agent asks for the metadata of its tasks; the core says which instance a task is on.
TEST(Allow, an_agents_key_reads_the_tags_of_its_instance_and_of_the_tasks_on_it) {
  const Caller caller = agent("default", "arn:one");
  const auto may = [&](std::string_view cluster, std::string_view instance, std::string_view arn) {
    return allow(caller, {.service = "ecs",
                          .operation = "ListTagsForResource",
                          .cluster = cluster,
                          .container_instance = instance,
                          .resource = arn})
        .has_value();
  };
  EXPECT_TRUE(may("default", "arn:one", "arn:one"));
  EXPECT_TRUE(may("default", "arn:one", "arn:task-on-one"));
  EXPECT_FALSE(may("default", "arn:two", "arn:task-on-two"));
  EXPECT_FALSE(may("default", "", "arn:task-that-waits"));
  EXPECT_FALSE(may("default", "", "arn:service"));
  EXPECT_FALSE(may("", "", "arn:task-definition"));
}

TEST(Allow, an_agents_key_that_has_registered_nothing_is_no_instance_yet) {
  const Caller caller = agent("default", "");
  for (const std::string_view operation :
       {"RegisterContainerInstance", "DiscoverPollEndpoint", "Poll", "StartTelemetrySession",
        "SubmitTaskStateChange", "UpdateContainerInstancesState", "DeregisterContainerInstance"}) {
    const auto denied = allow(caller, {"ecs", operation, "default", "arn:of-somebody-else"});
    ASSERT_FALSE(denied) << operation;
    EXPECT_EQ(denied.error().code, "AccessDeniedException");
    EXPECT_NE(denied.error().message.find("data directory"), std::string::npos);
  }
}

// The operations of the official agent, and nothing of what a client does.
TEST(Allow, an_agents_key_has_each_operation_of_the_protocol) {
  const Caller caller = agent("default", "arn:one");
  for (const std::string_view operation :
       {"RegisterContainerInstance", "DeregisterContainerInstance", "DiscoverPollEndpoint", "Poll",
        "StartTelemetrySession", "SubmitTaskStateChange", "SubmitContainerStateChange",
        "SubmitAttachmentStateChanges", "UpdateContainerInstancesState"}) {
    EXPECT_TRUE(allow(caller, {"ecs", operation, "default", "arn:one"})) << operation;
  }
  EXPECT_TRUE(allow(caller, {"ecs", "ListTagsForResource", "default"}));
  for (const std::string_view operation :
       {"RunTask", "StartTask", "StopTask", "DescribeTasks", "ExecuteCommand", "CreateCluster",
        "RegisterTaskDefinition", "PutAttributes", "TagResource", "ListContainerInstances"}) {
    EXPECT_FALSE(allow(caller, {"ecs", operation, "default", "arn:one"})) << operation;
  }
  for (const std::string_view operation :
       {"GetParameter", "GetParameters", "PutParameter", "ResumeSession", "TerminateSession"}) {
    EXPECT_FALSE(allow(caller, {"ssm", operation})) << operation;
  }
  EXPECT_FALSE(allow(caller, {"secretsmanager", "GetSecretValue"}));
  EXPECT_FALSE(allow(caller, {"autoscaling", "DescribeAutoScalingGroups"}));
  EXPECT_FALSE(allow(caller, {"ec2", "DescribeLaunchTemplates"}));
}

TEST(Allow, a_tasks_key_may_protect_that_task_and_no_other) {
  Caller caller = agent("", "");
  caller.access = TaskAccess{.task = "arn:task", .log_groups = {"g"}, .secrets = {"s"}};
  for (const std::string_view operation : {"GetTaskProtection", "UpdateTaskProtection"}) {
    EXPECT_TRUE(allow(caller, {.service = "ecs", .operation = operation, .resource = "arn:task"}));
    const auto denied =
        allow(caller, {.service = "ecs", .operation = operation, .resource = "arn:other"});
    ASSERT_FALSE(denied) << operation;
    EXPECT_EQ(denied.error().code, "AccessDeniedException");
    EXPECT_NE(denied.error().message.find("for the task arn:task alone"), std::string::npos);
  }
  for (const std::string_view operation :
       {"StopTask", "DescribeTasks", "UpdateService", "RunTask", "Poll"}) {
    EXPECT_FALSE(allow(caller, {.service = "ecs", .operation = operation, .resource = "arn:task"}))
        << operation;
  }
}

}  // namespace
}  // namespace auth
