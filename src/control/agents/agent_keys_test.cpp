#include "control/agents/agent_keys.h"

#include <gtest/gtest.h>

#include "auth/key_derivation.h"
#include "control/testing.h"

namespace control {
namespace {

using testing::Plane;

struct AgentKeys : ::testing::Test {
  void SetUp() override {
    plane.create_cluster();
    plane.define("cpu", "");
  }

  api::berth::CreateJoinTokenResponse token(int32_t uses = 1, int64_t ttl_seconds = 3600) {
    api::berth::CreateJoinTokenRequest request;
    request.uses = uses;
    request.ttl_seconds = ttl_seconds;
    return plane.call<api::berth::CreateJoinTokenResponse>("CreateJoinToken", request).value();
  }
  base::Result<api::berth::JoinClusterResponse> join(const std::string& text,
                                                     const std::string& name) {
    api::berth::JoinClusterRequest request;
    request.token = text;
    request.agent_name = name;
    const auth::Caller before = plane.caller;
    plane.caller.access = auth::NoAccess{};
    auto response = plane.call<api::berth::JoinClusterResponse>("JoinCluster", request);
    plane.caller = before;
    return response;
  }
  // From now on calls are an agent's.
  void act_as(const std::string& access_key_id) {
    plane.caller.access_key_id = access_key_id;
    plane.caller.access = auth::AgentAccess{};
  }
  void act_as_owner() { plane.caller = {}; }
  base::Result<std::string> register_machine(const std::string& arn = {}) {
    api::ecs::RegisterContainerInstanceRequest request;
    request.instance_identity_document = R"({"instanceType":"c5.2xlarge"})";
    if (!arn.empty()) request.container_instance_arn = arn;
    auto response = plane.call<api::ecs::RegisterContainerInstanceResponse>(
        "RegisterContainerInstance", request);
    if (!response) return base::fail(response.error());
    return *response->container_instance->container_instance_arn;
  }
  std::string code_of(const base::Result<std::string>& result) {
    return result ? "" : result.error().code;
  }

  Plane plane;
};

TEST_F(AgentKeys, a_token_is_good_for_one_machine_which_may_ask_twice) {
  const auto made = token();
  const auto first = join(*made.token, "the name of machine one");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->cluster, "default");
  EXPECT_EQ(first->secret_access_key, auth::KeyDerivation("").agent_secret(*first->access_key_id));
  EXPECT_EQ(join(*made.token, "the name of machine one")->access_key_id, first->access_key_id);
  const auto second = join(*made.token, "the name of machine two");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "AccessDeniedException");
  EXPECT_EQ(plane.core.state().agent_keys.size(), 1U);
}

TEST_F(AgentKeys, a_token_for_several_machines_gives_each_a_key_of_its_own) {
  const auto made = token(2);
  EXPECT_NE(join(*made.token, "the name of machine one")->access_key_id,
            join(*made.token, "the name of machine two")->access_key_id);
  EXPECT_FALSE(join(*made.token, "the name of machine three"));
}

TEST_F(AgentKeys, one_that_has_expired_or_was_taken_back_or_made_up_is_refused_with_the_reason) {
  const auto late = token(1, 60);
  plane.pass(std::chrono::seconds(61));
  EXPECT_NE(join(*late.token, "the name of machine one").error().message.find("expired"),
            std::string::npos);
  const auto gone = token();
  api::berth::DeleteAgentKeyRequest remove;
  remove.id = gone.token_id;
  ASSERT_TRUE((plane.call<api::berth::DeleteAgentKeyResponse>("DeleteAgentKey", remove)));
  EXPECT_FALSE(join(*gone.token, "the name of machine one"));
  EXPECT_FALSE(join("berth-join.0000.0000", "the name of machine one"));
  EXPECT_TRUE(plane.core.state().agent_keys.empty());
  plane.pass(std::chrono::hours(26));
  EXPECT_TRUE(plane.core.state().join_tokens.empty());
}

TEST_F(AgentKeys, a_key_is_bound_to_the_instance_that_registers_with_it) {
  const std::string key = join(*token().token, "the name of machine one")->access_key_id.value();
  act_as(key);
  const std::string arn = register_machine().value();
  EXPECT_EQ(plane.core.state().agent_keys.at(key).instance.str(), arn);
  EXPECT_EQ(register_machine(arn), arn);
  EXPECT_EQ(plane.run_task("cpu").error().code, "AccessDeniedException");
}

TEST_F(AgentKeys, a_key_cannot_register_or_report_for_another_instance) {
  const std::string other = plane.register_instance("c5.2xlarge", "other").str();
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  act_as(join(*token().token, "the name of machine one")->access_key_id.value());
  ASSERT_TRUE(register_machine());
  EXPECT_EQ(code_of(register_machine(other)), "AccessDeniedException");
  api::ecs::SubmitTaskStateChangeRequest report;
  report.task = task;
  report.status = "STOPPED";
  const auto answer =
      plane.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "AccessDeniedException");
}

TEST_F(AgentKeys, a_key_that_has_not_registered_yet_cannot_become_another_instance) {
  const std::string other = plane.register_instance("c5.2xlarge", "other").str();
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  const std::string key = join(*token().token, "the name of machine one")->access_key_id.value();
  act_as(key);
  EXPECT_EQ(code_of(register_machine(other)), "AccessDeniedException");
  EXPECT_TRUE(plane.core.state().agent_keys.at(key).instance.str().empty());
  api::ecs::DiscoverPollEndpointRequest discover;
  discover.container_instance = other;
  EXPECT_FALSE(
      (plane.call<api::ecs::DiscoverPollEndpointResponse>("DiscoverPollEndpoint", discover)));
  api::ecs::SubmitTaskStateChangeRequest report;
  report.task = task;
  report.status = "STOPPED";
  const auto answer =
      plane.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "AccessDeniedException");
  EXPECT_TRUE(register_machine());
}

TEST_F(AgentKeys, a_second_machine_with_the_same_key_is_refused_while_the_first_has_tasks) {
  act_as(join(*token().token, "the name of machine one")->access_key_id.value());
  const std::string first = register_machine().value();
  act_as_owner();
  ASSERT_EQ(plane.run_task("cpu")->tasks.size(), 1U);
  act_as(plane.core.state().agent_keys.begin()->first);
  EXPECT_EQ(code_of(register_machine()), "AccessDeniedException");
  EXPECT_EQ(plane.core.state().instances.size(), 1U);
  EXPECT_EQ(register_machine(first), first);
}

TEST_F(AgentKeys, a_machine_that_lost_its_data_registers_anew_and_the_empty_instance_goes) {
  act_as(join(*token().token, "the name of machine one")->access_key_id.value());
  const model::InstanceArn first(register_machine().value());
  const std::string second = register_machine().value();
  EXPECT_NE(first.str(), second);
  EXPECT_EQ(plane.core.state().instances.at(first).status, model::InstanceStatus::Inactive);
}

TEST_F(AgentKeys, a_key_that_was_taken_back_is_unknown_at_once) {
  const std::string key = join(*token().token, "the name of machine one")->access_key_id.value();
  api::berth::DeleteAgentKeyRequest remove;
  remove.id = key;
  ASSERT_TRUE((plane.call<api::berth::DeleteAgentKeyResponse>("DeleteAgentKey", remove)));
  act_as(key);
  EXPECT_EQ(code_of(register_machine()), "UnrecognizedClientException");
}

TEST_F(AgentKeys, a_new_key_of_an_instance_acts_as_it_and_the_old_one_can_go) {
  const std::string old_key =
      join(*token().token, "the name of machine one")->access_key_id.value();
  act_as(old_key);
  const std::string arn = register_machine().value();
  act_as_owner();
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  api::berth::CreateAgentKeyRequest create;
  create.container_instance = std::string(model::short_id(arn));
  const auto made = plane.call<api::berth::CreateAgentKeyResponse>("CreateAgentKey", create);
  ASSERT_TRUE(made) << made.error().message;
  api::berth::DeleteAgentKeyRequest remove;
  remove.id = old_key;
  ASSERT_TRUE((plane.call<api::berth::DeleteAgentKeyResponse>("DeleteAgentKey", remove)));
  act_as(old_key);
  EXPECT_EQ(code_of(register_machine(arn)), "UnrecognizedClientException");
  act_as(*made->access_key_id);
  EXPECT_EQ(register_machine(arn).value(), arn);
  plane.report(task, "RUNNING");
  act_as_owner();
  EXPECT_EQ(plane.describe(task).last_status, "RUNNING");
  EXPECT_EQ(plane.core.state().instances.size(), 1U);
}

TEST_F(AgentKeys, a_token_of_an_instance_gives_a_key_that_acts_as_it) {
  const std::string arn = plane.register_instance("c5.2xlarge", "one").str();
  api::berth::CreateJoinTokenRequest create;
  create.container_instance = arn;
  create.uses = 2;
  EXPECT_EQ(
      (plane.call<api::berth::CreateJoinTokenResponse>("CreateJoinToken", create).error().code),
      "InvalidParameterException");
  create.uses = {};
  const auto made = plane.call<api::berth::CreateJoinTokenResponse>("CreateJoinToken", create);
  ASSERT_TRUE(made) << made.error().message;
  act_as(join(*made->token, "the name of machine one")->access_key_id.value());
  EXPECT_EQ(register_machine(arn).value(), arn);
}

TEST_F(AgentKeys, nobody_becomes_the_agent_of_an_instance_that_is_gone) {
  const model::InstanceArn arn = plane.register_instance("c5.2xlarge", "one");
  api::ecs::DeregisterContainerInstanceRequest gone;
  gone.container_instance = arn.str();
  ASSERT_TRUE((plane.call<api::ecs::DeregisterContainerInstanceResponse>(
      "DeregisterContainerInstance", gone)));
  const size_t keys = plane.core.state().agent_keys.size();
  for (const std::string& instance : {arn.str(), std::string(32, '0')}) {
    api::berth::CreateAgentKeyRequest create;
    create.container_instance = instance;
    const auto made = plane.call<api::berth::CreateAgentKeyResponse>("CreateAgentKey", create);
    ASSERT_FALSE(made) << instance;
    EXPECT_EQ(made.error().code, "InvalidParameterException");
  }
  EXPECT_EQ(plane.core.state().agent_keys.size(), keys);
}

// An agent with a key of its own and an open session, and a task with a role.
struct AgentWithRole : AgentKeys {
  void SetUp() override {
    AgentKeys::SetUp();
    model::ClusterState state = plane.core.state();
    model::TaskDefinition made = state.task_definitions.at("cpu").at(1);
    made.revision = 2;
    made.definition.revision = 2;
    made.definition.task_definition_arn = model::task_definition_arn({}, "cpu", 2).str();
    made.definition.task_role_arn = "arn:aws:iam::123456789012:role/reader";
    model::apply(state, model::TaskDefinitionRegistered{std::move(made)});
    plane.core = Core(std::move(state), Settings{}, 3, plane.now);
    key = *join(*token().token, "the name of machine one")->access_key_id;
    act_as(key);
    instance = model::InstanceArn(register_machine().value());
    act_as_owner();
  }
  SessionOpened opening(SessionId session) const {
    return {.session = session,
            .cluster = model::ClusterName("default"),
            .instance = instance,
            .send_credentials = true,
            .access_key_id = key,
            .by_agent_key = true};
  }
  Output take_back() {
    api::berth::DeleteAgentKeyRequest request;
    request.id = key;
    plane.caller.service = "berth";
    return plane.step(ApiCall{++plane.last_id, find_action("berth", "DeleteAgentKey"),
                              api::Any::make(std::move(request)), plane.caller});
  }

  std::string key;
  model::InstanceArn instance;
};

TEST_F(AgentWithRole, the_keys_of_roles_that_an_agent_gets_end_with_its_own) {
  plane.step(opening(1));
  ASSERT_EQ(plane.run_task("cpu")->tasks.size(), 1U);
  const auto* const payload = std::get_if<acs::PayloadMessage>(&plane.sent.back().message);
  ASSERT_NE(payload, nullptr);
  const auto& credentials = payload->tasks.at(0).role_credentials;
  ASSERT_TRUE(credentials);
  const auto made =
      auth::KeyDerivation("").find_session(credentials->access_key_id, credentials->session_token);
  ASSERT_TRUE(made);
  EXPECT_EQ(std::get<auth::TaskAccess>(made->access).through, key);
}

TEST_F(AgentWithRole, a_key_that_is_taken_back_closes_its_session_and_opens_none) {
  plane.step(opening(1));
  const Output gone = take_back();
  ASSERT_EQ(gone.closes.size(), 1U);
  EXPECT_EQ(gone.closes[0].session, 1U);
  // It was verified before, and comes after.
  const Output late = plane.step(opening(2));
  ASSERT_EQ(late.closes.size(), 1U);
  EXPECT_EQ(late.closes[0].session, 2U);
  EXPECT_TRUE(late.messages.empty());
}

}  // namespace
}  // namespace control
