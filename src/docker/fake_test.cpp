#include "docker/fake.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace docker {
namespace {

json::Value body_with_port(const char* host_port) {
  return json::Value::object(
      {{"Image", "busybox"},
       {"Labels", json::Value::object({{"task", "t1"}})},
       {"HostConfig",
        json::Value::object(
            {{"PortBindings",
              json::Value::object({{"80/tcp", json::Value::array({json::Value::object(
                                                  {{"HostPort", host_port}})})}})}})}});
}

struct Fake : ::testing::Test {
  Fake() {
    fake.add_image("busybox");
    fake.set_time(base::parse_rfc3339("2026-01-01T00:00:00Z").value());
  }
  std::string run(const std::string& name, const char* host_port = "") {
    const std::string id = fake.create(name, body_with_port(host_port)).value().runtime_id;
    EXPECT_TRUE(fake.start(id).has_value());
    return id;
  }
  FakeRuntime fake;
};

TEST_F(Fake, a_container_lives_from_create_to_remove) {
  const std::string id = fake.create("a", body_with_port("")).value().runtime_id;
  EXPECT_EQ(fake.inspect("a").value().status, RuntimeStatus::Created);
  EXPECT_TRUE(fake.start(id).has_value());
  const ContainerState running = fake.inspect(id).value();
  EXPECT_NE(running.pid, 0);
  ASSERT_EQ(running.bindings.size(), 1U);
  EXPECT_EQ(running.bindings[0], (Binding{80, "0.0.0.0", 32768, false}));
  fake.exit_container("a", 3);
  const ContainerState exited = fake.inspect(id).value();
  EXPECT_EQ(exited.status, RuntimeStatus::Exited);
  EXPECT_EQ(exited.exit_code, 3);
  EXPECT_TRUE(fake.remove(id, {}).has_value());
  EXPECT_EQ(fake.inspect(id).error().code, "ContainerVanishedError");
  std::vector<std::string> actions;
  for (const ContainerEvent& event : fake.take_events()) actions.push_back(event.action);
  EXPECT_EQ(actions, (std::vector<std::string>{"create", "start", "die", "destroy"}));
  EXPECT_TRUE(fake.take_events().empty());
  EXPECT_EQ(fake.call_log()[0], "create a");
}

TEST_F(Fake, refuses_what_docker_refuses) {
  EXPECT_EQ(fake.create("a", json::Value::object({{"Image", "nope"}})).error().cause,
            Cause::NotFound);
  const std::string id = run("a", "8080");
  EXPECT_EQ(fake.create("a", body_with_port("")).error().cause, Cause::Conflict);
  EXPECT_EQ(fake.remove(id, {}).error().cause, Cause::Conflict);
  const std::string other = fake.create("b", body_with_port("8080")).value().runtime_id;
  EXPECT_EQ(fake.start(other).error().cause, Cause::Conflict);
  EXPECT_EQ(fake.start("nosuch").error().code, "ContainerVanishedError");
  EXPECT_EQ(fake.kill(other, "SIGKILL").error().cause, Cause::Conflict);
  EXPECT_EQ(fake.stats(other).error().cause, Cause::Conflict);
  fake.exit_container(id, 0);
  EXPECT_TRUE(fake.start(other).has_value());
}

TEST_F(Fake, stop_ends_with_143_or_137) {
  const std::string polite = run("polite");
  const std::string stubborn = run("stubborn");
  fake.ignore_sigterm("stubborn");
  EXPECT_TRUE(fake.stop(polite, std::chrono::seconds(30)).has_value());
  EXPECT_TRUE(fake.stop(stubborn, std::chrono::seconds(30)).has_value());
  EXPECT_TRUE(fake.stop(stubborn, std::chrono::seconds(30)).has_value());
  EXPECT_EQ(fake.inspect(polite).value().exit_code, 143);
  EXPECT_EQ(fake.inspect(stubborn).value().exit_code, 137);
  EXPECT_EQ(fake.signals_of("stubborn"), (std::vector<std::string>{"SIGTERM", "SIGKILL"}));
}

TEST_F(Fake, an_oom_kill_is_told_as_event_and_state) {
  const std::string id = run("a");
  fake.take_events();
  fake.exit_container(id, 137, ExitKind::OutOfMemory);
  EXPECT_TRUE(fake.inspect(id).value().oom_killed);
  const auto events = fake.take_events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, EventKind::OutOfMemory);
  EXPECT_EQ(events[1].kind, EventKind::Died);
  EXPECT_EQ(events[1].exit_code, 137);
}

TEST_F(Fake, the_nth_call_fails_with_or_without_effect) {
  const Error error(Cause::Timeout, "DockerTimeoutError", "late");
  fake.fail_call(Operation::Create, 2, error);
  fake.fail_call(Operation::Start, 1, error, Effect::Done);
  EXPECT_TRUE(fake.create("a", body_with_port("")).has_value());
  EXPECT_EQ(fake.create("b", body_with_port("")).error(), error);
  EXPECT_EQ(fake.container_names(), (std::vector<std::string>{"a"}));
  EXPECT_EQ(fake.start("a").error(), error);
  EXPECT_EQ(fake.inspect("a").value().status, RuntimeStatus::Running);
  fake.fail_any_call(2, error);
  EXPECT_TRUE(fake.inspect("a").has_value());
  EXPECT_EQ(fake.list({}).error(), error);
  EXPECT_TRUE(fake.list({}).has_value());
  EXPECT_EQ(fake.calls(Operation::List), 2U);
}

TEST_F(Fake, an_unreachable_daemon_fails_every_call) {
  run("a");
  fake.set_reachable(false);
  EXPECT_EQ(fake.inspect("a").error().cause, Cause::Unreachable);
  EXPECT_EQ(fake.events({}, [](const ContainerEvent&) { return true; }).error().cause,
            Cause::Unreachable);
  fake.set_reachable(true);
  EXPECT_EQ(fake.inspect("a").value().status, RuntimeStatus::Running);
}

TEST_F(Fake, pull_brings_in_what_the_registry_has) {
  fake.add_to_registry("host:5000/a:1");
  EXPECT_EQ(fake.inspect_image("host:5000/a:1").error().cause, Cause::NotFound);
  PullProgress seen;
  EXPECT_TRUE(fake.pull({.image = "host:5000/a:1"},
                        [&seen](const PullProgress& progress) { seen = progress; })
                  .has_value());
  EXPECT_EQ(seen.layers_done, 1U);
  EXPECT_TRUE(fake.inspect_image("host:5000/a:1").has_value());
  EXPECT_EQ(fake.pull({.image = "nope"}, nullptr).error().cause, Cause::NotFound);
}

TEST_F(Fake, list_filters_by_label) {
  run("a");
  EXPECT_EQ(fake.list({{{"task", "t1"}}}).value().size(), 1U);
  EXPECT_EQ(fake.list({{{"task", ""}}}).value().size(), 1U);
  EXPECT_TRUE(fake.list({{{"task", "t2"}}}).value().empty());
}

TEST_F(Fake, events_since_a_time_are_told_again) {
  run("a");
  const auto events = fake.take_events();
  std::vector<std::string> seen;
  const auto collect = [&seen](const ContainerEvent& event) {
    seen.push_back(event.action);
    return true;
  };
  EXPECT_TRUE(
      fake.events({.since_ns = events[1].time_ns, .labels = {}, .stop = {}}, collect).has_value());
  EXPECT_EQ(seen, (std::vector<std::string>{"start"}));
}

TEST_F(Fake, a_listener_on_its_own_thread_hears_live_events_until_stopped) {
  base::Queue<std::string> heard(10);
  std::stop_source source;
  const int64_t since = 0;
  std::thread listener([&] {
    const auto ended =
        fake.events({.since_ns = since, .labels = {{"task", "t1"}}, .stop = source.get_token()},
                    [&heard](const ContainerEvent& event) { return heard.push(event.action); });
    EXPECT_TRUE(ended.has_value());
  });
  run("a");
  EXPECT_EQ(heard.pop(), "create");
  EXPECT_EQ(heard.pop(), "start");
  fake.exit_container("a", 0);
  EXPECT_EQ(heard.pop(), "die");
  source.request_stop();
  listener.join();
}

TEST_F(Fake, losing_the_daemon_ends_a_listener) {
  base::Queue<std::string> heard(10);
  std::stop_source source;
  Result<void> ended;
  std::thread listener([&] {
    ended = fake.events({.since_ns = 0, .labels = {}, .stop = source.get_token()},
                        [&heard](const ContainerEvent& event) { return heard.push(event.action); });
  });
  fake.create("a", body_with_port("")).value();
  EXPECT_EQ(heard.pop(), "create");
  fake.set_reachable(false);
  listener.join();
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().cause, Cause::Unreachable);
}

TEST_F(Fake, followed_logs_end_with_the_container) {
  const std::string id = run("a");
  fake.write_log("a", OutputStream::Stdout, "first");
  base::Queue<std::string> heard(10);
  std::stop_source source;
  std::thread follower([&] {
    const auto ended =
        fake.logs({.id = id, .follow = true, .stop = source.get_token()},
                  [&heard](LogLine&& line) { return heard.push(std::move(line.bytes)); });
    EXPECT_TRUE(ended.has_value());
  });
  EXPECT_EQ(heard.pop(), "first");
  fake.write_log("a", OutputStream::Stderr, "second");
  EXPECT_EQ(heard.pop(), "second");
  fake.exit_container("a", 0);
  follower.join();
}

TEST_F(Fake, the_last_lines_of_a_log_can_be_read_alone) {
  const std::string id = run("a");
  fake.write_log(id, OutputStream::Stdout, "one");
  fake.write_log(id, OutputStream::Stderr, "two");
  std::vector<LogLine> lines;
  const OnLogLine collect = [&lines](LogLine&& line) {
    lines.push_back(std::move(line));
    return true;
  };
  EXPECT_TRUE(fake.logs({.id = id, .stop = {}}, collect).has_value());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_LT(lines[0].time_ns, lines[1].time_ns);
  EXPECT_TRUE(fake.logs({.id = id, .tail = 1, .stop = {}}, collect).has_value());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2].bytes, "two");
  EXPECT_TRUE(fake.logs({.id = id, .tail = 5, .stop = {}}, collect).has_value());
  EXPECT_EQ(lines.size(), 5U);
}

TEST_F(Fake, the_times_of_a_log_follow_the_clock_back) {
  const std::string id = run("a");
  const base::Time now{std::chrono::hours(500'000)};
  fake.set_time(now);
  fake.write_log(id, OutputStream::Stdout, "one");
  fake.set_time(now - std::chrono::hours(6));
  fake.write_log(id, OutputStream::Stdout, "two");
  fake.write_log(id, OutputStream::Stdout, "three");
  std::vector<int64_t> times;
  EXPECT_TRUE(fake.logs({.id = id, .stop = {}},
                        [&times](LogLine&& line) {
                          times.push_back(line.time_ns);
                          return true;
                        })
                  .has_value());
  ASSERT_EQ(times.size(), 3U);
  EXPECT_LT(times[1], times[0]);
  EXPECT_LT(times[1], times[2]);
  EXPECT_LT(times[2], times[0]);
}

TEST_F(Fake, health_and_vanishing_are_told) {
  const std::string id = run("a");
  fake.take_events();
  fake.set_health("a", HealthStatus::Healthy);
  EXPECT_EQ(fake.inspect(id).value().health, HealthStatus::Healthy);
  fake.vanish("a");
  const auto events = fake.take_events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].health, HealthStatus::Healthy);
  EXPECT_EQ(events[1].kind, EventKind::Died);
  EXPECT_EQ(events[2].kind, EventKind::Destroyed);
  EXPECT_EQ(fake.stop(id, base::Milliseconds(0)).error().code, "ContainerVanishedError");
}

TEST_F(Fake, volumes_stay_until_removed) {
  EXPECT_EQ(fake.inspect_volume("v").error().cause, Cause::NotFound);
  EXPECT_EQ(fake.create_volume({.name = "v"}).value().name, "v");
  EXPECT_TRUE(fake.inspect_volume("v").has_value());
  EXPECT_TRUE(fake.remove_volume("v").has_value());
  EXPECT_FALSE(fake.inspect_volume("v").has_value());
}

}  // namespace
}  // namespace docker
