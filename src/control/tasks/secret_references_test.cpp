#include "control/tasks/secret_references.h"

#include <gtest/gtest.h>

namespace control {
namespace {

api::ecs::Secret secret(const std::string& name, const std::string& value_from) {
  api::ecs::Secret made;
  made.name = name;
  made.value_from = value_from;
  return made;
}

acs::Secret told(const std::string& value_from) {
  api::ecs::ContainerDefinition container;
  container.secrets.push_back(secret("A", value_from));
  return secrets_of(container, "us-east-1").at(0);
}

TEST(SecretReferences, a_parameter_is_told_by_the_name_under_which_it_is_answered) {
  EXPECT_EQ(told("token").value_from, "token");
  EXPECT_EQ(told("/app/token").value_from, "/app/token");
  const acs::Secret flat = told("arn:aws:ssm:eu-west-1:123456789012:parameter/token");
  EXPECT_EQ(flat.value_from, "token");
  EXPECT_EQ(flat.provider, "ssm");
  EXPECT_EQ(flat.region, "eu-west-1");
  EXPECT_EQ(told("arn:aws:ssm:us-east-1:123456789012:parameter/app/token").value_from,
            "/app/token");
}

TEST(SecretReferences, a_secret_of_secrets_manager_is_told_as_it_stands) {
  const std::string arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:s-abcdef:key::";
  EXPECT_EQ(told(arn).value_from, arn);
  EXPECT_EQ(told(arn).provider, "asm");
}

TEST(SecretReferences, those_of_the_log_driver_never_stand_in_the_environment) {
  api::ecs::ContainerDefinition container;
  container.secrets.push_back(secret("A", "a"));
  container.log_configuration.emplace().secret_options.push_back(secret("splunk-token", "b"));
  const std::vector<acs::Secret> made = secrets_of(container, "us-east-1");
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].type, "ENVIRONMENT_VARIABLE");
  EXPECT_EQ(made[0].target, "CONTAINER");
  EXPECT_EQ(made[1].type, "BOOTSTRAP");
  EXPECT_EQ(made[1].target, "LOG_DRIVER");
}

}  // namespace
}  // namespace control
