#include "server/audit_entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "api/berth.h"
#include "api/generated/ecs.h"
#include "api/generated/secretsmanager.h"
#include "api/generated/ssm.h"
#include "json/value.h"

namespace server {
namespace {

const std::array audited_services = {
    &api::ecs_service(),
    &api::berth_service(),
    &api::logs_service(),
    &api::autoscaling_service(),
    &api::ec2_service(),
    &api::ssm_service(),
    &api::secretsmanager_service(),
};

std::string caller_arn() {
  return "arn:aws:iam::123456789012:root";
}

AuditedCall run_task_call() {
  return {.time = *base::parse_rfc3339("2026-01-31T12:00:00Z"),
          .request_id = "id-1",
          .caller = auth::Caller{.access_key_id = "BERTHROOT",
                                 .arn = caller_arn(),
                                 .account = "123456789012",
                                 .user_id = "123456789012",
                                 .service = "ecs",
                                 .access = auth::FullAccess{}},
          .claimed_key = {},
          .remote_address = "10.0.0.7:41234",
          .service = "ecs",
          .operation = "RunTask",
          .parameters = R"({"cluster":"default"})"};
}

template <class Request>
bool audited(const api::Service& service, std::string_view operation, Request request,
             bool by_agent = false) {
  return is_audited(service, *api::find(service, operation), api::Any::make(std::move(request)),
                    by_agent);
}

template <class Request>
std::string named(Request request) {
  return named_members(api::Any::make(std::move(request)));
}

TEST(AuditEntry, a_line_tells_who_from_where_what_and_what_came_of_it) {
  api::ecs::RunTaskResponse response;
  response.tasks.emplace_back().task_arn = "arn:aws:ecs:us-east-1:123456789012:task/default/1";
  response.failures.emplace_back().reason = "RESOURCE:GPU";
  EXPECT_EQ(
      R"({"eventTime":"2026-01-31T12:00:00.000Z","eventType":"AwsApiCall","requestID":"id-1",)"
      R"("userIdentity":{"type":"Root","arn":"arn:aws:iam::123456789012:root",)"
      R"("accessKeyId":"BERTHROOT"},"sourceIPAddress":"10.0.0.7",)"
      R"("eventSource":"ecs.amazonaws.com","eventName":"RunTask",)"
      R"("requestParameters":{"cluster":"default"},"responseElements":{"tasks":{"count":1,)"
      R"("arns":["arn:aws:ecs:us-east-1:123456789012:task/default/1"]},"failures":{"count":1}}})"
      "\n",
      audit_line(run_task_call(), api::Any::make(std::move(response))));
}

TEST(AuditEntry, a_refusal_says_why_and_another_error_only_its_code) {
  const auto line = [](const char* code) {
    return *json::parse(audit_line(run_task_call(), base::fail(code, "because of VALUE")));
  };
  EXPECT_EQ("because of VALUE", line("AccessDeniedException")["errorMessage"].text_or(""));
  EXPECT_EQ("ClientException", line("ClientException")["errorCode"].text_or(""));
  EXPECT_TRUE(line("ClientException")["errorMessage"].is_null());
}

TEST(AuditEntry, what_stood_in_place_of_a_key_is_not_told) {
  EXPECT_EQ("BERTHA2345", claimed_key_id("BERTHA2345"));
  EXPECT_EQ("", claimed_key_id("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"));
  EXPECT_EQ("", claimed_key_id("A B"));
  AuditedCall call = run_task_call();
  call.caller.reset();
  const auto line = *json::parse(
      audit_line(call, base::fail("InvalidSignatureException", "the credential SECRET is none")));
  EXPECT_EQ("InvalidSignatureException", line["errorCode"].text_or(""));
  EXPECT_TRUE(line["errorMessage"].is_null());
}

TEST(AuditEntry, callers_are_told_apart) {
  const auto identity = [](std::optional<auth::Caller> caller, std::string claimed = {}) {
    AuditedCall call = run_task_call();
    call.caller = std::move(caller);
    call.claimed_key = std::move(claimed);
    return json::print((*json::parse(audit_line(call, base::fail("X", ""))))["userIdentity"]);
  };
  auth::Caller caller = *run_task_call().caller;
  caller.access = auth::AgentAccess{.cluster = "default", .container_instance = "arn:i"};
  EXPECT_EQ(R"({"type":"BerthAgent","arn":"arn:aws:iam::123456789012:root",)"
            R"("accessKeyId":"BERTHROOT","cluster":"default","containerInstanceArn":"arn:i"})",
            identity(caller));
  caller.access = auth::TaskAccess{.task = "arn:t", .log_groups = {}, .secrets = {}};
  EXPECT_EQ(R"({"type":"AssumedRole","arn":"arn:aws:iam::123456789012:root",)"
            R"("accessKeyId":"BERTHROOT","taskArn":"arn:t"})",
            identity(caller));
  EXPECT_EQ(R"({"type":"Unknown","claimedAccessKeyId":"AKID"})", identity({}, "AKID"));
  caller.access = auth::NoAccess{};
  EXPECT_EQ(R"({"type":"Unknown"})", identity(caller));
}

TEST(AuditEntry, what_reads_is_left_out_but_for_secrets) {
  EXPECT_TRUE(audited(api::ecs_service(), "RunTask", api::ecs::RunTaskRequest{}));
  EXPECT_FALSE(audited(api::ecs_service(), "DescribeTasks", api::ecs::DescribeTasksRequest{}));
  EXPECT_TRUE(audited(api::berth_service(), "DeleteAgentKey", api::berth::DeleteAgentKeyRequest{}));
  EXPECT_TRUE(audited(api::secretsmanager_service(), "GetSecretValue",
                      api::secretsmanager::GetSecretValueRequest{}));
  EXPECT_FALSE(audited(api::ssm_service(), "GetParameter", api::ssm::GetParameterRequest{}));
  api::ssm::GetParameterRequest decrypted;
  decrypted.with_decryption = true;
  EXPECT_TRUE(audited(api::ssm_service(), "GetParameter", decrypted));
}

TEST(AuditEntry, what_only_explains_and_what_agents_report_is_left_out) {
  api::ecs::RunTaskRequest explained;
  explained.berth_explain = true;
  EXPECT_FALSE(audited(api::ecs_service(), "RunTask", std::move(explained)));
  EXPECT_FALSE(audited(api::ecs_service(), "SubmitTaskStateChange",
                       api::ecs::SubmitTaskStateChangeRequest{}));
  EXPECT_TRUE(audited(api::ecs_service(), "RegisterContainerInstance",
                      api::ecs::RegisterContainerInstanceRequest{}, true));
}

// A new operation is thought of here.
TEST(AuditEntry, every_operation_that_is_not_audited_reads_or_is_routine) {
  std::set<std::string> left_out;
  for (const api::Service* const service : audited_services) {
    for (const api::Operation& operation : service->operations) {
      const std::string name(operation.name);
      const bool reads = name.starts_with("Describe") || name.starts_with("List") ||
                         name.starts_with("Get") || name.starts_with("Filter");
      const bool is = is_audited(*service, operation, api::Any::create(*operation.input), false);
      if (!is && !reads) left_out.insert(name);
      if (is && reads) EXPECT_EQ("GetSecretValue", name);
    }
  }
  EXPECT_EQ(
      (std::set<std::string>{"DiscoverPollEndpoint", "PutLogEvents", "SubmitAttachmentStateChanges",
                             "SubmitContainerStateChange", "SubmitTaskStateChange"}),
      left_out);
}

TEST(AuditEntry, resources_are_named_and_values_are_not) {
  api::ecs::RunTaskRequest run;
  run.cluster = "default";
  run.task_definition = "train:3";
  run.count = 2;
  run.client_token = "token";
  run.overrides.emplace().container_overrides.emplace_back().command.emplace_back("PASSWORD=x");
  EXPECT_EQ(R"({"taskDefinition":"train:3","cluster":"default","count":2})", named(std::move(run)));
  api::secretsmanager::CreateSecretRequest secret;
  secret.name = "db";
  secret.secret_string = "VALUE";
  EXPECT_EQ(R"({"Name":"db"})", named(std::move(secret)));
  api::ssm::PutParameterRequest parameter;
  parameter.name = "/db";
  parameter.value = "VALUE";
  EXPECT_EQ(R"({"Name":"/db"})", named(std::move(parameter)));
  EXPECT_EQ("{}", named(api::berth::JoinClusterRequest{.token = "TOKEN", .agent_name = "NAME"}));
  EXPECT_EQ(R"({"id":"berth-join.a1b2"})",
            named(api::berth::DeleteAgentKeyRequest{.id = "berth-join.a1b2.SECRET"}));
  api::berth::CreateAgentKeyResponse made;
  made.access_key_id = "AKID";
  made.secret_access_key = "SECRET";
  const std::string line = audit_line(run_task_call(), api::Any::make(std::move(made)));
  EXPECT_TRUE(line.contains(R"("responseElements":{"accessKeyId":"AKID"})"));
  EXPECT_FALSE(line.contains("SECRET"));
}

TEST(AuditEntry, texts_and_lists_are_cut) {
  api::ecs::DescribeTasksRequest request;
  for (int number = 0; number < 30; ++number) request.tasks.emplace_back("t");
  request.cluster = std::string(511, 'x') + "äy";
  const auto told = *json::parse(named(std::move(request)));
  EXPECT_EQ(std::string(511, 'x'), told["cluster"].text_or(""));
  EXPECT_EQ(10U, told["tasks"].items().size());
  EXPECT_EQ(30, told["tasksCount"].as_int64());
}

TEST(AuditEntry, the_host_of_an_address) {
  EXPECT_EQ("192.0.2.1", host_of("192.0.2.1:4711"));
  EXPECT_EQ("::1", host_of("[::1]:4711"));
}

}  // namespace
}  // namespace server
