#include "agent/task_credentials.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

core::CredentialsSet keys(const std::string& task, std::string_view role, const std::string& id) {
  core::CredentialsSet given{.task_arn = task, .role_type = std::string(role), .credentials = {}};
  given.credentials.credentials_id = id;
  given.credentials.access_key_id = "AKID" + id;
  return given;
}

TEST(TaskCredentials, those_of_a_task_that_has_stopped_are_dropped_of_both_roles) {
  TaskCredentials credentials;
  for (const std::string task : {"one", "two"}) {
    credentials.set(keys(task, task_role, task + "-task"));
    credentials.set(keys(task, execution_role, task + "-execution"));
  }
  credentials.retain([](const std::string& task) { return task != "one"; });
  EXPECT_FALSE(credentials.execution_keys("one"));
  EXPECT_EQ(credentials.find_task_role("one-task"), nullptr);
  ASSERT_TRUE(credentials.execution_keys("two"));
  EXPECT_EQ(credentials.execution_keys("two")->access_key_id, "AKIDtwo-execution");
  ASSERT_NE(credentials.find_task_role("two-task"), nullptr);
}

TEST(TaskCredentials, an_execution_roles_keys_are_for_no_container) {
  TaskCredentials credentials;
  credentials.set(keys("one", execution_role, "id"));
  EXPECT_EQ(credentials.find_task_role("id"), nullptr);
}

}  // namespace
}  // namespace agent
