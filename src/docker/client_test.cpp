// Transcripts: the answers were recorded from dockerd 20.10.24.
#include "docker/client.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "docker/testing_client.h"
#include "docker/testing_frames.h"
#include "docker/wire.h"

namespace docker {
namespace {

Exchange broken(std::string request, TransportError::Kind kind, std::string message) {
  return {std::move(request), 200, "", TransportError{kind, std::move(message)}};
}

TEST(Client, the_version_is_asked_once_and_used_in_every_path) {
  Session session({answer("POST /v1.41/containers/abc/start", 204, ""),
                   answer("POST /v1.41/containers/abc/start", 304, "")});
  EXPECT_TRUE(session.client->start("abc").has_value());
  EXPECT_TRUE(session.client->start("abc").has_value());
  EXPECT_EQ(session.calls.size(), 3U);
  EXPECT_EQ(session.last().timeout, std::chrono::minutes(3));
}

TEST(Client, after_the_daemon_was_unreachable_the_version_is_asked_again) {
  Session session(
      {broken("GET /v1.41/containers/a/json", TransportError::Kind::Unreachable,
              "Connection refused"),
       answer("GET /version", 200, R"({"ApiVersion":"1.24"})"),
       answer("GET /v1.24/containers/a/json", 404, R"({"message":"No such container: a"})")});
  const auto first = session.client->inspect("a");
  ASSERT_FALSE(first.has_value());
  EXPECT_EQ(first.error().cause, Cause::Unreachable);
  EXPECT_EQ(first.error().code, "CannotInspectContainerError");
  const auto second = session.client->inspect("a");
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, "ContainerVanishedError");
  EXPECT_EQ(second.error().cause, Cause::NotFound);
}

TEST(Client, a_daemon_that_refuses_our_version_is_asked_again) {
  Session session(
      {answer(
           "GET /v1.41/containers/a/json", 400,
           R"({"message":"client version 1.41 is too new. Maximum supported API version is 1.40"})"),
       answer("GET /version", 200, R"({"ApiVersion":"1.40"})"),
       answer("GET /v1.40/containers/a/json", 200, R"({"Id":"a","State":{}})")});
  EXPECT_FALSE(session.client->inspect("a").has_value());
  EXPECT_TRUE(session.client->inspect("a").has_value());
}

TEST(Client, a_daemon_that_is_too_old_is_refused_by_every_call) {
  std::vector<Call> calls;
  DockerClient client(
      std::make_unique<ReplayTransport>(
          std::vector<Exchange>{answer("GET /version", 200, R"({"ApiVersion":"1.23"})")}, calls),
      Timeouts{});
  const auto started = client.start("a");
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, "CannotStartContainerError");
  EXPECT_EQ(started.error().cause, Cause::BadParameter);
  EXPECT_NE(started.error().message.find("install Docker"), std::string::npos);
}

TEST(Client, info_asks_afresh) {
  Session session({answer("GET /v1.41/info", 200, R"({"ServerVersion":"20.10.24","NCPU":2})"),
                   answer("GET /version", 200, version_body),
                   answer("GET /v1.41/info", 500, R"({"message":"broken"})")});
  const auto info = session.client->info();
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->version, "20.10.24");
  EXPECT_EQ(info->api_version, "1.41");
  const auto failed = session.client->info();
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, "CannotGetDockerClientError");
  EXPECT_EQ(failed.error().message, "broken");
}

TEST(Client, create_sends_the_body_once_only_and_reads_the_id) {
  Session session({answer("POST /v1.41/containers/create?name=ecs-web-1-app", 201,
                          R"({"Id":"f8f52c","Warnings":["swap is off"]})")});
  const json::Value body = json::Value::object({{"Image", "busybox:test"}});
  const auto created = session.client->create("ecs-web-1-app", body);
  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(created->runtime_id, "f8f52c");
  EXPECT_EQ(session.last().body, R"({"Image":"busybox:test"})");
  EXPECT_FALSE(session.last().idempotent);
  EXPECT_EQ(session.last().timeout, std::chrono::minutes(4));
}

TEST(Client, a_taken_name_and_a_missing_image_are_told_apart) {
  Session session(
      {answer(
           "POST /v1.41/containers/create", 409,
           R"({"message":"Conflict. The container name \"/a\" is already in use by container \"f8\"."})"),
       answer("POST /v1.41/containers/create", 404, R"({"message":"No such image: nope:test"})")});
  const auto taken = session.client->create("a", json::Value::object());
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().cause, Cause::Conflict);
  const auto missing = session.client->create("a", json::Value::object());
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().cause, Cause::NotFound);
  EXPECT_EQ(missing.error().code, "CannotCreateContainerError");
}

TEST(Client, a_create_without_answer_is_a_timeout_of_unknown_outcome) {
  Session session({broken("POST /v1.41/containers/create", TransportError::Kind::Timeout, "late")});
  const auto created = session.client->create("a", json::Value::object());
  ASSERT_FALSE(created.has_value());
  EXPECT_EQ(created.error().code, "DockerTimeoutError");
  EXPECT_EQ(created.error().cause, Cause::Timeout);
}

TEST(Client, stop_gives_the_daemon_its_grace_period_and_some_more) {
  Session session({answer("POST /v1.41/containers/abc/stop?t=3", 204, ""),
                   answer("POST /v1.41/containers/abc/stop?t=0", 304, "")});
  EXPECT_TRUE(session.client->stop("abc", base::Milliseconds(2500)).has_value());
  EXPECT_EQ(session.last().timeout, std::chrono::seconds(33));
  EXPECT_TRUE(session.client->stop("abc", base::Milliseconds(0)).has_value());
}

TEST(Client, kill_names_the_signal) {
  Session session(
      {answer("POST /v1.41/containers/abc/kill?signal=SIGTERM", 204, ""),
       answer("POST /v1.41/containers/abc/kill?signal=SIGKILL", 409,
              R"({"message":"Cannot kill container: abc: Container f8 is not running"})")});
  EXPECT_TRUE(session.client->kill("abc", "SIGTERM").has_value());
  EXPECT_FALSE(session.last().idempotent);
  const auto killed = session.client->kill("abc", "SIGKILL");
  ASSERT_FALSE(killed.has_value());
  EXPECT_EQ(killed.error().cause, Cause::Conflict);
  EXPECT_EQ(killed.error().code, "CannotStopContainerError");
}

TEST(Client, removing_what_is_gone_succeeds) {
  Session session({answer("DELETE /v1.41/containers/abc?force=1&v=0", 404,
                          R"({"message":"No such container: abc"})"),
                   answer("DELETE /v1.41/containers/abc?force=0&v=1", 409,
                          R"({"message":"You cannot remove a running container abc."})")});
  EXPECT_TRUE(session.client->remove("abc", {.force = true}).has_value());
  const auto running = session.client->remove("abc", {.volumes = true});
  ASSERT_FALSE(running.has_value());
  EXPECT_EQ(running.error().code, "CannotRemoveContainerError");
  EXPECT_EQ(running.error().cause, Cause::Conflict);
}

TEST(Client, ids_are_encoded_into_the_path) {
  Session session({answer("GET /v1.41/containers/..%2Fx%3Fy/json", 404,
                          R"({"message":"No such container: ../x?y"})")});
  EXPECT_FALSE(session.client->inspect("../x?y").has_value());
}

TEST(Client, list_filters_by_labels) {
  Session session({answer("GET /v1.41/containers/json?all=1&filters=" +
                              base::percent_encoded(R"({"label":["a=1"]})"),
                          200, R"([{"Id":"6bc7","Names":["/a"],"State":"running"}])"),
                   answer("GET /v1.41/containers/json", 200, R"({"not":"a list"})")});
  const auto list = session.client->list({{{"a", "1"}}});
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->at(0).id, "6bc7");
  const auto malformed = session.client->list({});
  ASSERT_FALSE(malformed.has_value());
  EXPECT_EQ(malformed.error().code, "CannotListContainersError");
}

TEST(Client, junk_instead_of_json_is_an_error) {
  Session session({answer("GET /v1.41/containers/a/json", 200, "<html>")});
  const auto state = session.client->inspect("a");
  ASSERT_FALSE(state.has_value());
  EXPECT_NE(state.error().message.find("not understood"), std::string::npos);
}

TEST(Client, inspect_image_keeps_the_slashes_of_the_name) {
  Session session({answer("GET /v1.41/images/host:5000/a/b:c/json", 404,
                          R"({"message":"No such image: host:5000/a/b:c"})")});
  const auto image = session.client->inspect_image("host:5000/a/b:c");
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().cause, Cause::NotFound);
  EXPECT_EQ(image.error().code, "CannotInspectImageError");
}

const std::string pull_progress =
    "{\"status\":\"Pulling from library/a\",\"id\":\"1.0\"}\r\n"
    "{\"status\":\"Pulling fs layer\",\"progressDetail\":{},\"id\":\"l1\"}\r\n"
    "{\"status\":\"Downloading\",\"progressDetail\":{\"current\":5,\"total\":10},\"id\":\"l1\"}"
    "\r\n";

TEST(Client, a_pull_reports_progress_and_ends_well) {
  const std::string done =
      "{\"status\":\"Pull complete\",\"progressDetail\":{},\"id\":\"l1\"}\r\n"
      "{\"status\":\"Status: Downloaded newer image for a:1.0\"}\r\n";
  for (const size_t piece : {size_t{1}, size_t{13}, size_t{100'000}}) {
    Session session({answer("POST /v1.41/images/create?fromImage=host%3A5000%2Fa&tag=1.0", 200,
                            pull_progress + done)},
                    piece);
    std::vector<PullProgress> seen;
    const auto pulled = session.client->pull(
        {.image = "host:5000/a:1.0", .auth = RegistryAuth{"u", "p", "host:5000"}},
        [&seen](const PullProgress& progress) { seen.push_back(progress); });
    EXPECT_TRUE(pulled.has_value());
    ASSERT_EQ(seen.size(), 5U);
    EXPECT_EQ(seen[2].bytes_done, 5U);
    EXPECT_EQ(seen[2].bytes_total, 10U);
    EXPECT_EQ(seen[4].layers_done, 1U);
    EXPECT_EQ(seen[4].bytes_done, 10U);
    ASSERT_EQ(session.last().headers.size(), 1U);
    EXPECT_EQ(session.last().headers[0].name, "X-Registry-Auth");
    EXPECT_EQ(session.last().inactivity_timeout, std::chrono::minutes(1));
  }
}

TEST(Client, a_pull_that_fails_in_its_progress_is_an_error_despite_status_200) {
  const std::string failure =
      "{\"errorDetail\":{\"message\":\"write /x: no space left on device\"},"
      "\"error\":\"write /x: no space left on device\"}\r\n";
  Session session({answer("POST /v1.41/images/create", 200, pull_progress + failure)});
  const auto pulled = session.client->pull({.image = "a"}, nullptr);
  ASSERT_FALSE(pulled.has_value());
  EXPECT_EQ(pulled.error().code, "CannotPullContainerError");
  EXPECT_EQ(pulled.error().cause, Cause::NoSpace);
}

TEST(Client, a_pull_error_in_a_last_line_without_newline_counts) {
  Session session({answer("POST /v1.41/images/create", 200, R"({"error":"manifest unknown"})")});
  const auto pulled = session.client->pull({.image = "a"}, nullptr);
  ASSERT_FALSE(pulled.has_value());
  EXPECT_EQ(pulled.error().cause, Cause::NotFound);
}

TEST(Client, a_pull_refused_at_once_by_the_registry) {
  Session session({answer(
      "POST /v1.41/images/create?fromImage=127.0.0.1%3A1%2Ffoo&tag=latest", 500,
      R"({"message":"Get \"http://127.0.0.1:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused"})")});
  const auto pulled = session.client->pull({.image = "127.0.0.1:1/foo"}, nullptr);
  ASSERT_FALSE(pulled.has_value());
  EXPECT_EQ(pulled.error().cause, Cause::Other);
  EXPECT_NE(pulled.error().message.find("docker load"), std::string::npos);
}

TEST(Client, a_silent_pull_times_out_and_a_cancelled_one_says_so) {
  Session session({broken("POST /v1.41/images/create", TransportError::Kind::Timeout, "silence"),
                   answer("POST /v1.41/images/create", 200, pull_progress)});
  const auto silent = session.client->pull({.image = "a"}, nullptr);
  ASSERT_FALSE(silent.has_value());
  EXPECT_EQ(silent.error().code, "DockerTimeoutError");
  EXPECT_NE(silent.error().message.find("60 s"), std::string::npos);
  std::stop_source source;
  const auto cancelled =
      session.client->pull({.image = "a", .stop = source.get_token()},
                           [&source](const PullProgress&) { source.request_stop(); });
  ASSERT_FALSE(cancelled.has_value());
  EXPECT_EQ(cancelled.error().cause, Cause::Cancelled);
}

const std::string two_events =
    R"({"Type":"container","Action":"start","Actor":{"ID":"a","Attributes":{"name":"n"}},"timeNano":5})"
    "\n"
    R"({"Type":"container","Action":"die","Actor":{"ID":"a","Attributes":{"exitCode":"3"}},"timeNano":6})"
    "\n";

TEST(Client, events_are_told_until_the_daemon_goes_away) {
  Session session({answer("GET /v1.41/events?filters=" +
                              base::percent_encoded(R"({"type":["container"],"label":["l"]})") +
                              "&since=1.000000002",
                          200, two_events)});
  std::vector<ContainerEvent> seen;
  EventsRequest request{.since_ns = 1'000'000'002, .labels = {{"l", ""}}, .stop = {}};
  const auto ended = session.client->events(request, [&seen](const ContainerEvent& event) {
    seen.push_back(event);
    return true;
  });
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().cause, Cause::Unreachable);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].kind, EventKind::Started);
  EXPECT_EQ(seen[1].exit_code, 3);
}

TEST(Client, events_end_well_when_the_caller_wants_it) {
  Session session(
      {answer("GET /v1.41/events", 200, two_events), answer("GET /v1.41/events", 200, two_events)});
  int count = 0;
  EXPECT_TRUE(session.client->events({}, [&count](const ContainerEvent&) { return ++count < 1; })
                  .has_value());
  EXPECT_EQ(count, 1);
  std::stop_source source;
  EXPECT_TRUE(session.client
                  ->events({.since_ns = std::nullopt, .labels = {}, .stop = source.get_token()},
                           [&source](const ContainerEvent&) { return source.request_stop(); })
                  .has_value());
}

TEST(Client, an_event_that_is_junk_is_an_error) {
  Session session({answer("GET /v1.41/events", 200, "{\"Type\":\n")});
  const auto ended = session.client->events({}, [](const ContainerEvent&) { return true; });
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().cause, Cause::Other);
}

TEST(Client, logs_are_read_in_the_form_that_the_container_has) {
  const std::string frames = frame(1, "2026-11-21T10:21:47.239812602Z out\n") +
                             frame(2, "2026-11-21T10:21:47.239921714Z err\n");
  const std::string inspect = R"({"Id":"f8","Name":"/a","State":{},"Config":{"Tty":)";
  Session session(
      {answer("GET /v1.41/containers/a/json", 200, inspect + "false}}"),
       answer("GET "
              "/v1.41/containers/f8/logs?stdout=1&stderr=1&timestamps=1&follow=0&tail=9",
              200, frames),
       answer("GET /v1.41/containers/a/json", 200, inspect + "true}}"),
       answer("GET /v1.41/containers/f8/logs?stdout=1&stderr=1&timestamps=1&follow=1", 200,
              "2026-11-21T10:21:47.239812602Z tty\r\n")});
  std::vector<LogLine> lines;
  const OnLogLine on_line = [&lines](LogLine&& line) {
    lines.push_back(std::move(line));
    return true;
  };
  EXPECT_TRUE(session.client->logs({.id = "a", .tail = 9, .stop = {}}, on_line).has_value());
  EXPECT_TRUE(session.client->logs({.id = "a", .follow = true, .stop = {}}, on_line).has_value());
  EXPECT_EQ(session.last().inactivity_timeout.count(), 0);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].bytes, "out");
  EXPECT_EQ(lines[1].stream, OutputStream::Stderr);
  EXPECT_EQ(lines[2].bytes, "tty\r");
}

TEST(Client, logs_that_cannot_be_read_name_the_cause) {
  const std::string inspect = R"({"Id":"f8","State":{},"Config":{"Tty":false}})";
  Session session({answer("GET /v1.41/containers/a/json", 200, inspect),
                   answer("GET /v1.41/containers/f8/logs", 501,
                          R"({"message":"configured logging driver does not support reading"})"),
                   answer("GET /v1.41/containers/a/json", 200, inspect),
                   answer("GET /v1.41/containers/f8/logs", 200, "no frames here"),
                   answer("GET /v1.41/containers/a/json", 200, inspect),
                   broken("GET /v1.41/containers/f8/logs", TransportError::Kind::Unreachable,
                          "reset by peer")});
  const OnLogLine on_line = [](LogLine&&) { return true; };
  const auto unsupported = session.client->logs({.id = "a", .stop = {}}, on_line);
  ASSERT_FALSE(unsupported.has_value());
  EXPECT_EQ(unsupported.error().code, "CannotReadLogsError");
  const auto junk = session.client->logs({.id = "a", .stop = {}}, on_line);
  ASSERT_FALSE(junk.has_value());
  EXPECT_NE(junk.error().message.find("unknown kind"), std::string::npos);
  const auto lost = session.client->logs({.id = "a", .stop = {}}, on_line);
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().cause, Cause::Unreachable);
}

TEST(Client, stats_of_a_container_that_does_not_run_are_a_conflict) {
  Session session({answer("GET /v1.41/containers/a/stats?stream=false&one-shot=true", 200,
                          R"({"read":"0001-01-01T00:00:00Z"})"),
                   answer("GET /v1.41/containers/a/stats", 200,
                          R"({"read":"2026-11-21T10:21:47Z","pids_stats":{"current":2}})")});
  const auto stopped = session.client->stats("a");
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().cause, Cause::Conflict);
  EXPECT_EQ(stopped.error().code, "CannotGetStatsError");
  EXPECT_EQ(session.client->stats("a").value().pids, 2U);
}

TEST(Client, volumes_are_made_looked_at_and_removed) {
  Session session({answer("POST /v1.41/volumes/create", 201,
                          R"({"Driver":"local","Labels":{"a":"b"},"Mountpoint":"/m","Name":"v"})"),
                   answer("GET /v1.41/volumes/v", 404, R"({"message":"get v: no such volume"})"),
                   answer("DELETE /v1.41/volumes/v", 404, R"({"message":"get v: no such volume"})"),
                   answer("DELETE /v1.41/volumes/v", 409, R"({"message":"volume is in use"})")});
  const auto created = session.client->create_volume(
      {.name = "v", .driver_options = {{"type", "tmpfs"}}, .labels = {{"a", "b"}}});
  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(created->mount_point, "/m");
  EXPECT_EQ(session.last().body,
            R"({"Name":"v","Driver":"local","DriverOpts":{"type":"tmpfs"},"Labels":{"a":"b"}})");
  const auto missing = session.client->inspect_volume("v");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().cause, Cause::NotFound);
  EXPECT_TRUE(session.client->remove_volume("v").has_value());
  EXPECT_EQ(session.client->remove_volume("v").error().cause, Cause::Conflict);
}

TEST(Client, every_call_reports_an_unreachable_daemon_under_its_own_name) {
  const auto cause_and_code = [](auto call) {
    std::vector<Call> calls;
    DockerClient client(
        std::make_unique<ReplayTransport>(
            std::vector<Exchange>{
                broken("GET /version", TransportError::Kind::Unreachable, "Connection refused")},
            calls),
        Timeouts{});
    const auto result = call(client);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(result.error().cause, Cause::Unreachable);
    EXPECT_NE(result.error().message.find("unix:///run/docker.sock"), std::string::npos);
    return result.error().code;
  };
  EXPECT_EQ(cause_and_code([](auto& c) { return c.info(); }), "CannotGetDockerClientError");
  EXPECT_EQ(cause_and_code([](auto& c) { return c.pull({.image = "a"}, nullptr); }),
            "CannotPullContainerError");
  EXPECT_EQ(cause_and_code([](auto& c) { return c.create("a", json::Value::object()); }),
            "CannotCreateContainerError");
  EXPECT_EQ(cause_and_code([](auto& c) { return c.start("a"); }), "CannotStartContainerError");
  EXPECT_EQ(cause_and_code([](auto& c) { return c.stop("a", base::Milliseconds(0)); }),
            "CannotStopContainerError");
  EXPECT_EQ(cause_and_code([](auto& c) { return c.remove("a", {}); }),
            "CannotRemoveContainerError");
  EXPECT_EQ(cause_and_code(
                [](auto& c) { return c.events({}, [](const ContainerEvent&) { return true; }); }),
            "CannotListenEventsError");
  EXPECT_EQ(cause_and_code([](auto& c) {
              return c.logs({.id = "a", .stop = {}}, [](LogLine&&) { return true; });
            }),
            "CannotReadLogsError");
  EXPECT_EQ(cause_and_code([](auto& c) { return c.remove_volume("a"); }),
            "CannotRemoveVolumeError");
}

}  // namespace
}  // namespace docker
