#include "exec/plan.h"

#include <gmock/gmock.h>

namespace exec {
namespace {

using api::ecs::ExecuteCommandLogging;
using ::testing::HasSubstr;

constexpr const char* root = "arn:aws:iam::123456789012:root";
constexpr const char* url = "https://berth:7117";

api::ecs::Container running(std::string name) {
  api::ecs::Container made;
  made.name = std::move(name);
  made.last_status = "RUNNING";
  made.runtime_id = "cafe";
  return made;
}

// A task with a container whose output is logged and one whose is not.
Subject subject() {
  Subject made;
  made.task.task_arn = "arn:aws:ecs:us-east-1:123456789012:task/default/t";
  made.task.enable_execute_command = true;
  made.task.containers = {running("app"), running("plain")};
  api::ecs::TaskDefinition& definition = made.definition.emplace();
  definition.container_definitions.resize(2);
  definition.container_definitions[0].name = "app";
  auto& log = definition.container_definitions[0].log_configuration.emplace();
  log.log_driver = api::ecs::LogDriver::Awslogs;
  log.options["awslogs-group"] = "/app";
  definition.container_definitions[1].name = "plain";
  return made;
}

api::ecs::ExecuteCommandRequest command(std::string container, std::string text = "sh") {
  api::ecs::ExecuteCommandRequest made;
  made.container = std::move(container);
  made.command = std::move(text);
  made.interactive = true;
  return made;
}

api::ecs::ClusterConfiguration configured(std::optional<ExecuteCommandLogging> logging,
                                          std::optional<std::string> group = {}) {
  api::ecs::ClusterConfiguration made;
  made.execute_command_configuration.emplace().logging = logging;
  if (group) {
    made.execute_command_configuration->log_configuration.emplace().cloud_watch_log_group_name =
        std::move(group);
  }
  return made;
}

TEST(ExecuteCommand, sessions_are_logged_where_the_cluster_or_the_container_says) {
  struct Case {
    std::optional<api::ecs::ClusterConfiguration> configuration;
    bool asks_container = false;
    std::string app;  // The group; empty: not logged.
    std::string plain;
  };
  const std::vector<Case> cases = {
      {std::nullopt, true, "/app", ""},
      {api::ecs::ClusterConfiguration{}, true, "/app", ""},
      {configured(std::nullopt), true, "/app", ""},
      {configured(ExecuteCommandLogging::Default), true, "/app", ""},
      {configured(ExecuteCommandLogging::None), false, "", ""},
      {configured(ExecuteCommandLogging::Override, "/audit"), false, "/audit", "/audit"},
      // As a cluster of an older version may have been kept.
      {configured(ExecuteCommandLogging::Override), false, "", ""},
  };
  for (const Case& one : cases) {
    Subject asked = subject();
    asked.configuration = one.configuration;
    EXPECT_EQ(logs_as_containers_do(asked.configuration), one.asks_container);
    for (const auto& [container, group] : {std::pair("app", one.app), {"plain", one.plain}}) {
      const auto plan = plan_session(command(container), asked, root, url);
      ASSERT_TRUE(plan.has_value());
      EXPECT_EQ(plan->session.log ? plan->session.log->group : "", group) << container;
    }
  }
}

TEST(ExecuteCommand, a_container_with_another_log_driver_is_not_logged) {
  Subject asked = subject();
  auto& log = *asked.definition->container_definitions[0].log_configuration;
  log.log_driver = api::ecs::LogDriver::JsonFile;
  EXPECT_FALSE(plan_session(command("app"), asked, root, url)->session.log.has_value());
  asked.definition->container_definitions[0].log_configuration.reset();
  EXPECT_FALSE(plan_session(command("app"), asked, root, url)->session.log.has_value());
}

TEST(ExecuteCommand, an_agent_that_cannot_is_told_at_once_and_gets_no_session) {
  Subject asked = subject();
  api::ecs::ManagedAgent& agent = asked.task.containers[0].managed_agents.emplace_back();
  agent.name = api::ecs::ManagedAgentName::ExecuteCommandAgent;
  agent.last_status = "STOPPED";
  agent.reason = "ExecuteCommand needs Berth's own agent on the container instance.";
  const auto plan = plan_session(command("app"), asked, root, url);
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code, "InvalidParameterException");
  EXPECT_THAT(plan.error().message, HasSubstr("needs Berth's own agent"));
  asked.task.containers[0].managed_agents[0].last_status = "RUNNING";
  EXPECT_TRUE(plan_session(command("app"), asked, root, url).has_value());
}

TEST(ExecuteCommand, a_log_begins_with_who_asked_for_what_and_where) {
  const auto plan = plan_session(command("app", "ls -l"), subject(), root, url);
  ASSERT_TRUE(plan.has_value() && plan->session.log.has_value());
  const Beginning& told = plan->session.log->beginning;
  EXPECT_EQ(told.session, plan->session.id);
  EXPECT_EQ(told.session, plan->response.session->session_id);
  EXPECT_THAT(told.session, HasSubstr("ecs-execute-command-"));
  EXPECT_EQ(told.caller, root);
  EXPECT_EQ(told.task, "arn:aws:ecs:us-east-1:123456789012:task/default/t");
  EXPECT_EQ(told.container, "app");
  EXPECT_EQ(told.command, "ls -l");
}

TEST(ExecuteCommand, an_endless_command_is_not_logged_whole) {
  const std::string endless(size_t{900} << 10, 'x');
  const auto plan = plan_session(command("app", endless), subject(), root, url);
  ASSERT_TRUE(plan.has_value() && plan->session.log.has_value());
  EXPECT_EQ(plan->session.log->beginning.command.size(), size_t{64} << 10);
  EXPECT_THAT(plan->order.text, HasSubstr(endless));
}

}  // namespace
}  // namespace exec
