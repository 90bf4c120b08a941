#include "agent/task_protection.h"

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"
#include "agent/testing.h"

namespace agent {
namespace {

class TaskProtection : public ::testing::Test {
 protected:
  TaskProtection() { arn_ = t_.core().tasks().begin()->first; }

  std::string target() {
    return "/api/" + t_.core().tasks().begin()->second.record.containers[0].metadata_id +
           "/task-protection/v1/state";
  }
  std::optional<ProtectionAnswer> ask(const std::string& method, const std::string& target,
                                      const std::string& body = {}, const std::string& in = {}) {
    return answer_protection({t_.core(), credentials_, gpus_, zone_}, in,
                             {.method = method, .target = target, .body = body});
  }
  // Status and body of an answer for which nobody has to be asked.
  std::string refusal(const std::optional<ProtectionAnswer>& answer) {
    const auto* response = answer ? std::get_if<net::HttpResponse>(&*answer) : nullptr;
    if (response == nullptr) return "no refusal";
    return base::format("{} {}", response->status, response->body);
  }

  core::testing::Running t_;
  TaskCredentials credentials_;
  gpu::Inventory gpus_;
  std::string zone_;
  std::string arn_;
};

TEST_F(TaskProtection, a_get_asks_for_the_task_of_the_container) {
  const auto answer = ask("GET", target() + "?x=1");
  ASSERT_TRUE(answer);
  const auto* wanted = std::get_if<ProtectionWanted>(&*answer);
  ASSERT_NE(wanted, nullptr);
  EXPECT_EQ(wanted->task_arn, arn_);
  const auto& get = std::get<api::ecs::GetTaskProtectionRequest>(wanted->request);
  EXPECT_EQ(get.cluster, "default");
  ASSERT_EQ(get.tasks.size(), 1U);
  EXPECT_EQ(get.tasks[0], arn_);
}

TEST_F(TaskProtection, a_put_says_whether_and_how_long) {
  const auto answer =
      ask("PUT", target(), R"({"ProtectionEnabled":true,"ExpiresInMinutes":60})", arn_);
  ASSERT_TRUE(answer);
  const auto* wanted = std::get_if<ProtectionWanted>(&*answer);
  ASSERT_NE(wanted, nullptr);
  const auto& update = std::get<api::ecs::UpdateTaskProtectionRequest>(wanted->request);
  EXPECT_EQ(update.protection_enabled, true);
  EXPECT_EQ(update.expires_in_minutes, 60);
  EXPECT_EQ(update.tasks[0], arn_);
  EXPECT_EQ(update.cluster, "default");
}

TEST_F(TaskProtection, what_cannot_be_understood_changes_nothing_and_says_why) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "must be a JSON object"},
      {"[]", "must be a JSON object"},
      {"{}", "ProtectionEnabled is missing"},
      {R"({"ExpiresInMinutes":5})", "ProtectionEnabled is missing"},
      {R"({"ProtectionEnabled":"yes"})", "must be true or false"},
      {R"({"ProtectionEnabled":true,"ExpiresInMinutes":1.5})", "whole number"},
      {R"({"ProtectionEnabled":true,"ExpiresInMinutes":99999999999})", "whole number"},
      {R"({"protectionEnabled":true})", "protectionEnabled is no member here"}};
  for (const auto& [body, why] : bad) {
    const std::string told = refusal(ask("PUT", target(), body));
    EXPECT_TRUE(told.starts_with("400 ")) << body << ": " << told;
    EXPECT_NE(told.find(why), std::string::npos) << body << ": " << told;
    EXPECT_NE(told.find(arn_), std::string::npos) << told;
  }
  EXPECT_TRUE(refusal(ask("DELETE", target())).starts_with("405 "));
}

TEST_F(TaskProtection, is_for_containers_of_the_own_task_only) {
  EXPECT_TRUE(refusal(ask("GET", "/api/nobody/task-protection/v1/state")).starts_with("404 "));
  EXPECT_TRUE(refusal(ask("GET", target(), {}, "arn:another-task")).starts_with("404 "));
  for (const char* other : {"/v4/x", "/api/task-protection/v1/state", "/api//x", "/",
                            "/api/x/task-protection/v1/state/more"}) {
    EXPECT_FALSE(ask("GET", other)) << other;
  }
}

TEST(TaskProtectionResponse, is_the_protection_a_failure_or_an_error) {
  api::ecs::UpdateTaskProtectionResponse answer;
  api::ecs::ProtectedTask& task = answer.protected_tasks.emplace_back();
  task.task_arn = "arn:t";
  task.protection_enabled = true;
  task.expiration_date = base::Time{std::chrono::seconds(1'700'000'000)};
  net::HttpResponse told = protection_response("arn:t", answer);
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.body, R"({"protection":{"ProtectionEnabled":true,"TaskArn":"arn:t",)"
                       R"("ExpirationDate":"2023-11-14T22:13:20.000Z"}})");
  answer = {};
  api::ecs::Failure& failure = answer.failures.emplace_back();
  failure.arn = "arn:t";
  failure.reason = "TASK_NOT_VALID";
  failure.detail = "The task does not belong to a service.";
  told = protection_response("arn:t", answer);
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.body, R"({"failure":{"Arn":"arn:t","Reason":"TASK_NOT_VALID",)"
                       R"("Detail":"The task does not belong to a service."}})");
  using Kind = ApiError::Kind;
  const std::pair<Kind, int> kinds[] = {
      {Kind::Refused, 400}, {Kind::Unreachable, 504}, {Kind::Failed, 500}};
  for (const auto& [kind, status] : kinds) {
    told = protection_response("arn:t",
                               std::unexpected(ApiError{{"AccessDeniedException", "no"}, kind}));
    EXPECT_EQ(told.status, status);
    EXPECT_EQ(told.body,
              R"({"error":{"Code":"AccessDeniedException","Message":"no","Arn":"arn:t"}})");
  }
  EXPECT_EQ(protection_response("arn:t", api::ecs::UpdateTaskProtectionResponse{}).status, 500);
}

}  // namespace
}  // namespace agent
