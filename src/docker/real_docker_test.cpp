// The client against a real dockerd.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/queue.h"
#include "base/random.h"
#include "docker/testing_real_docker.h"

namespace docker {
namespace {

using testing::RealDocker;
using testing::test_label;

TEST_F(RealDocker, info_tells_what_the_machine_has) {
  const RuntimeInfo info = client_->info().value();
  EXPECT_FALSE(info.version.empty());
  EXPECT_TRUE(info.api_version.starts_with("1."));
  EXPECT_TRUE(info.root_dir.starts_with('/'));
  EXPECT_NE(std::ranges::find(info.runtimes, "runc"), info.runtimes.end());
  EXPECT_NE(std::ranges::find(info.log_drivers, "json-file"), info.log_drivers.end());
  EXPECT_GT(info.cpus, 0);
  EXPECT_GT(info.memory_bytes, 0);
}

TEST_F(RealDocker, images_are_known_or_missing) {
  EXPECT_TRUE(client_->inspect_image(image_).value().id.starts_with("sha256:"));
  const auto missing = client_->inspect_image("berth-nosuch:1");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().cause, Cause::NotFound);
  EXPECT_NE(missing.error().message.find("docker load"), std::string::npos);
  const auto created = client_->create(
      name("a"),
      json::Value::object({{"Image", "berth-nosuch:1"}, {"Cmd", json::Value::array({"true"})}}));
  ASSERT_FALSE(created.has_value());
  EXPECT_EQ(created.error().cause, Cause::NotFound);
  EXPECT_EQ(created.error().code, "CannotCreateContainerError");
}

TEST_F(RealDocker, a_pull_from_a_registry_that_is_not_there_names_the_way_out) {
  const auto pulled = client_->pull({.image = "127.0.0.1:1/berth/nosuch:1"}, nullptr);
  ASSERT_FALSE(pulled.has_value());
  EXPECT_EQ(pulled.error().code, "CannotPullContainerError");
  EXPECT_EQ(pulled.error().cause, Cause::Other);
  EXPECT_NE(pulled.error().message.find("docker load"), std::string::npos);
}

TEST_F(RealDocker, a_container_runs_to_its_exit_code) {
  const std::string id = create("a", body("exit 3"));
  const ContainerState created = client_->inspect(id).value();
  EXPECT_EQ(created.status, RuntimeStatus::Created);
  EXPECT_EQ(created.name, name("a"));
  EXPECT_EQ(created.image, image_);
  EXPECT_FALSE(created.started_at.has_value());
  ASSERT_TRUE(client_->start(id).has_value());
  const ContainerEvent died = wait_for(id, EventKind::Died);
  EXPECT_EQ(died.exit_code, 3);
  EXPECT_EQ(died.labels, (Labels{{test_label, run_}}));
  const ContainerState state = client_->inspect(name("a")).value();
  EXPECT_EQ(state.runtime_id, id);
  EXPECT_EQ(state.status, RuntimeStatus::Exited);
  EXPECT_EQ(state.exit_code, 3);
  EXPECT_FALSE(state.oom_killed);
  EXPECT_TRUE(state.started_at.has_value());
  ASSERT_TRUE(state.finished_at.has_value());
  EXPECT_GE(*state.finished_at, *state.created_at);
  EXPECT_TRUE(client_->stop(id, std::chrono::seconds(1)).has_value());
  EXPECT_EQ(client_->kill(id, "SIGKILL").error().cause, Cause::Conflict);
  EXPECT_EQ(client_->stats(id).error().cause, Cause::Conflict);
  EXPECT_TRUE(client_->remove(id, {}).has_value());
  EXPECT_TRUE(client_->remove(id, {}).has_value());
  wait_for(id, EventKind::Destroyed);
  for (const auto& error :
       {client_->inspect(id).error(), client_->start(id).error(),
        client_->stop(id, base::Milliseconds(0)).error(), client_->kill(id, "SIGTERM").error()}) {
    EXPECT_EQ(error.code, "ContainerVanishedError") << error.message;
    EXPECT_EQ(error.cause, Cause::NotFound);
  }
}

TEST_F(RealDocker, starting_twice_is_fine_and_a_running_container_is_not_removed) {
  const std::string id = start("a", body("sleep 100"));
  EXPECT_TRUE(client_->start(id).has_value());
  EXPECT_EQ(client_->inspect(id).value().status, RuntimeStatus::Running);
  const auto removed = client_->remove(id, {});
  ASSERT_FALSE(removed.has_value());
  EXPECT_EQ(removed.error().cause, Cause::Conflict);
  EXPECT_TRUE(client_->remove(id, {.force = true}).has_value());
}

TEST_F(RealDocker, a_name_can_be_taken_once) {
  const std::string id = create("a", body("true"));
  const auto second = client_->create(name("a"), body("true"));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().cause, Cause::Conflict);
  EXPECT_NE(second.error().message.find(id), std::string::npos);
}

TEST_F(RealDocker, what_cannot_be_created_or_started_says_why) {
  json::Value runtime = body("true");
  runtime.set("HostConfig", json::Value::object({{"Runtime", "berth-nosuch"}}));
  const auto no_runtime = client_->create(name("a"), runtime);
  ASSERT_FALSE(no_runtime.has_value());
  EXPECT_EQ(no_runtime.error().cause, Cause::BadParameter);
  json::Value program = body("true");
  program.set("Cmd", json::Value::array({"/no/such/program"}));
  const auto no_program = client_->start(create("b", program));
  ASSERT_FALSE(no_program.has_value());
  EXPECT_EQ(no_program.error().code, "CannotStartContainerError");
  EXPECT_EQ(no_program.error().cause, Cause::BadParameter) << no_program.error().message;
  json::Value device = body("true");
  device.set("HostConfig",
             json::Value::object({{"Devices", json::Value::array({json::Value::object(
                                                  {{"PathOnHost", "/dev/berth-nosuch"},
                                                   {"PathInContainer", "/dev/berth-nosuch"},
                                                   {"CgroupPermissions", "rwm"}})})}}));
  const auto no_device = client_->start(create("c", device));
  ASSERT_FALSE(no_device.has_value());
  EXPECT_EQ(no_device.error().cause, Cause::BadParameter) << no_device.error().message;
}

TEST_F(RealDocker, stop_asks_politely_and_then_kills) {
  const std::string polite =
      start("a", body("trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done"));
  const std::string stubborn =
      start("b", body("trap '' TERM; echo ready; while :; do sleep 0.1; done"));
  // Each says when its trap is set.
  for (const std::string& id : {polite, stubborn}) {
    EXPECT_TRUE(
        client_->logs({.id = id, .follow = true}, [](LogLine&&) { return false; }).has_value());
  }
  EXPECT_TRUE(client_->stop(polite, std::chrono::seconds(20)).has_value());
  EXPECT_EQ(client_->inspect(polite).value().exit_code, 7);
  EXPECT_TRUE(client_->stop(stubborn, std::chrono::seconds(1)).has_value());
  EXPECT_EQ(client_->inspect(stubborn).value().exit_code, 137);
}

TEST_F(RealDocker, kill_sends_the_signal) {
  const std::string id =
      start("a", body("trap 'exit 9' USR1; echo ready; while :; do sleep 0.1; done"));
  EXPECT_TRUE(
      client_->logs({.id = id, .follow = true}, [](LogLine&&) { return false; }).has_value());
  EXPECT_TRUE(client_->kill(id, "SIGUSR1").has_value());
  EXPECT_EQ(wait_for(id, EventKind::Died).exit_code, 9);
}

TEST_F(RealDocker, logs_come_whole_with_stream_and_time) {
  const std::string id = start(
      "a",
      body("echo out; echo err >&2; head -c 40000 /dev/zero | tr '\\0' 'x'; echo; printf end"));
  wait_for(id, EventKind::Died);
  for (const bool follow : {false, true}) {
    const std::vector<LogLine> lines = logs(id, follow);
    ASSERT_EQ(lines.size(), 4U);
    std::vector<std::string> out;
    for (const LogLine& line : lines) {
      EXPECT_GT(line.time_ns, 0);
      if (line.stream == OutputStream::Stderr) EXPECT_EQ(line.bytes, "err");
      if (line.stream == OutputStream::Stdout) out.push_back(line.bytes);
    }
    EXPECT_EQ(out, (std::vector<std::string>{"out", std::string(40000, 'x'), "end"}));
  }
  const std::vector<LogLine> lines = logs(id, false);
  std::vector<LogLine> rest;
  EXPECT_TRUE(client_
                  ->logs({.id = id, .tail = 1},
                         [&rest](LogLine&& line) {
                           rest.push_back(std::move(line));
                           return true;
                         })
                  .has_value());
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].bytes, lines.back().bytes);
  EXPECT_EQ(rest[0].time_ns, lines.back().time_ns);
}

TEST_F(RealDocker, logs_of_a_terminal_come_whole_too) {
  json::Value terminal =
      body("echo out; echo err >&2; head -c 40000 /dev/zero | tr '\\0' '2'; echo");
  terminal.set("Tty", true);
  const std::string id = start("a", terminal);
  wait_for(id, EventKind::Died);
  EXPECT_TRUE(client_->inspect(id).value().tty);
  const std::vector<LogLine> lines = logs(id, false);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].bytes, "out\r");
  EXPECT_EQ(lines[1].bytes, "err\r");
  EXPECT_EQ(lines[2].bytes, std::string(40000, '2') + "\r");
}

TEST_F(RealDocker, followed_logs_end_with_the_container_or_when_cancelled) {
  const std::string id = start(
      "a", body("trap 'echo two; sleep 1; exit 0' TERM; echo one; while :; do sleep 0.1; done"));
  std::vector<std::string> lines;
  const auto followed = client_->logs({.id = id, .follow = true}, [&](LogLine&& line) {
    // The second line is written only while this stream waits for it.
    if (lines.empty()) EXPECT_TRUE(client_->kill(id, "SIGTERM").has_value());
    lines.push_back(std::move(line.bytes));
    return true;
  });
  EXPECT_TRUE(followed.has_value());
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
  const std::string endless = start("b", body("echo here; sleep 1000"));
  base::Queue<std::string> heard(10);
  std::stop_source source;
  Result<void> ended;
  std::thread follower([&] {
    ended = client_->logs({.id = endless, .follow = true, .stop = source.get_token()},
                          [&heard](LogLine&& line) { return heard.push(std::move(line.bytes)); });
  });
  EXPECT_EQ(heard.pop(), "here");
  source.request_stop();
  follower.join();
  EXPECT_TRUE(ended.has_value());
}

TEST_F(RealDocker, logs_of_a_driver_that_keeps_none_say_so) {
  json::Value silent = body("true");
  silent.set("HostConfig",
             json::Value::object({{"LogConfig", json::Value::object({{"Type", "none"}})}}));
  const std::string id = start("a", silent);
  const auto read = client_->logs({.id = id}, [](LogLine&&) { return true; });
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, "CannotReadLogsError");
  EXPECT_NE(read.error().message.find("does not support reading"), std::string::npos);
}

TEST_F(RealDocker, events_are_heard_live_until_cancelled) {
  base::Queue<ContainerEvent> heard(100);
  std::stop_source source;
  Result<void> ended;
  std::thread listener([&] {
    ended =
        client_->events({.since_ns = 0, .labels = {{test_label, run_}}, .stop = source.get_token()},
                        [&heard](const ContainerEvent& event) { return heard.push(event); });
  });
  const std::string id = start("a", body("exit 4"));
  std::vector<EventKind> kinds;
  int64_t last_ns = 0;
  while (kinds.empty() || kinds.back() != EventKind::Died) {
    const ContainerEvent event = heard.pop().value();
    EXPECT_EQ(event.runtime_id, id);
    EXPECT_GE(event.time_ns, last_ns);
    last_ns = event.time_ns;
    kinds.push_back(event.kind);
  }
  EXPECT_EQ(kinds,
            (std::vector<EventKind>{EventKind::Created, EventKind::Started, EventKind::Died}));
  source.request_stop();
  listener.join();
  EXPECT_TRUE(ended.has_value());
}

TEST_F(RealDocker, ports_are_bound_and_told) {
  json::Value served = body("sleep 1000");
  served.set("ExposedPorts", json::Value::object({{"80/tcp", json::Value::object()},
                                                  {"53/udp", json::Value::object()}}));
  const json::Value any_port =
      json::Value::array({json::Value::object({{"HostIp", "127.0.0.1"}, {"HostPort", ""}})});
  served.set(
      "HostConfig",
      json::Value::object(
          {{"PortBindings", json::Value::object({{"80/tcp", any_port}, {"53/udp", any_port}})}}));
  const std::string id = start("a", served);
  const ContainerState state = client_->inspect(id).value();
  ASSERT_EQ(state.bindings.size(), 2U);
  EXPECT_EQ(state.bindings[0].container_port, 53);
  EXPECT_EQ(state.bindings[0].udp, true);
  EXPECT_EQ(state.bindings[1].container_port, 80);
  EXPECT_EQ(state.bindings[1].udp, false);
  EXPECT_EQ(state.bindings[1].host_ip, "127.0.0.1");
  EXPECT_GT(state.bindings[1].host_port, 0);
  EXPECT_EQ(state.ip_addresses.size(), 1U);
}

TEST_F(RealDocker, a_network_that_many_make_at_once_is_one) {
  const std::string host = std::getenv("BERTH_TEST_DOCKER");
  const std::string network = name("network");
  const auto other = DockerClient::create(host).value();  // As another process.
  {
    std::vector<std::jthread> makers;
    for (int i = 0; i < 8; ++i) {
      makers.emplace_back([&, maker = i % 2 == 0 ? client_.get() : other.get()] {
        const auto made = maker->create_network({.name = network});
        EXPECT_TRUE(made.has_value()) << made.error().message;
      });
    }
  }
  json::Value joining = body("sleep 1000");
  joining.set("HostConfig", json::Value::object({{"NetworkMode", network}}));
  const std::string id = start("a", joining);
  EXPECT_EQ(client_->inspect(id).value().ip_addresses.size(), 1U);
  ASSERT_TRUE(client_->remove(id, {.force = true, .volumes = true}).has_value());
  const auto removed = http_transport(host).value()->request(
      {.method = "DELETE", .target = "/networks/" + network, .timeout = std::chrono::seconds(10)});
  ASSERT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_EQ(removed->status, 204) << removed->body;
}

TEST_F(RealDocker, a_host_port_can_be_taken_once) {
  const auto served = [this](const std::string& host_port) {
    json::Value result = body("sleep 1000");
    result.set("ExposedPorts", json::Value::object({{"80/tcp", json::Value::object()}}));
    const json::Value binding =
        json::Value::object({{"HostIp", "127.0.0.1"}, {"HostPort", host_port}});
    result.set(
        "HostConfig",
        json::Value::object(
            {{"PortBindings", json::Value::object({{"80/tcp", json::Value::array({binding})}})}}));
    return result;
  };
  const std::string first = start("a", served(""));
  const auto bindings = client_->inspect(first).value().bindings;
  ASSERT_EQ(bindings.size(), 1U);
  const std::string second = create("b", served(std::to_string(bindings[0].host_port)));
  const auto started = client_->start(second);
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, "CannotStartContainerError");
  EXPECT_EQ(started.error().cause, Cause::Conflict) << started.error().message;
  EXPECT_NE(started.error().message.find("hostPort 0"), std::string::npos);
}

// What is killed is a child: the memory that a main process ends for may be told of after its end,
// or not at all.
TEST_F(RealDocker, a_container_over_its_memory_says_so) {
  json::Value greedy = body(
      "(x=$(head -c 64000000 /dev/zero | tr '\\0' 'x'); echo ${#x})\n"
      "sleep 1000");
  greedy.set("HostConfig", json::Value::object(
                               {{"Memory", int64_t{16} << 20}, {"MemorySwap", int64_t{16} << 20}}));
  const std::string id = start("a", greedy);
  wait_for(id, EventKind::OutOfMemory);
  EXPECT_TRUE(client_->kill(id, "SIGKILL").has_value());
  EXPECT_EQ(wait_for(id, EventKind::Died).exit_code, 137);
  EXPECT_TRUE(client_->inspect(id).value().oom_killed);
}

TEST_F(RealDocker, a_running_container_has_stats) {
  const std::string id = start("a", body("sleep 1000"));
  const auto stats = client_->stats(id);
  ASSERT_TRUE(stats.has_value()) << stats.error().message;
  EXPECT_GT(stats->cpu_total_ns, 0U);
  EXPECT_GT(stats->memory_usage_bytes, 0U);
  EXPECT_GT(stats->memory_limit_bytes, 0U);
  EXPECT_GT(stats->pids, 0U);
  EXPECT_TRUE(stats->raw["cpu_stats"].is_object());
}

TEST_F(RealDocker, health_checks_are_told) {
  json::Value checked = body("sleep 1000");
  checked.set("Healthcheck",
              json::Value::object({{"Test", json::Value::array({"CMD-SHELL", "echo well"})},
                                   {"Interval", int64_t{1'000'000'000}},
                                   {"Retries", 1}}));
  const std::string id = start("a", checked);
  EXPECT_EQ(wait_for(id, EventKind::HealthChanged).health, HealthStatus::Healthy);
  const ContainerState state = client_->inspect(id).value();
  EXPECT_EQ(state.health, HealthStatus::Healthy);
  EXPECT_EQ(state.health_output, "well\n");
}

TEST_F(RealDocker, list_shows_the_containers_of_a_label) {
  const std::string stopped = create("a", body("true"));
  const std::string running = start("b", body("sleep 1000"));
  auto list = client_->list({{{test_label, run_}}}).value();
  ASSERT_EQ(list.size(), 2U);
  std::ranges::sort(list, {}, &ContainerSummary::name);
  EXPECT_EQ(list[0].id, stopped);
  EXPECT_EQ(list[0].name, name("a"));
  EXPECT_EQ(list[0].status, RuntimeStatus::Created);
  EXPECT_EQ(list[1].id, running);
  EXPECT_EQ(list[1].status, RuntimeStatus::Running);
  EXPECT_TRUE(client_->list({{{test_label, "nosuch"}}}).value().empty());
}

TEST_F(RealDocker, volumes_are_made_used_and_removed) {
  const std::string volume = name("v");
  const VolumeInfo made =
      client_->create_volume({.name = volume, .labels = {{test_label, run_}}}).value();
  EXPECT_EQ(made.name, volume);
  EXPECT_EQ(made.driver, "local");
  EXPECT_FALSE(made.mount_point.empty());
  EXPECT_EQ(made.labels, (Labels{{test_label, run_}}));
  json::Value user = body("sleep 1000");
  user.set("HostConfig",
           json::Value::object({{"Binds", json::Value::array({json::Value(volume + ":/data")})}}));
  const std::string id = start("a", user);
  EXPECT_EQ(client_->remove_volume(volume).error().cause, Cause::Conflict);
  EXPECT_TRUE(client_->remove(id, {.force = true}).has_value());
  EXPECT_TRUE(client_->inspect_volume(volume).has_value());
  EXPECT_TRUE(client_->remove_volume(volume).has_value());
  EXPECT_TRUE(client_->remove_volume(volume).has_value());
  EXPECT_EQ(client_->inspect_volume(volume).error().cause, Cause::NotFound);
}

TEST_F(RealDocker, many_threads_share_one_client) {
  constexpr int threads = 8;
  std::vector<std::thread> running;
  base::Queue<int64_t> exits(threads);
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([this, i, &exits] {
      const std::string id = start(base::format("t{}", i), body(base::format("exit {}", 10 + i)));
      exits.push(wait_for(id, EventKind::Died).exit_code.value_or(-1));
    });
  }
  for (std::thread& thread : running) thread.join();
  exits.close();
  int64_t sum = 0;
  while (const auto code = exits.pop()) sum += *code;
  EXPECT_EQ(sum, 8 * 10 + 28);
}

}  // namespace
}  // namespace docker
