#include "auth/key_derivation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "auth/key_ring.h"
#include "auth/permission.h"
#include "auth/signer.h"
#include "auth/verifier.h"

namespace auth {
namespace {

const base::Time call_time{std::chrono::seconds(1'750'000'000)};
constexpr std::string_view task_arn =
    "arn:aws:ecs:us-east-1:123456789012:task/default/0123456789abcdef0123456789abcdef";

RoleSession session_of_a_task() {
  return {.account = "123456789012",
          .role_arn = "arn:aws:iam::123456789012:role/path/reader",
          .role_type = "TaskApplication",
          .access = {std::string(task_arn), {"/app"}, {"db-password"}},
          .expires = call_time + std::chrono::hours(6)};
}

base::Result<Caller> call_with(const AccessKey& key, const KeyRing& keys, base::Time now) {
  Request request{.method = "POST", .path = "/", .query = {}, .headers = {}, .body = "{}"};
  request.headers = {{"Host", "berth"}};
  std::vector<std::pair<std::string, std::string>> added =
      sign(request, {key.access_key_id, key.secret_access_key, key.session_token},
           {.region = "us-east-1", .service = "logs"}, now);
  for (const auto& [name, value] : added) request.headers.emplace_back(name, value);
  Verifier verifier({.region = "us-east-1", .services = {"logs"}});
  return verifier.verify(request, keys, now);
}

TEST(KeyDerivation, the_key_of_a_tasks_role_is_accepted_until_it_expires_and_says_whose_it_is) {
  const KeyDerivation derivation("the master key");
  const KeyRing keys(derivation);
  const AccessKey key = derivation.session_key(session_of_a_task());
  const auto caller = call_with(key, keys, call_time);
  ASSERT_TRUE(caller) << caller.error().message;
  EXPECT_EQ(caller->arn,
            "arn:aws:sts::123456789012:assumed-role/reader/0123456789abcdef0123456789abcdef");
  EXPECT_EQ(std::get<TaskAccess>(caller->access).log_groups, std::vector<std::string>{"/app"});
  const auto late = call_with(key, keys, call_time + std::chrono::hours(7));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "ExpiredTokenException");
}

TEST(KeyDerivation, a_key_of_another_server_or_with_another_id_or_secret_is_not_accepted) {
  const KeyRing keys(KeyDerivation("the master key"));
  AccessKey key = KeyDerivation("another").session_key(session_of_a_task());
  EXPECT_EQ(call_with(key, keys, call_time).error().code, "UnrecognizedClientException");
  key = KeyDerivation("the master key").session_key(session_of_a_task());
  key.access_key_id.back() = key.access_key_id.back() == 'A' ? 'B' : 'A';
  EXPECT_EQ(call_with(key, keys, call_time).error().code, "UnrecognizedClientException");
  key = KeyDerivation("the master key").session_key(session_of_a_task());
  key.secret_access_key.back() = key.secret_access_key.back() == 'a' ? 'b' : 'a';
  EXPECT_EQ(call_with(key, keys, call_time).error().code, "InvalidSignatureException");
  EXPECT_FALSE(call_with(key, KeyRing(), call_time));
}

RC_GTEST_PROP(KeyDerivation, no_token_with_one_character_changed_is_accepted, ()) {
  const KeyDerivation derivation("the master key");
  const AccessKey key = derivation.session_key(session_of_a_task());
  std::string token = key.session_token;
  const auto place = *rc::gen::inRange<size_t>(0, token.size());
  const char other = *rc::gen::elementOf(std::string("0123456789abcdef."));
  RC_PRE(token[place] != other);
  token[place] = other;
  RC_ASSERT(!derivation.find_session(key.access_key_id, token));
}

TEST(KeyDerivation, a_join_token_is_known_again_by_its_maker_alone) {
  const KeyDerivation derivation("the master key");
  const std::string token = derivation.join_token("a1b2");
  EXPECT_EQ(derivation.join_token_id(token), "a1b2");
  EXPECT_FALSE(KeyDerivation("another").join_token_id(token));
  EXPECT_FALSE(derivation.join_token_id("berth-join.a1b2"));
  EXPECT_FALSE(derivation.join_token_id(token + "0"));
  EXPECT_FALSE(derivation.join_token_id(""));
}

TEST(KeyDerivation, no_two_things_share_a_secret) {
  const KeyDerivation derivation("the master key");
  EXPECT_NE(derivation.credentials_id(task_arn, "TaskApplication"),
            derivation.credentials_id(task_arn, "TaskExecution"));
  EXPECT_NE(derivation.agent_secret("BERTHA"), derivation.agent_secret("BERTHB"));
  EXPECT_EQ(derivation.agent_secret("BERTHA").size(), 40U);
  RoleSession execution = session_of_a_task();
  execution.role_type = "TaskExecution";
  EXPECT_NE(derivation.session_key(execution).access_key_id,
            derivation.session_key(session_of_a_task()).access_key_id);
}

TEST(Allow, a_tasks_key_reaches_what_its_definition_names_and_nothing_else) {
  Caller caller{.access_key_id = "ASIA",
                .arn = "arn:aws:sts::1:assumed-role/reader/t",
                .account = "1",
                .user_id = "AROA:t",
                .service = "logs",
                .access = session_of_a_task().access};
  const auto may = [&](std::string_view service, std::string_view operation,
                       std::string_view resource) {
    return allow(caller, {.service = service, .operation = operation, .resource = resource})
        .has_value();
  };
  EXPECT_TRUE(may("sts", "GetCallerIdentity", ""));
  EXPECT_TRUE(may("logs", "PutLogEvents", "/app"));
  EXPECT_FALSE(may("logs", "PutLogEvents", "/other"));
  EXPECT_FALSE(may("logs", "PutLogEvents", ""));
  EXPECT_FALSE(may("logs", "DeleteLogGroup", "/app"));
  EXPECT_TRUE(may("ssm", "GetParameters", "db-password"));
  EXPECT_FALSE(may("ssm", "PutParameter", "db-password"));
  EXPECT_TRUE(may("secretsmanager", "GetSecretValue", "db-password"));
  EXPECT_FALSE(may("secretsmanager", "GetSecretValue", "db-password-2"));
  EXPECT_FALSE(may("ecs", "RunTask", ""));
  EXPECT_FALSE(may("ecs", "DescribeTasks", ""));
}

TEST(Allow, who_has_not_signed_may_only_join) {
  const Caller caller{.access_key_id = {},
                      .arn = "anonymous",
                      .account = "1",
                      .user_id = {},
                      .service = "berth",
                      .access = NoAccess{}};
  EXPECT_TRUE(allow(caller, {.service = "berth", .operation = "JoinCluster"}));
  EXPECT_FALSE(allow(caller, {.service = "berth", .operation = "CreateJoinToken"}));
  EXPECT_FALSE(allow(caller, {.service = "sts", .operation = "GetCallerIdentity"}));
}

}  // namespace
}  // namespace auth
