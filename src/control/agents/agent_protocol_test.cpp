// Transcripts of agents' sessions: what the control plane says when, in words.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "auth/key_derivation.h"
#include "base/format.h"
#include "control/testing.h"
#include "model/capabilities.h"

namespace control {
namespace {

using namespace std::chrono_literals;
using testing::Plane;

std::string id_of(std::string_view arn) {
  return std::string(model::short_id(arn)).substr(0, 4);
}

// "2 payload 1f3a RUNNING": to session 2, the payload of that task.
std::string in_words(const ToAgent& sent) {
  const auto words = [&](std::string_view text) {
    return base::format("{} {}", sent.session, text);
  };
  if (const auto* const payload = std::get_if<acs::PayloadMessage>(&sent.message)) {
    const acs::Task& task = payload->tasks.at(0);
    return words(base::format("payload {} {}", id_of(task.arn), task.desired_status));
  }
  if (const auto* const manifest = std::get_if<acs::TaskManifestMessage>(&sent.message)) {
    std::string text = "manifest";
    for (const auto& task : manifest->tasks) {
      text += base::format(" {}:{}", id_of(task.task_arn), task.desired_status);
    }
    return words(text);
  }
  if (const auto* const role = std::get_if<acs::IAMRoleCredentialsMessage>(&sent.message)) {
    return words(base::format("credentials {} {}", id_of(role->task_arn), role->role_type));
  }
  return words(acs::type_name(sent.message));
}

struct Protocol : ::testing::Test {
  void SetUp() override {
    plane.create_cluster();
    instance = plane.register_instance("c5.2xlarge", "a");
    plane.define("cpu", "");
    plane.sent.clear();
  }

  // What was said since the last time it was asked.
  std::vector<std::string> said() {
    std::vector<std::string> words;
    for (const ToAgent& sent : plane.sent) words.push_back(in_words(sent));
    plane.sent.clear();
    return words;
  }
  template <class Message>
  Message last() const {
    for (auto sent = plane.sent.rbegin(); sent != plane.sent.rend(); ++sent) {
      if (const auto* const found = std::get_if<Message>(&sent->message)) return *found;
    }
    ADD_FAILURE() << "no such message was sent";
    return {};
  }
  Output open(SessionId session, bool send_credentials = false) {
    return plane.step(SessionOpened{.session = session,
                                    .cluster = model::ClusterName("default"),
                                    .instance = instance,
                                    .send_credentials = send_credentials});
  }
  void ack(SessionId session) {
    plane.step(SessionMessage{
        session, acs::AckRequest{.cluster = {},
                                 .container_instance = {},
                                 .message_id = last<acs::PayloadMessage>().message_id}});
  }
  std::string run() { return plane.run_task("cpu")->tasks.at(0).task_arn.value(); }
  void stop(const std::string& task) {
    api::ecs::StopTaskRequest request;
    request.task = task;
    ASSERT_TRUE((plane.call<api::ecs::StopTaskResponse>("StopTask", request)));
  }
  // The instance as clients see it.
  api::ecs::ContainerInstance shown() {
    api::ecs::DescribeContainerInstancesRequest request;
    request.container_instances = {instance.str()};
    return plane
        .call<api::ecs::DescribeContainerInstancesResponse>("DescribeContainerInstances", request)
        ->container_instances.at(0);
  }
  bool connected() const { return plane.core.state().instances.at(instance).agent_connected; }

  // A definition with both roles, and secrets.
  void define_with_roles() {
    model::TaskDefinition made;
    made.family = "roles";
    made.revision = 1;
    auto& definition = made.definition;
    definition.family = "roles";
    definition.revision = 1;
    definition.status = api::ecs::TaskDefinitionStatus::Active;
    definition.task_definition_arn = model::task_definition_arn({}, "roles", 1).str();
    definition.task_role_arn = "reader";
    definition.execution_role_arn = "arn:aws:iam::123456789012:role/executor";
    api::ecs::ContainerDefinition container;
    container.name = "main";
    container.memory = 64;
    api::ecs::Secret secret;
    secret.name = "A";
    secret.value_from = "arn:aws:secretsmanager:us-east-1:123456789012:secret:s-abcdef:key::";
    container.secrets.push_back(secret);
    definition.container_definitions.push_back(std::move(container));
    model::ClusterState state = plane.core.state();
    model::apply(state, model::TaskDefinitionRegistered{std::move(made)});
    Settings settings;
    settings.master_key = "the master key";
    plane.core = Core(std::move(state), settings, 7, plane.now);
  }
  std::string run_with_roles() { return plane.run_task("roles")->tasks.at(0).task_arn.value(); }

  Plane plane;
  model::InstanceArn instance;
};

using Words = std::vector<std::string>;

TEST_F(Protocol, an_unacknowledged_payload_follows_the_manifest_of_each_session) {
  const std::string task = run();
  const std::string id = id_of(task);
  open(1);
  EXPECT_EQ(said(), (Words{"1 manifest " + id + ":RUNNING", "1 payload " + id + " RUNNING"}));
  plane.pass(15s);
  EXPECT_EQ(said(), (Words{"1 payload " + id + " RUNNING"}));
  open(2);
  EXPECT_EQ(said(), (Words{"2 manifest " + id + ":RUNNING", "2 payload " + id + " RUNNING"}));
}

TEST_F(Protocol, a_manifest_is_ahead_of_all_that_the_agent_has_seen_though_the_clock_went_back) {
  open(1);
  run();
  const int64_t seen = last<acs::PayloadMessage>().seq_num;
  plane.now -= 1h;
  plane.core = Core(model::ClusterState(plane.core.state()), Settings{}, 9, plane.now);
  const auto manifest_after = [&](SessionId session, int64_t highest) {
    plane.step(SessionOpened{.session = session,
                             .cluster = model::ClusterName("default"),
                             .instance = instance,
                             .highest = highest});
    return last<acs::TaskManifestMessage>().timeline;
  };
  const int64_t first = manifest_after(1, 1);  // An official agent does not tell.
  EXPECT_GT(first, seen);
  EXPECT_EQ(manifest_after(2, first + 1'000'000'000), first + 1'000'000'001);
  EXPECT_EQ(manifest_after(3, INT64_MAX), INT64_MAX);  // One that is of no use any more.
  EXPECT_LT(manifest_after(4, 1), first + 10);         // It takes the others nowhere.
}

TEST_F(Protocol, numbers_are_reserved_in_steps_and_before_the_message_that_has_one) {
  Output output = open(1);
  ASSERT_EQ(output.messages.size(), 1U);
  const auto reserved = [](const Output& from) {
    return std::ranges::count_if(from.changes, [](const model::Change& change) {
      return std::holds_alternative<model::SequenceNumbersReserved>(change);
    });
  };
  EXPECT_EQ(reserved(output), 1);
  EXPECT_EQ(reserved(open(2)), 0);
  plane.now += 2min;
  EXPECT_EQ(reserved(open(3)), 1);
}

TEST_F(Protocol, the_sessions_of_a_key_that_was_taken_back_are_closed) {
  const std::string key = plane
                              .call<api::berth::CreateAgentKeyResponse>(
                                  "CreateAgentKey", api::berth::CreateAgentKeyRequest{})
                              ->access_key_id.value();
  for (const SessionId session : {SessionId{1}, SessionId{2}}) {
    plane.step(SessionOpened{.session = session,
                             .cluster = model::ClusterName("default"),
                             .instance = instance,
                             .access_key_id = session == 1 ? key : "another"});
  }
  api::berth::DeleteAgentKeyRequest remove;
  remove.id = key;
  ApiCall call{99, find_action("berth", "DeleteAgentKey"), api::Any::make(remove), {}};
  call.caller.service = "berth";
  const Output output = plane.step(std::move(call));
  ASSERT_EQ(output.closes.size(), 1U);
  EXPECT_EQ(output.closes[0].session, 1U);
  EXPECT_NE(output.closes[0].reason.message.find("taken back"), std::string::npos);
  said();
  run();
  EXPECT_EQ(said().at(0).substr(0, 9), "2 payload");
}

TEST_F(Protocol, stopped_is_an_ack_and_an_ack_ends_the_repeats) {
  open(1);
  const std::string refused = run();
  plane.report(refused, "STOPPED");
  const std::string taken = run();
  ack(1);
  said();
  plane.pass(5min);
  for (const std::string& words : said()) EXPECT_EQ(words, "1 HeartbeatMessage");
}

TEST_F(Protocol, a_stop_that_the_agent_missed_is_in_the_manifest_and_in_a_payload) {
  open(1);
  const std::string task = run();
  ack(1);
  plane.report(task, "RUNNING");
  plane.step(SessionClosed{1, {}});
  stop(task);
  said();
  open(2);
  const std::string id = id_of(task);
  EXPECT_EQ(said(), (Words{"2 manifest " + id + ":STOPPED", "2 payload " + id + " STOPPED"}));
}

TEST_F(Protocol, payloads_go_to_the_newest_session_and_to_the_older_when_that_closes) {
  open(1);
  open(2);
  said();
  const std::string first = run();
  EXPECT_EQ(said(), (Words{"2 payload " + id_of(first) + " RUNNING"}));
  plane.step(SessionClosed{2, {}});
  EXPECT_TRUE(connected());
  const std::string second = run();
  EXPECT_EQ(said(), (Words{"1 payload " + id_of(second) + " RUNNING"}));
}

TEST_F(Protocol, a_silent_agent_is_disconnected_within_a_minute_of_its_last_word) {
  open(1);
  const base::Time last_word = plane.now;
  while (connected()) {
    ASSERT_LE(plane.now - last_word, 60s);
    plane.pass(1s);
  }
  EXPECT_EQ(plane.run_task("cpu")->failures.at(0).reason, "AGENT");
  open(2);
  EXPECT_TRUE(connected());
  EXPECT_EQ(plane.run_task("cpu")->tasks.size(), 1U);
}

TEST_F(Protocol, a_connection_that_ends_shows_at_once_and_one_that_is_renewed_does_not) {
  open(1);
  open(2);
  const std::string task = run();
  plane.step(SessionClosed{1, "Connection reset by peer"});
  EXPECT_TRUE(shown().agent_connected.value());
  plane.step(SessionClosed{2, "Connection reset by peer"});
  EXPECT_FALSE(shown().agent_connected.value());
  EXPECT_EQ(shown().status_reason, "The agent's connection has ended: Connection reset by peer.");
  EXPECT_EQ(plane.describe(task).connectivity, api::ecs::Connectivity::Disconnected);
  EXPECT_EQ(plane.describe(task).connectivity_at, plane.now);
  EXPECT_EQ(plane.run_task("cpu")->tasks.size(), 1U)
      << "its grace is not over, and there is no other";
  open(3);
  EXPECT_TRUE(shown().agent_connected.value());
  EXPECT_FALSE(shown().status_reason);
}

TEST_F(Protocol, an_answer_to_every_heartbeat_keeps_the_agent_and_something_is_said_each_minute) {
  open(1);
  base::Time last_message = plane.now;
  for (int i = 0; i < 300; ++i) {
    plane.sent.clear();
    plane.pass(10s);
    for (const ToAgent& sent : plane.sent) {
      const auto& heartbeat = std::get<acs::HeartbeatMessage>(sent.message);
      last_message = plane.now;
      plane.step(SessionMessage{1, acs::HeartbeatAckRequest{.message_id = heartbeat.message_id}});
    }
    ASSERT_LE(plane.now - last_message, 60s);
  }
  EXPECT_TRUE(connected());
}

TEST_F(Protocol, a_session_of_another_cluster_or_of_no_instance_is_refused_by_name) {
  Output output = plane.step(
      SessionOpened{.session = 1, .cluster = model::ClusterName("other"), .instance = instance});
  ASSERT_EQ(output.closes.size(), 1U);
  EXPECT_EQ(output.closes[0].reason.code, "InvalidClusterException");
  output = plane.step(SessionOpened{.session = 2,
                                    .cluster = model::ClusterName("default"),
                                    .instance = model::InstanceArn("arn:none")});
  ASSERT_EQ(output.closes.size(), 1U);
  EXPECT_EQ(output.closes[0].reason.code, "InactiveInstanceException");
}

TEST_F(Protocol, a_copy_of_an_agent_is_refused_for_as_long_as_the_first_one_lives) {
  const auto open_at = [&](SessionId session, const std::string& place, const std::string& host) {
    return plane.step(SessionOpened{.session = session,
                                    .cluster = model::ClusterName("default"),
                                    .instance = instance,
                                    .remote_host = host,
                                    .place = place});
  };
  EXPECT_TRUE(open_at(1, "first", "192.0.2.1").closes.empty());
  plane.sent.clear();
  const Output refused = open_at(2, "second", "192.0.2.2");
  ASSERT_EQ(refused.closes.size(), 1U);
  EXPECT_EQ(refused.closes[0].session, 2U);
  EXPECT_EQ(refused.closes[0].reason.code, "BadRequestException");
  EXPECT_NE(refused.closes[0].reason.message.find("192.0.2.1"), std::string::npos);
  EXPECT_NE(refused.closes[0].reason.message.find("192.0.2.2"), std::string::npos);
  EXPECT_EQ(said(), std::vector<std::string>{"1 HeartbeatMessage"}) << "it is asked at once";
  run();
  EXPECT_TRUE(said().at(0).starts_with("1 payload"));
  // The first one answers: the copy stays out.
  plane.step(SessionMessage{1, acs::HeartbeatAckRequest{.message_id = "h"}});
  plane.now += 5s;
  EXPECT_EQ(open_at(3, "second", "").closes.size(), 1U);
  // It answers no more: the machine was restarted.
  plane.now += Settings{}.heartbeat_timeout;
  plane.step(TimerDue{});
  EXPECT_TRUE(open_at(4, "second", "").closes.empty());
}

TEST_F(Protocol, an_agent_of_the_same_place_or_of_none_may_have_two_sessions_for_a_moment) {
  for (const auto& [session, place] :
       std::vector<std::pair<SessionId, std::string>>{{1, "here"}, {2, "here"}, {3, ""}}) {
    EXPECT_TRUE(plane
                    .step(SessionOpened{.session = session,
                                        .cluster = model::ClusterName("default"),
                                        .instance = instance,
                                        .place = place})
                    .closes.empty());
  }
}

TEST_F(Protocol, another_machine_does_not_register_over_one_that_is_connected) {
  const auto again = [&](const std::string& machine) {
    api::ecs::RegisterContainerInstanceRequest request;
    request.container_instance_arn = instance.str();
    request.instance_identity_document = R"({"instanceType":"c5.2xlarge"})";
    request.attributes.push_back({.name = std::string(model::attribute_machine), .value = machine});
    return plane
        .call<api::ecs::RegisterContainerInstanceResponse>("RegisterContainerInstance", request)
        .has_value();
  };
  EXPECT_TRUE(again("one"));
  EXPECT_TRUE(connected());
  EXPECT_TRUE(again("one"));
  EXPECT_FALSE(again("other"));
  open(1);
  plane.step(SessionClosed{1, {}});
  plane.now += Settings{}.disconnect_grace;
  plane.step(TimerDue{});
  EXPECT_FALSE(connected());
  EXPECT_TRUE(again("other"));
}

TEST_F(Protocol, an_official_agent_tells_its_version_when_it_connects) {
  plane.step(SessionOpened{.session = 1,
                           .cluster = model::ClusterName("default"),
                           .instance = instance,
                           .send_credentials = true,
                           .protocol_version = 2,
                           .agent_version = "1.105.1",
                           .agent_hash = "8dfceca6",
                           .docker_version = "20.10.24"});
  const auto& told = plane.core.state().instances.at(instance);
  EXPECT_EQ(told.agent_version, "1.105.1");
  EXPECT_EQ(told.docker_version, "20.10.24");
  EXPECT_TRUE(told.agent_connected);
}

TEST_F(Protocol, the_keys_of_roles_come_with_the_payload_and_are_good_for_what_it_names) {
  define_with_roles();
  open(1);
  const std::string task = run_with_roles();
  const acs::Task payload = last<acs::PayloadMessage>().tasks.at(0);
  ASSERT_TRUE(payload.role_credentials && payload.execution_role_credentials);
  EXPECT_EQ(payload.role_credentials->role_arn, "arn:aws:iam::123456789012:role/reader");
  EXPECT_NE(payload.role_credentials->credentials_id,
            payload.execution_role_credentials->credentials_id);
  const auto key = auth::KeyDerivation("the master key")
                       .find_session(payload.execution_role_credentials->access_key_id,
                                     payload.execution_role_credentials->session_token);
  ASSERT_TRUE(key);
  const auto& reach = std::get<auth::TaskAccess>(key->access);
  EXPECT_EQ(reach.task, task);
  EXPECT_EQ(reach.secrets, Words{"arn:aws:secretsmanager:us-east-1:123456789012:secret:s-abcdef"});
  ASSERT_EQ(payload.containers.at(0).secrets.size(), 1U);
  EXPECT_EQ(payload.containers[0].secrets[0].provider, "asm");
}

TEST_F(Protocol, keys_are_sent_again_until_acknowledged_and_anew_before_they_expire) {
  define_with_roles();
  open(1);
  const std::string id = id_of(run_with_roles());
  const acs::Task payload = last<acs::PayloadMessage>().tasks.at(0);
  ack(1);
  said();
  plane.pass(16s);
  EXPECT_EQ(said(), (Words{"1 credentials " + id + " TaskApplication",
                           "1 credentials " + id + " TaskExecution"}));
  for (const auto* const sent : {&payload.role_credentials, &payload.execution_role_credentials}) {
    plane.step(SessionMessage{
        1, acs::IAMRoleCredentialsAckRequest{.credentials_id = (*sent)->credentials_id,
                                             .expiration = (*sent)->expiration,
                                             .message_id = "m"}});
  }
  const base::Time end = plane.now + 5h + 1min;
  Words renewed;
  while (plane.now < end) {
    plane.pass(20s);
    for (const std::string& words : said()) {
      if (words.find("credentials") != std::string::npos) renewed.push_back(words);
    }
    plane.step(SessionMessage{1, acs::HeartbeatAckRequest{.message_id = "h"}});
  }
  EXPECT_FALSE(renewed.empty());
  EXPECT_EQ(renewed.front(), "1 credentials " + id + " TaskApplication");
}

TEST_F(Protocol, an_agent_that_has_just_started_gets_the_keys_and_one_that_renews_does_not) {
  define_with_roles();
  open(1);
  const std::string task = run_with_roles();
  ack(1);
  plane.report(task, "RUNNING");
  said();
  open(2);
  EXPECT_EQ(said(), (Words{"2 manifest " + id_of(task) + ":RUNNING"}));
  open(3, true);
  EXPECT_EQ(said(), (Words{"3 credentials " + id_of(task) + " TaskApplication",
                           "3 credentials " + id_of(task) + " TaskExecution",
                           "3 manifest " + id_of(task) + ":RUNNING"}));
  plane.report(task, "STOPPED", 0);
  said();
  plane.pass(10h);
  for (const std::string& words : said()) {
    EXPECT_EQ(words.find("credentials"), std::string::npos) << words;
  }
}

TEST_F(Protocol, health_of_own_running_tasks_is_taken_and_everything_else_ignored) {
  model::ClusterState state = plane.core.state();
  state.task_definitions.at("cpu").at(1).definition.container_definitions[0].health_check.emplace();
  plane.core = Core(std::move(state), Settings{}, 7, plane.now);
  open(1);
  const std::string task = run();
  const auto tell = [&](const model::InstanceArn& from, const std::string& container,
                        const std::string& status) {
    acs::PublishHealthRequest request;
    acs::TaskHealth& told = request.tasks.emplace_back();
    told.task_arn = task;
    told.containers.push_back({.container_name = container,
                               .health_status = status,
                               .status_since = plane.now,
                               .status_message = {}});
    return plane.step(TelemetryReceived{from, std::move(request)}).changes.size();
  };
  EXPECT_EQ(tell(instance, "main", "HEALTHY"), 1U);
  EXPECT_EQ(plane.describe(task).health_status, api::ecs::HealthStatus::Healthy);
  EXPECT_EQ(tell(instance, "main", "HEALTHY"), 0U);
  EXPECT_EQ(tell(instance, "main", "SPLENDID"), 0U);
  EXPECT_EQ(tell(instance, "none", "UNHEALTHY"), 0U);
  EXPECT_EQ(tell(model::InstanceArn("arn:other"), "main", "UNHEALTHY"), 0U);
  plane.report(task, "STOPPED", 0);
  EXPECT_EQ(tell(instance, "main", "UNHEALTHY"), 0U);
}

TEST_F(Protocol, a_task_is_as_healthy_as_its_essential_containers_with_a_health_check) {
  open(1);
  model::ClusterState state = plane.core.state();
  auto& containers = state.task_definitions.at("cpu").at(1).definition.container_definitions;
  for (const char* const name : {"side", "plain"}) {
    api::ecs::ContainerDefinition& made = containers.emplace_back();
    made.name = name;
    made.memory = 8;
    made.essential = std::string_view(name) == "plain";
  }
  containers[0].health_check.emplace();
  containers[1].health_check.emplace();
  plane.core = Core(std::move(state), Settings{}, 7, plane.now);
  open(2);
  const std::string task = run();
  const auto health_after = [&](const std::string& container, const std::string& status) {
    acs::PublishHealthRequest request;
    acs::TaskHealth& told = request.tasks.emplace_back();
    told.task_arn = task;
    told.containers.push_back({.container_name = container,
                               .health_status = status,
                               .status_since = plane.now,
                               .status_message = {}});
    plane.step(TelemetryReceived{instance, std::move(request)});
    return plane.describe(task).health_status;
  };
  EXPECT_EQ(health_after("side", "UNHEALTHY"), api::ecs::HealthStatus::Unknown);
  EXPECT_EQ(health_after("main", "HEALTHY"), api::ecs::HealthStatus::Healthy);
  EXPECT_EQ(health_after("main", "UNHEALTHY"), api::ecs::HealthStatus::Unhealthy);
}

TEST_F(Protocol, what_an_agent_measures_of_gpus_and_checks_is_kept_in_memory) {
  const model::InstanceArn gpus = plane.register_instance("p3.2xlarge", "g");
  const std::string uuid = plane.core.state().instances.at(gpus).gpus.at(0).device.uuid;
  acs::PublishMetricsRequest metrics;
  acs::BerthGpuMetric& gpu = metrics.berth_gpus.emplace_back();
  gpu.gpu_id = uuid;
  gpu.utilization_percent = 87.5;
  gpu.memory_used_mib = 1024;
  plane.step(TelemetryReceived{gpus, std::move(metrics)});
  const auto& usage = plane.core.state().instances.at(gpus).gpus.at(0).usage;
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->memory_used_mib, 1024);
  acs::PublishInstanceStatusRequest status;
  status.statuses.push_back({.type = "AcceleratedCompute",
                             .status = "IMPAIRED",
                             .last_status_change = plane.now,
                             .last_updated = plane.now,
                             .berth_reason = "Xid 79"});
  status.statuses.push_back({.type = "Unheard", .status = "OK", .berth_reason = {}});
  plane.step(TelemetryReceived{gpus, std::move(status)});
  api::ecs::DescribeContainerInstancesRequest request;
  request.container_instances.push_back(gpus.str());
  request.include.push_back(api::ecs::ContainerInstanceField::ContainerInstanceHealth);
  const auto told = plane.call<api::ecs::DescribeContainerInstancesResponse>(
      "DescribeContainerInstances", request);
  ASSERT_TRUE(told);
  const auto& health = *told->container_instances.at(0).health_status;
  EXPECT_EQ(health.overall_status, api::ecs::InstanceHealthCheckState::Impaired);
  ASSERT_EQ(health.details.size(), 2U);
  EXPECT_EQ(health.details[1].status_reason, "Xid 79");
}

TEST_F(Protocol, an_image_of_amazon_ecr_comes_with_its_registry_for_berths_own_agent_only) {
  model::TaskDefinition made;
  made.family = "ecr";
  made.revision = 1;
  made.definition.family = "ecr";
  made.definition.revision = 1;
  made.definition.status = api::ecs::TaskDefinitionStatus::Active;
  made.definition.task_definition_arn = model::task_definition_arn({}, "ecr", 1).str();
  api::ecs::ContainerDefinition container;
  container.name = "main";
  container.memory = 64;
  container.image = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/app:1";
  made.definition.container_definitions.push_back(std::move(container));
  const model::ClusterState before = plane.core.state();
  for (const bool of_berth : {true, false}) {
    model::ClusterState state = before;
    model::apply(state, model::TaskDefinitionRegistered{made});
    if (of_berth) state.instances.at(instance).attributes["berth.agent"] = "1";
    plane.core = Core(std::move(state), Settings{}, 7, plane.now);
    open(1);
    ASSERT_EQ(plane.run_task("ecr")->tasks.size(), 1U);
    const acs::Task payload = last<acs::PayloadMessage>().tasks.at(0);
    const auto& login = payload.containers.at(0).registry_authentication;
    ASSERT_EQ(login.has_value(), of_berth);
    if (!login) continue;
    EXPECT_EQ(login->type, "ecr");
    ASSERT_TRUE(login->ecr_auth_data);
    EXPECT_EQ(login->ecr_auth_data->region, "eu-west-1");
    EXPECT_EQ(login->ecr_auth_data->registry_id, "123456789012");
  }
}

TEST_F(Protocol, a_payload_names_no_container_that_it_lacks_to_an_official_agent) {
  plane.define("gpu", "1");
  for (const bool of_berth : {true, false}) {
    const model::InstanceArn machine = plane.register_instance("p3.2xlarge", of_berth ? "b" : "o");
    model::ClusterState state = plane.core.state();
    if (of_berth) state.instances.at(machine).attributes["berth.agent"] = "1";
    plane.core = Core(std::move(state), Settings{}, of_berth ? 7 : 8, plane.now);
    plane.step(SessionOpened{.session = of_berth ? SessionId{1} : SessionId{2},
                             .cluster = model::ClusterName("default"),
                             .instance = machine});
    const auto ran = plane.run_task("gpu");
    ASSERT_EQ(ran->tasks.size(), 1U);
    const acs::Task started = last<acs::PayloadMessage>().tasks.at(0);
    ASSERT_EQ(started.associations.size(), 1U);
    EXPECT_EQ(started.associations.at(0).containers.at(0), started.containers.at(0).name);
    stop(*ran->tasks.at(0).task_arn);
    const acs::Task stopped = last<acs::PayloadMessage>().tasks.at(0);
    EXPECT_EQ(stopped.desired_status, "STOPPED");
    EXPECT_EQ(stopped.associations.empty(), !of_berth);
  }
}

TEST_F(Protocol, an_official_agents_machine_is_reached_where_its_session_comes_from) {
  const auto address_after = [&](SessionId session, const std::string& host) {
    plane.step(SessionOpened{.session = session,
                             .cluster = model::ClusterName("default"),
                             .instance = instance,
                             .remote_host = host});
    const auto& attributes = plane.core.state().instances.at(instance).attributes;
    const auto found = attributes.find(std::string(model::attribute_host_address));
    return found == attributes.end() ? std::string() : found->second;
  };
  Settings settings;
  settings.poll_endpoint = "https://berth.lan:7117";
  const model::ClusterState before = plane.core.state();
  for (const auto& [host, address] : {std::pair("192.0.2.7", "192.0.2.7"),
                                      {"::1", "berth.lan"},
                                      {"127.0.0.1", "berth.lan"},
                                      {"", ""}}) {
    plane.core = Core(model::ClusterState(before), settings, 7, plane.now);
    EXPECT_EQ(address_after(1, host), address);
  }
  // What the agent itself has told stays.
  model::ClusterState told = before;
  told.instances.at(instance).attributes[std::string(model::attribute_host_address)] = "10.0.0.1";
  plane.core = Core(std::move(told), settings, 7, plane.now);
  EXPECT_EQ(address_after(1, "192.0.2.7"), "10.0.0.1");
}

TEST_F(Protocol, a_container_without_a_gpu_sees_none_whatever_it_asks_for) {
  const model::InstanceArn machine = plane.register_instance("p3.2xlarge", "g");
  plane.define("gpu", "1");
  model::ClusterState state = plane.core.state();
  auto& definition = state.task_definitions.at("gpu").at(1).definition;
  api::ecs::ContainerDefinition side;
  side.name = "side";
  side.memory = 8;
  side.environment.emplace_back().name = "NVIDIA_VISIBLE_DEVICES";
  side.environment.back().value = "all";
  definition.container_definitions.push_back(std::move(side));
  plane.core = Core(std::move(state), Settings{}, 7, plane.now);
  plane.step(
      SessionOpened{.session = 1, .cluster = model::ClusterName("default"), .instance = machine});
  ASSERT_EQ(plane.run_task("gpu")->tasks.size(), 1U);
  const acs::Task payload = last<acs::PayloadMessage>().tasks.at(0);
  EXPECT_FALSE(payload.containers.at(0).environment.contains("NVIDIA_VISIBLE_DEVICES"));
  EXPECT_EQ(payload.containers.at(1).environment.at("NVIDIA_VISIBLE_DEVICES"), "void");
}

// A life of sessions: whatever happens, a running task's payload goes to its own instance, with
// RUNNING only while it is wanted, and numbers only grow.
RC_GTEST_PROP(ProtocolLives, no_payload_is_for_another_instance_or_of_a_stopped_task, ()) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instances[] = {plane.register_instance("c5.2xlarge", "a"),
                                          plane.register_instance("c5.2xlarge", "b")};
  plane.define("cpu", "");
  std::map<SessionId, model::InstanceArn> open;
  std::vector<std::string> tasks;
  SessionId last = 0;
  int64_t number = 0;
  const auto actions = *rc::gen::container<std::vector<std::pair<uint8_t, uint8_t>>>(
      rc::gen::pair(rc::gen::arbitrary<uint8_t>(), rc::gen::arbitrary<uint8_t>()));
  for (const auto& [kind, pick] : actions) {
    plane.sent.clear();
    if (kind % 6 == 0) {
      open[++last] = instances[pick % 2];
      plane.step(SessionOpened{.session = last,
                               .cluster = model::ClusterName("default"),
                               .instance = instances[pick % 2]});
    } else if (kind % 6 == 1 && !open.empty()) {
      plane.step(SessionClosed{open.begin()->first, {}});
      open.erase(open.begin());
    } else if (kind % 6 == 2) {
      const auto answer = plane.run_task("cpu");
      if (answer && !answer->tasks.empty()) tasks.push_back(*answer->tasks[0].task_arn);
    } else if (kind % 6 == 3 && !tasks.empty()) {
      api::ecs::StopTaskRequest request;
      request.task = tasks[pick % tasks.size()];
      static_cast<void>(plane.call<api::ecs::StopTaskResponse>("StopTask", request));
    } else if (kind % 6 == 4 && !tasks.empty()) {
      plane.report(tasks[pick % tasks.size()], pick % 2 == 0 ? "RUNNING" : "STOPPED", 0);
    } else {
      plane.pass(std::chrono::seconds(pick));
      for (const auto& [session, instance] : open) {
        plane.step(SessionMessage{session, acs::HeartbeatAckRequest{.message_id = "h"}});
      }
    }
    for (const ToAgent& sent : plane.sent) {
      const auto* const payload = std::get_if<acs::PayloadMessage>(&sent.message);
      if (payload == nullptr) continue;
      const acs::Task& told = payload->tasks.at(0);
      const model::Task* const task =
          model::find_task(plane.core.state(), model::TaskArn(told.arn));
      RC_ASSERT(task != nullptr);
      RC_ASSERT(payload->container_instance_arn == task->instance.str());
      RC_ASSERT(task->last_status != model::TaskStatus::Stopped);
      number = std::max(number, payload->seq_num);
    }
    model::check_invariants(plane.core.state());
  }
}

}  // namespace
}  // namespace control
