// The agent as a whole, on a Docker in memory and a small control plane in the same process.
#include "agent/agent.h"

#include <gmock/gmock.h>

#include "agent/testing.h"
#include "agent/testing_processes.h"
#include "base/log.h"
#include "docker/fake.h"
#include "gpu/fake_devices.h"
#include "model/capabilities.h"

namespace agent {
namespace {

using testing::ControlPlane;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::patience;
using testing::Seen;
using testing::simple_task;
using testing::with_logs;

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() {
    base::set_log_level(base::LogLevel::Error);
    docker_.add_image("busybox");
    // Events are asked for from the agent's start on, by the real clock.
    docker_.set_time(clock_.now() + std::chrono::hours(1));
  }

  std::unique_ptr<gpu::FakeDevices> devices() {
    auto made = std::make_unique<gpu::FakeDevices>();
    for (const std::string uuid : {"GPU-a", "GPU-b"}) {
      made->inventory.gpus.push_back({.uuid = uuid,
                                      .model = "Tesla V100-SXM2-16GB",
                                      .architecture = "Volta",
                                      .memory_mib = 16160,
                                      .nvlinks = {{"GPU-x", 2}},
                                      .emulated = true});
    }
    made->inventory.driver_version = "570.86.15";
    made->uses = uses_;
    made->events = health_;
    return made;
  }

  void start() { start(testing::options_for(plane_, directory_.path())); }
  void start(AgentOptions options) {
    auto started = Agent::start(std::move(options), devices(), access_, clock_);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    agent_ = std::move(*started);
  }
  void start_connected() {
    start();
    ASSERT_TRUE(plane_.await_connected());
  }

  std::string container_of(const std::string& family_container) {
    for (const std::string& name : docker_.container_names()) {
      if (name.starts_with("ecs-" + family_container)) return name;
    }
    ADD_FAILURE() << "no container " << family_container;
    return "";
  }

  base::SystemClock clock_;
  docker::FakeRuntime docker_;
  testing::FakeProcesses processes_{docker_};
  DockerAccess access_{docker_, docker_, docker_, processes_};
  testing::TemporaryDirectory directory_;
  ControlPlane plane_;
  std::map<std::string, gpu::DeviceUse> uses_;
  std::vector<gpu::HealthEvent> health_;
  std::unique_ptr<Agent> agent_;  // Last: it goes first.
};

TEST_F(AgentTest, registers_the_machine_with_everything_that_tasks_may_require) {
  start_connected();
  const auto request = plane_.with([](Seen& seen) { return seen.registrations.at(0); });
  EXPECT_EQ(request.cluster, "default");
  EXPECT_FALSE(request.container_instance_arn.has_value());
  EXPECT_FALSE(request.berth_status_reason.has_value());
  std::map<std::string, std::string> attributes;
  for (const auto& one : request.attributes) attributes[*one.name] = one.value.value_or("");
  for (const std::string_view capability : model::capabilities_of_every_agent) {
    EXPECT_TRUE(attributes.contains(std::string(capability))) << capability;
  }
  EXPECT_EQ(attributes["berth.agent"], "0.1.0");
  EXPECT_EQ(attributes["berth.gpu-model"], "Tesla V100-SXM2-16GB");
  EXPECT_EQ(attributes["berth.gpu-arch"], "Volta");
  EXPECT_EQ(attributes["berth.gpu-memory-mib"], "16160");
  EXPECT_EQ(attributes["berth.gpu-count"], "2");
  EXPECT_EQ(attributes["berth.gpu-nvlink"], "true");
  EXPECT_EQ(attributes["ecs.capability.gpu-driver-version"], "570.86.15");
  EXPECT_TRUE(attributes.contains("ecs.capability.nvidia-driver-version.570.86.15"));
  EXPECT_EQ(attributes["ecs.os-type"], "linux");
  EXPECT_EQ(attributes["ecs.availability-zone"], "us-east-1a");
  ASSERT_EQ(request.platform_devices.size(), 2U);
  EXPECT_EQ(request.platform_devices[1].id, "GPU-b");
  EXPECT_EQ(request.platform_devices[0].berth_gpu->model, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(request.platform_devices[0].berth_gpu->nv_links[0].lanes, 2);
  EXPECT_THAT(*request.instance_identity_document, HasSubstr(agent_->instance_id()));
  EXPECT_EQ(request.total_resources[0].name, "CPU");
  EXPECT_GE(*request.total_resources[0].integer_value, 1024);
  EXPECT_EQ(request.total_resources[2].string_set_value.size(), 5U);
  EXPECT_TRUE(plane_.with([](Seen& seen) { return seen.all_signed; }));
}

TEST_F(AgentTest, an_emulated_instance_has_the_figures_of_the_catalogue) {
  AgentOptions options = testing::options_for(plane_, directory_.path());
  options.emulated_instance_type = "p3.8xlarge";
  options.attributes = {{"rack", "7"}};
  start(options);
  ASSERT_TRUE(plane_.await_connected());
  const auto request = plane_.with([](Seen& seen) { return seen.registrations.at(0); });
  EXPECT_EQ(request.berth_emulated_instance_type, "p3.8xlarge");
  EXPECT_EQ(*request.total_resources[0].integer_value, 32 * 1024);
  EXPECT_EQ(*request.total_resources[1].integer_value, 244 * 1024);
  EXPECT_THAT(*request.instance_identity_document, HasSubstr("p3.8xlarge"));
  bool has_rack = false;
  for (const auto& one : request.attributes) has_rack = has_rack || one.name == "rack";
  EXPECT_TRUE(has_rack);
}

TEST_F(AgentTest, an_unknown_emulated_type_and_a_missing_key_are_refused) {
  AgentOptions options = testing::options_for(plane_, directory_.path());
  options.emulated_instance_type = "p3.9xlarge";
  auto refused = Agent::start(options, devices(), access_, clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("p3.8xlarge"));
  options.emulated_instance_type.clear();
  options.secret_access_key.clear();
  refused = Agent::start(options, devices(), access_, clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "InvalidParameterException");
}

TEST_F(AgentTest, connects_as_the_protocol_says_and_answers_heartbeats) {
  start_connected();
  const auto target = plane_.with([](Seen& seen) { return seen.connects.at(0); });
  EXPECT_THAT(target, HasSubstr("/acs/ws?clusterArn=default&containerInstanceArn=arn%3Aaws"));
  EXPECT_THAT(target, HasSubstr("&protocolVersion=2&sendCredentials=true&seqNum=1"));
  plane_.send(acs::HeartbeatMessage{.message_id = "beat"});
  EXPECT_TRUE(
      plane_.await([](Seen& seen) { return seen.acks == std::vector<std::string>{"beat"}; }));
  EXPECT_TRUE(plane_.await([](Seen& seen) {
    return !seen.telemetry.empty() && seen.telemetry[0] == R"({"type":"PublishMetricsRequest")";
  }));
  const AgentStatus status = agent_->status();
  EXPECT_TRUE(status.registered && status.connected && status.docker_ready && status.idle);
  EXPECT_EQ(status.container_instance_arn, testing::instance_arn);
  EXPECT_EQ(status.reason, "");
}

TEST_F(AgentTest, runs_a_task_to_its_end_and_reports_its_exit_code) {
  start_connected();
  plane_.send_task(simple_task("t1", "busybox"));
  ASSERT_TRUE(plane_.await_submit("RUNNING main=RUNNING"));
  EXPECT_TRUE(plane_.await([](Seen& seen) { return seen.acks == std::vector<std::string>{"m1"}; }));
  docker_.exit_container(container_of("f-1-main"), 3);
  ASSERT_TRUE(plane_.await_submit("STOPPED main=STOPPED(3)"));
  EXPECT_TRUE(agent_->status().idle);
}

TEST_F(AgentTest, a_container_gets_its_gpus_and_no_other_and_they_are_proven_empty) {
  start_connected();
  acs::Task task = simple_task("t1", "busybox");
  acs::Container side;
  side.name = "side";
  side.image = "busybox";
  side.environment["NVIDIA_VISIBLE_DEVICES"] = "all";
  task.containers.push_back(side);
  acs::Association& association = task.associations.emplace_back();
  association.type = "gpu";
  association.name = "GPU-b";
  association.containers = {"main"};
  plane_.send_task(task);
  ASSERT_TRUE(plane_.await_submit("RUNNING main=RUNNING side=RUNNING"));
  const auto main = json::print(docker_.body_of(container_of("f-1-main"))["Env"]);
  EXPECT_THAT(main, HasSubstr("NVIDIA_VISIBLE_DEVICES=GPU-b\""));
  const auto other = json::print(docker_.body_of(container_of("f-1-side"))["Env"]);
  EXPECT_THAT(other, HasSubstr("NVIDIA_VISIBLE_DEVICES=void\""));
  docker_.exit_container(container_of("f-1-main"), 0);
  ASSERT_TRUE(plane_.await(
      [](Seen& seen) { return !seen.submits.empty() && seen.submits.back().status == "STOPPED"; }));
  const auto last = plane_.with([](Seen& seen) { return seen.submits.back(); });
  ASSERT_EQ(last.gpu_release.size(), 1U);
  EXPECT_EQ(last.gpu_release[0].gpu_id, "GPU-b");
  EXPECT_EQ(last.gpu_release[0].empty, true);
}

TEST_F(AgentTest, an_unknown_gpu_fails_the_task_with_its_name) {
  start_connected();
  acs::Task task = simple_task("t1", "busybox");
  acs::Association& association = task.associations.emplace_back();
  association.type = "gpu";
  association.name = "GPU-nowhere";
  association.containers = {"main"};
  plane_.send_task(task);
  ASSERT_TRUE(plane_.await([](Seen& seen) {
    return seen.last_submit().starts_with(
        "STOPPED main=STOPPED [CannotCreateContainerError: GPU GPU-nowhere is not on this "
        "container "
        "instance");
  }));
}

TEST_F(AgentTest, an_image_that_cannot_be_had_is_the_reason_of_the_task) {
  start_connected();
  plane_.send_task(simple_task("t1", "nowhere/image:1"));
  ASSERT_TRUE(plane_.await([](Seen& seen) {
    return seen.last_submit().starts_with("STOPPED main=STOPPED [CannotPullContainerError: ");
  }));
}

TEST_F(AgentTest, the_output_is_there_when_the_task_has_stopped) {
  start_connected();
  plane_.send_task(with_logs(simple_task("t1", "busybox"), true));
  ASSERT_TRUE(plane_.await_submit("RUNNING main=RUNNING"));
  const std::string container = container_of("f-1-main");
  EXPECT_EQ(docker_.body_of(container)["HostConfig"]["LogConfig"]["Type"].text_or(""), "json-file");
  for (int i = 0; i < 5; ++i) {
    docker_.write_log(container, docker::OutputStream::Stdout, base::format("line {}", i));
  }
  docker_.exit_container(container, 0);
  ASSERT_TRUE(plane_.await_submit("STOPPED main=STOPPED(0)"));
  EXPECT_THAT(plane_.lines("g", "p/main/t1"),
              ElementsAre("line 0", "line 1", "line 2", "line 3", "line 4"));
}

TEST_F(AgentTest, a_missing_log_group_keeps_the_container_from_starting) {
  start_connected();
  plane_.send_task(with_logs(simple_task("t1", "busybox"), false));
  ASSERT_TRUE(plane_.await_submit(
      "STOPPED main=STOPPED [CannotStartContainerError: failed to initialize logging driver: "
      "failed "
      "to create Cloudwatch log stream: ResourceNotFoundException: The specified log group does "
      "not "
      "exist. Create the log group g, or set the log option awslogs-create-group to true.]"));
  EXPECT_EQ(docker_.calls(docker::Operation::Start), 0U);
}

TEST_F(AgentTest, a_log_driver_that_does_not_start_tells_no_secret_of_its_options) {
  start_connected();
  acs::Task task = simple_task("t1", "busybox");
  acs::Container& container = task.containers.front();
  container.docker_config.emplace().host_config =
      R"({"LogConfig":{"Type":"splunk","Config":{"splunk-url":"https://there"}}})";
  acs::Secret& token = container.secrets.emplace_back();
  token.name = "splunk-token";
  token.value_from = "/token";
  token.provider = "ssm";
  token.target = "LOG_DRIVER";
  docker_.fail_call(
      docker::Operation::Start, 1,
      docker::daemon_error(docker::Operation::Start, 500,
                           "failed to initialize logging driver: splunk: https://there "
                           "does not know the token the-secret-value"));
  plane_.send_task(task);
  ASSERT_TRUE(plane_.await([](Seen& seen) { return seen.last_submit().starts_with("STOPPED"); }));
  const std::string told = plane_.with([](Seen& seen) { return seen.last_submit(); });
  EXPECT_THAT(told, HasSubstr("CannotStartContainerError: "));
  EXPECT_THAT(told, HasSubstr("https://there does not know the token ***"));
  EXPECT_EQ(
      docker_.body_of(container_of("f-1-main"))["HostConfig"]["LogConfig"]["Config"]["splunk-token"]
          .text_or(""),
      "the-secret-value");
}

TEST_F(AgentTest, a_stopped_agent_leaves_containers_and_the_next_one_takes_them_over) {
  start_connected();
  plane_.send_task(with_logs(simple_task("t1", "busybox"), true));
  ASSERT_TRUE(plane_.await_submit("RUNNING main=RUNNING"));
  const std::string container = container_of("f-1-main");
  docker_.write_log(container, docker::OutputStream::Stdout, "before");
  ASSERT_TRUE(plane_.await_lines("g", "p/main/t1", 1));
  const std::string name = agent_->name();
  agent_.reset();
  docker_.write_log(container, docker::OutputStream::Stdout, "meanwhile");
  docker_.exit_container(container, 7);
  start();
  EXPECT_EQ(agent_->name(), name);
  ASSERT_TRUE(plane_.await_submit("STOPPED main=STOPPED(7)"));
  EXPECT_THAT(plane_.lines("g", "p/main/t1"), ElementsAre("before", "meanwhile"));
  // What it knew of its tasks does not wait for its registration.
  ASSERT_TRUE(plane_.await([](Seen& seen) { return seen.registrations.size() >= 2; }));
  EXPECT_EQ(
      plane_.with([](Seen& seen) { return seen.registrations.back(); }).container_instance_arn,
      testing::instance_arn);
}

TEST_F(AgentTest, no_line_is_lost_or_told_twice_when_the_control_plane_restarts) {
  start_connected();
  plane_.send_task(with_logs(simple_task("t1", "busybox"), true));
  ASSERT_TRUE(plane_.await_submit("RUNNING main=RUNNING"));
  const std::string container = container_of("f-1-main");
  docker_.write_log(container, docker::OutputStream::Stdout, "one");
  ASSERT_TRUE(plane_.await_lines("g", "p/main/t1", 1));
  plane_.down();
  docker_.write_log(container, docker::OutputStream::Stderr, "two");
  docker_.write_log(container, docker::OutputStream::Stdout, "three");
  docker_.exit_container(container, 0);
  plane_.up();
  ASSERT_TRUE(plane_.await_submit("STOPPED main=STOPPED(0)"));
  ASSERT_TRUE(plane_.await_lines("g", "p/main/t1", 3));
  EXPECT_THAT(plane_.lines("g", "p/main/t1"), ElementsAre("one", "two", "three"));
}

TEST_F(AgentTest,
       without_docker_it_is_registered_with_the_reason_and_connects_when_docker_is_back) {
  docker_.set_reachable(false);
  start();
  ASSERT_TRUE(plane_.await([](Seen& seen) { return !seen.registrations.empty(); }));
  const auto first = plane_.with([](Seen& seen) { return seen.registrations.at(0); });
  EXPECT_FALSE(first.berth_status_reason.value_or("").empty());
  EXPECT_EQ(plane_.with([](Seen& seen) { return seen.connects.size(); }), 0U);
  const AgentStatus status = agent_->status();
  EXPECT_FALSE(status.docker_ready);
  EXPECT_NE(status.reason, "");
  docker_.set_reachable(true);
  ASSERT_TRUE(plane_.await_connected());
  const auto last = plane_.with([](Seen& seen) { return seen.registrations.back(); });
  EXPECT_EQ(last.container_instance_arn, testing::instance_arn);
  EXPECT_FALSE(last.berth_status_reason.has_value());
}

TEST_F(AgentTest, a_refused_registration_is_the_status_reason) {
  plane_.refuse("RegisterContainerInstance", "ClientException", "No such cluster.", 1000);
  start();
  std::string reason;
  for (int i = 0; i < 20'000 && !reason.contains("No such cluster."); ++i) {
    usleep(1'000);
    reason = agent_->status().reason;
  }
  EXPECT_EQ(reason, "ClientException: No such cluster.");
  EXPECT_FALSE(agent_->status().registered);
}

TEST_F(AgentTest, an_instance_that_is_not_known_any_more_registers_anew) {
  start_connected();
  agent_.reset();
  plane_.refuse("RegisterContainerInstance", "InvalidParameterException",
                "The referenced container instance was not found.");
  start_connected();
  const auto last = plane_.with([](Seen& seen) { return seen.registrations.back(); });
  EXPECT_FALSE(last.container_instance_arn.has_value());
}

TEST_F(AgentTest, reconnects_when_the_control_plane_comes_back_and_asks_for_no_credentials) {
  start_connected();
  plane_.down();
  plane_.up();
  ASSERT_TRUE(plane_.await([](Seen& seen) { return seen.connects.size() >= 2 && seen.control; }));
  EXPECT_THAT(plane_.with([](Seen& seen) { return seen.connects.back(); }),
              HasSubstr("sendCredentials=false"));
}

TEST_F(AgentTest, a_gpu_that_fails_is_told_by_registering_again) {
  health_ = {{.uuid = "GPU-b", .usable = false, .xid = 79, .reason = "It fell off the bus."}};
  start();
  ASSERT_TRUE(plane_.await([](Seen& seen) {
    if (seen.registrations.empty()) return false;
    const auto& gpus = seen.registrations.back().platform_devices;
    return gpus[1].berth_gpu->healthy == false &&
           gpus[1].berth_gpu->health_reason == "It fell off the bus." &&
           gpus[0].berth_gpu->healthy == true;
  }));
}

TEST_F(AgentTest, stop_all_tasks_waits_until_they_have_stopped) {
  start_connected();
  plane_.send_task(simple_task("t1", "busybox"));
  plane_.send_task(simple_task("t2", "busybox"));
  ASSERT_TRUE(plane_.await([](Seen& seen) {
    std::set<std::string> running;
    for (const auto& one : seen.submits) {
      if (one.status == "RUNNING") running.insert(*one.task);
    }
    return running.size() == 2;
  }));
  EXPECT_TRUE(agent_->stop_all_tasks("The machine is needed elsewhere.", patience));
  const auto submits = plane_.with([](Seen& seen) { return seen.submits; });
  size_t stopped = 0;
  for (const auto& one : submits) {
    if (one.status != "STOPPED") continue;
    ++stopped;
    EXPECT_EQ(one.reason, "The machine is needed elsewhere.");
  }
  EXPECT_EQ(stopped, 2U);
}

TEST_F(AgentTest, two_agents_cannot_have_one_data_directory) {
  start();
  const auto second =
      Agent::start(testing::options_for(plane_, directory_.path()), devices(), access_, clock_);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, "Busy");
}

TEST_F(AgentTest, a_stopped_agent_answers_that_it_has_stopped) {
  start_connected();
  agent_->stop();
  agent_->stop();
  EXPECT_EQ(agent_->status().reason, "The agent has stopped.");
  EXPECT_FALSE(agent_->stop_all_tasks("", patience));
}

}  // namespace
}  // namespace agent
