#include "docker/decode.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace docker {
namespace {

json::Value parsed(std::string_view text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message);
  return value.value_or(json::Value());
}

base::Time time(std::string_view text) {
  return base::parse_rfc3339(text).value();
}

Decoded<uint32_t> chosen(std::string_view newest, std::string_view oldest) {
  return choose_api_minor(json::Value::object({{"ApiVersion", newest}, {"MinAPIVersion", oldest}}));
}

TEST(Decode, the_api_version_is_the_newest_both_sides_speak) {
  EXPECT_EQ(chosen("1.41", "1.12").value(), 41U);
  EXPECT_EQ(chosen("1.24", "1.12").value(), 24U);
  EXPECT_EQ(chosen("1.47", "1.24").value(), 43U);
  // Docker 29 refuses everything older than 1.44.
  EXPECT_EQ(chosen("1.52", "1.44").value(), 44U);
}

TEST(Decode, a_daemon_that_is_too_old_is_refused_with_a_sentence) {
  EXPECT_NE(chosen("1.23", "1.12").error().find("speaks API version 1.23 at most"),
            std::string::npos);
  EXPECT_FALSE(chosen("2.0", "").has_value());
  EXPECT_FALSE(chosen("", "").has_value());
  EXPECT_FALSE(choose_api_minor(json::Value()).has_value());
}

TEST(Decode, info_of_docker_20_10) {
  const RuntimeInfo info = decode_info(parsed(R"json({"ID":"4PKE:A5TF","LoggingDriver":"json-file",
    "Plugins":{"Volume":["local"],"Authorization":null,"Log":["syslog","json-file"]},
    "CgroupDriver":"cgroupfs","CgroupVersion":"1","KernelVersion":"6.18.44",
    "OperatingSystem":"Debian GNU/Linux 12 (bookworm)","Architecture":"x86_64","NCPU":2,
    "MemTotal":25276502016,"DockerRootDir":"/var/lib/docker","ServerVersion":"20.10.24+dfsg1",
    "Runtimes":{"runc":{"path":"runc"},"nvidia":{"path":"nvidia-container-runtime"}},
    "DefaultRuntime":"runc","LiveRestoreEnabled":true})json"),
                                       41);
  EXPECT_EQ(info.id, "4PKE:A5TF");
  EXPECT_EQ(info.default_log_driver, "json-file");
  EXPECT_EQ(info.version, "20.10.24+dfsg1");
  EXPECT_EQ(info.api_version, "1.41");
  EXPECT_EQ(info.root_dir, "/var/lib/docker");
  EXPECT_EQ(info.operating_system, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(info.architecture, "x86_64");
  EXPECT_EQ(info.cgroup_driver, "cgroupfs");
  EXPECT_EQ(info.cgroup_version, "1");
  EXPECT_EQ(info.default_runtime, "runc");
  EXPECT_EQ(info.runtimes, (std::vector<std::string>{"nvidia", "runc"}));
  EXPECT_EQ(info.log_drivers, (std::vector<std::string>{"json-file", "syslog"}));
  EXPECT_TRUE(info.live_restore);
  EXPECT_EQ(info.cpus, 2);
  EXPECT_EQ(info.memory_bytes, 25276502016);
}

constexpr std::string_view running_container = R"({
  "Id":"f8f52cb8","Created":"2026-11-21T10:21:46.969283789Z",
  "State":{"Status":"running","Running":true,"Paused":false,"Restarting":false,"OOMKilled":false,
    "Dead":false,"Pid":13146,"ExitCode":0,"Error":"","StartedAt":"2026-11-21T10:21:47.237751878Z",
    "FinishedAt":"0001-01-01T00:00:00Z",
    "Health":{"Status":"unhealthy","FailingStreak":3,"Log":[
      {"Start":"x","End":"y","ExitCode":0,"Output":"fine"},
      {"Start":"x","End":"y","ExitCode":1,"Output":"connection refused"}]}},
  "Image":"sha256:2a40","Name":"/ecs-web-1-app","RestartCount":0,
  "Config":{"Tty":true,"Image":"busybox:test","Labels":{"com.amazonaws.ecs.task-arn":"arn:t"}},
  "HostConfig":{"LogConfig":{"Type":"syslog","Config":{"tag":"web"}}},
  "NetworkSettings":{"Ports":{
      "80/tcp":[{"HostIp":"::","HostPort":"32769"},{"HostIp":"0.0.0.0","HostPort":"32769"}],
      "53/udp":[{"HostIp":"0.0.0.0","HostPort":"53"}],
      "54/sctp":[{"HostIp":"0.0.0.0","HostPort":"54"}],"99/tcp":null},
    "IPAddress":"172.17.0.2",
    "Networks":{"bridge":{"IPAddress":"172.17.0.2"},"alpha":{"IPAddress":"10.0.0.7"},
                "none":{"IPAddress":""}}}})";

TEST(Decode, a_running_container_with_ports_and_health) {
  const ContainerState state = decode_container(parsed(running_container)).value();
  EXPECT_EQ(state.runtime_id, "f8f52cb8");
  EXPECT_EQ(state.name, "ecs-web-1-app");
  EXPECT_EQ(state.image, "busybox:test");
  EXPECT_EQ(state.image_id, "sha256:2a40");
  EXPECT_EQ(state.labels, (Labels{{"com.amazonaws.ecs.task-arn", "arn:t"}}));
  EXPECT_EQ(state.status, RuntimeStatus::Running);
  EXPECT_TRUE(state.tty);
  EXPECT_EQ(state.pid, 13146);
  EXPECT_EQ(state.created_at, time("2026-11-21T10:21:46.969Z"));
  EXPECT_EQ(state.started_at, time("2026-11-21T10:21:47.237Z"));
  EXPECT_EQ(state.finished_at, std::nullopt);
  EXPECT_EQ(state.bindings, (std::vector<Binding>{{53, "0.0.0.0", 53, true},
                                                  {80, "0.0.0.0", 32769, false},
                                                  {80, "::", 32769, false}}));
  EXPECT_EQ(state.ip_addresses, (std::vector<std::string>{"10.0.0.7", "172.17.0.2"}));
  EXPECT_EQ(state.health, HealthStatus::Unhealthy);
  EXPECT_EQ(state.health_output, "connection refused");
  EXPECT_EQ(state.log_options, (std::map<std::string, std::string>{{"tag", "web"}}));
}

TEST(Decode, a_container_killed_for_memory) {
  const ContainerState state =
      decode_container(parsed(R"({"Id":"a","Name":"/b","State":{"Status":"exited","Running":false,
        "OOMKilled":true,"Pid":0,"ExitCode":137,"Error":"",
        "StartedAt":"2026-11-21T10:21:47Z","FinishedAt":"2026-11-21T10:21:49.242260969Z"},
        "Config":{"Labels":null},"NetworkSettings":{"Ports":{},"Networks":{}}})"))
          .value();
  EXPECT_EQ(state.status, RuntimeStatus::Exited);
  EXPECT_TRUE(state.oom_killed);
  EXPECT_EQ(state.exit_code, 137);
  EXPECT_EQ(state.finished_at, time("2026-11-21T10:21:49.242Z"));
  EXPECT_TRUE(state.bindings.empty());
  EXPECT_EQ(state.health, HealthStatus::None);
}

TEST(Decode, every_status_word_is_known) {
  const std::pair<std::string_view, RuntimeStatus> words[] = {
      {"created", RuntimeStatus::Created},   {"running", RuntimeStatus::Running},
      {"paused", RuntimeStatus::Paused},     {"restarting", RuntimeStatus::Restarting},
      {"removing", RuntimeStatus::Removing}, {"exited", RuntimeStatus::Exited},
      {"dead", RuntimeStatus::Dead},         {"stopped", RuntimeStatus::Exited}};
  for (const auto& [word, status] : words) {
    json::Value state = json::Value::object({{"Status", word}, {"Running", true}});
    const json::Value container = json::Value::object({{"Id", "a"}, {"State", std::move(state)}});
    EXPECT_EQ(decode_container(container).value().status, status) << word;
  }
}

TEST(Decode, documents_without_identity_are_refused) {
  EXPECT_FALSE(decode_container(parsed("{}")).has_value());
  EXPECT_FALSE(decode_container(parsed(R"({"Id":"a"})")).has_value());
  EXPECT_FALSE(decode_image(parsed("[]")).has_value());
  EXPECT_FALSE(decode_created(parsed("{}")).has_value());
  EXPECT_FALSE(decode_list(parsed("{}")).has_value());
  EXPECT_FALSE(decode_list(parsed("[{}]")).has_value());
  EXPECT_FALSE(decode_event(parsed("{}")).has_value());
  EXPECT_FALSE(decode_volume(parsed("{}")).has_value());
  EXPECT_FALSE(decode_stats(parsed("{}")).has_value());
}

TEST(Decode, a_list_of_containers) {
  const auto list = decode_list(parsed(R"json([{"Id":"6bc7","Names":["/dazzling_merkle"],
    "Image":"busybox:test","Labels":{"a":"1"},"State":"exited","Status":"Exited (0)"}])json"));
  ASSERT_EQ(list.value().size(), 1U);
  EXPECT_EQ(list->front().id, "6bc7");
  EXPECT_EQ(list->front().name, "dazzling_merkle");
  EXPECT_EQ(list->front().labels, (Labels{{"a", "1"}}));
  EXPECT_EQ(list->front().status, RuntimeStatus::Exited);
  EXPECT_TRUE(decode_list(parsed("[]")).value().empty());
}

TEST(Decode, a_pulled_image_has_a_digest_and_an_imported_one_has_none) {
  const ImageInfo image = decode_image(parsed(R"({"Id":"sha256:2a40","RepoTags":["busybox:test"],
    "RepoDigests":[],"Config":{"User":"1000","Env":["A=b"],"Cmd":null,"Entrypoint":["/init"]},
    "Architecture":"amd64","Size":1982291})"))
                              .value();
  EXPECT_EQ(image.id, "sha256:2a40");
  EXPECT_EQ(image.digest, "");
  EXPECT_EQ(image.environment, (std::vector<std::string>{"A=b"}));
  const auto pulled = decode_image(parsed(R"({"Id":"a","RepoDigests":["busybox@sha256:31"]})"));
  EXPECT_EQ(pulled.value().digest, "sha256:31");
}

TEST(Decode, an_event_carries_labels_and_exit_code) {
  const ContainerEvent event = decode_event(parsed(R"({"status":"die","id":"f8f5",
    "from":"busybox:test","Type":"container","Action":"die","Actor":{"ID":"f8f5",
    "Attributes":{"exitCode":"3","image":"busybox:test","name":"dkprobe1","probe":"1"}},
    "scope":"local","time":1795256509,"timeNano":1795256509258997584})"))
                                   .value();
  EXPECT_EQ(event.kind, EventKind::Died);
  EXPECT_EQ(event.action, "die");
  EXPECT_EQ(event.runtime_id, "f8f5");
  EXPECT_EQ(event.labels, (Labels{{"probe", "1"}}));
  EXPECT_EQ(event.exit_code, 3);
  EXPECT_EQ(event.time_ns, 1795256509258997584);
}

TEST(Decode, each_action_has_its_kind) {
  const std::pair<std::string_view, EventKind> actions[] = {
      {"create", EventKind::Created},    {"start", EventKind::Started},
      {"die", EventKind::Died},          {"oom", EventKind::OutOfMemory},
      {"destroy", EventKind::Destroyed}, {"health_status: healthy", EventKind::HealthChanged},
      {"kill", EventKind::Other},        {"exec_create: sh", EventKind::Other}};
  for (const auto& [action, kind] : actions) {
    const json::Value event =
        json::Value::object({{"Action", action}, {"Actor", json::Value::object({{"ID", "a"}})}});
    EXPECT_EQ(decode_event(event).value().kind, kind) << action;
  }
  const auto health = [](std::string_view action) {
    return decode_event(json::Value::object(
                            {{"Action", action}, {"Actor", json::Value::object({{"ID", "a"}})}}))
        .value()
        .health;
  };
  EXPECT_EQ(health("health_status: healthy"), HealthStatus::Healthy);
  EXPECT_EQ(health("health_status: unhealthy"), HealthStatus::Unhealthy);
}

TEST(Decode, stats_of_cgroup_v1_and_v2) {
  const ContainerStats v1 = decode_stats(parsed(R"({"read":"2026-11-21T10:21:47.25490695Z",
    "pids_stats":{"current":2},"blkio_stats":{"io_service_bytes_recursive":[
      {"major":8,"minor":0,"op":"Read","value":10},{"major":8,"minor":0,"op":"Write","value":20},
      {"major":8,"minor":0,"op":"Total","value":30}]},
    "cpu_stats":{"cpu_usage":{"total_usage":23635962},"system_cpu_usage":2271270000000,
      "online_cpus":2},
    "memory_stats":{"usage":2899968,"stats":{"inactive_file":1,"total_inactive_file":1978368},
      "limit":6291456},
    "networks":{"eth0":{"rx_bytes":200,"tx_bytes":1},"eth1":{"rx_bytes":2,"tx_bytes":3}}})"))
                                .value();
  EXPECT_EQ(v1.read_at, time("2026-11-21T10:21:47.254Z"));
  EXPECT_EQ(v1.cpu_total_ns, 23635962U);
  EXPECT_EQ(v1.system_cpu_ns, 2271270000000U);
  EXPECT_EQ(v1.online_cpus, 2U);
  EXPECT_EQ(v1.memory_usage_bytes, 2899968U - 1978368U);
  EXPECT_EQ(v1.memory_limit_bytes, 6291456U);
  EXPECT_EQ(v1.network_rx_bytes, 202U);
  EXPECT_EQ(v1.network_tx_bytes, 4U);
  EXPECT_EQ(v1.block_read_bytes, 10U);
  EXPECT_EQ(v1.block_write_bytes, 20U);
  EXPECT_EQ(v1.pids, 2U);
  EXPECT_EQ(v1.raw["cpu_stats"]["online_cpus"].as_int64(), 2);
  const ContainerStats v2 = decode_stats(parsed(R"({"read":"2026-11-21T10:21:47Z",
    "blkio_stats":{"io_service_bytes_recursive":[{"op":"read","value":5}]},
    "memory_stats":{"usage":100,"stats":{"inactive_file":40},"limit":18446744073709551615}})"))
                                .value();
  EXPECT_EQ(v2.memory_usage_bytes, 60U);
  EXPECT_EQ(v2.memory_limit_bytes, UINT64_MAX);
  EXPECT_EQ(v2.block_read_bytes, 5U);
}

TEST(Decode, stats_of_a_stopped_container_are_not_running) {
  const auto stats = decode_stats(parsed(R"({"read":"0001-01-01T00:00:00Z","cpu_stats":{}})"));
  ASSERT_FALSE(stats.has_value());
  EXPECT_EQ(stats.error(), "not running");
}

TEST(Decode, an_error_body_is_json_or_text) {
  EXPECT_EQ(decode_message(R"({"message":"No such image: a"})"), "No such image: a");
  EXPECT_EQ(decode_message("client version 1.02 is too old\n"), "client version 1.02 is too old");
  EXPECT_EQ(decode_message(""), "");
}

TEST(Decode, the_progress_of_a_pull_is_summed_over_its_layers) {
  PullTracker tracker;
  const std::string_view lines[] = {
      R"({"status":"Pulling from library/a","id":"latest"})",
      R"({"status":"Pulling fs layer","progressDetail":{},"id":"l1"})",
      R"({"status":"Pulling fs layer","progressDetail":{},"id":"l2"})",
      R"({"status":"Already exists","progressDetail":{},"id":"l3"})",
      R"({"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"l1"})",
      R"({"status":"Downloading","progressDetail":{"current":5,"total":50},"id":"l2"})",
  };
  for (const std::string_view line : lines) EXPECT_TRUE(tracker.add(parsed(line)).has_value());
  EXPECT_EQ(tracker.progress().layers, 3U);
  EXPECT_EQ(tracker.progress().layers_done, 1U);
  EXPECT_EQ(tracker.progress().bytes_done, 15U);
  EXPECT_EQ(tracker.progress().bytes_total, 150U);
  EXPECT_EQ(tracker.progress().bytes_expected, 150U);
  EXPECT_TRUE(tracker.add(parsed(R"({"status":"Waiting","progressDetail":{},"id":"l4"})")));
  EXPECT_EQ(tracker.progress().bytes_total, 150U);
  EXPECT_EQ(tracker.progress().bytes_expected, 225U);
  EXPECT_TRUE(
      tracker.add(parsed(R"({"status":"Download complete","progressDetail":{},"id":"l1"})")));
  EXPECT_EQ(tracker.progress().bytes_done, 105U);
  // Extracting counts from zero again; the bytes of the network are told all the same.
  EXPECT_TRUE(tracker.add(
      parsed(R"({"status":"Extracting","progressDetail":{"current":1,"total":100},"id":"l1"})")));
  EXPECT_EQ(tracker.progress().bytes_done, 105U);
  EXPECT_TRUE(tracker.add(parsed(R"({"status":"Pull complete","progressDetail":{},"id":"l1"})")));
  EXPECT_EQ(tracker.progress().layers_done, 2U);
  EXPECT_EQ(tracker.progress().bytes_expected, 225U);
  EXPECT_EQ(tracker.progress().status, "Pull complete");
  const auto failed =
      tracker.add(parsed(R"({"errorDetail":{"message":"no space left"},"error":"no space left"})"));
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error(), "no space left");
}

// Any JSON value, so that no daemon can crash the agent.
rc::Gen<json::Value> any_value(int depth) {
  auto scalar = rc::gen::element<json::Value>(
      json::Value(), json::Value(true), json::Value(-1), json::Value(1e300), json::Value(""),
      json::Value("80/tcp"), json::Value("2026-11-21T10:21:47Z"), json::Value("die"));
  if (depth == 0) return scalar;
  const auto name = rc::gen::element<std::string>(
      "Id", "State", "Config", "NetworkSettings", "Ports", "Networks", "Labels", "Action", "Actor",
      "ID", "Attributes", "exitCode", "read", "cpu_stats", "memory_stats", "stats", "usage",
      "Health", "Log", "error", "status", "id", "progressDetail", "80/tcp", "ApiVersion");
  const auto field = rc::gen::apply(
      [](std::string field_name, json::Value value) {
        return json::Field{std::move(field_name), std::move(value)};
      },
      name, rc::gen::lazy([depth] { return any_value(depth - 1); }));
  return rc::gen::oneOf(
      scalar,
      rc::gen::map(rc::gen::container<json::Object>(field),
                   [](json::Object fields) { return json::Value(std::move(fields)); }),
      rc::gen::map(
          rc::gen::container<json::Array>(rc::gen::lazy([depth] { return any_value(depth - 1); })),
          [](json::Array items) { return json::Value(std::move(items)); }));
}

RC_GTEST_PROP(Decode, no_document_crashes_a_decoder, ()) {
  const json::Value value = *any_value(2);
  PullTracker tracker;
  const bool accepted[] = {decode_container(value).has_value(), decode_list(value).has_value(),
                           decode_image(value).has_value(),     decode_created(value).has_value(),
                           decode_event(value).has_value(),     decode_stats(value).has_value(),
                           decode_volume(value).has_value(),    choose_api_minor(value).has_value(),
                           tracker.add(value).has_value()};
  decode_info(value, 41);
  // What was accepted has its identity.
  RC_ASSERT(!accepted[0] || !value["Id"].text_or("").empty());
}

}  // namespace
}  // namespace docker
