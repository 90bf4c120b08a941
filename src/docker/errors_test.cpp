#include "docker/errors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace docker {
namespace {

struct Case {
  Operation operation;
  int status;
  std::string message;  // Recorded from dockerd 20.10 unless a newer wording is meant.
  std::string code;
  Cause cause;
  std::string fix;  // Part of the sentence; empty: the message is passed on as it is.
};

TEST(Errors, what_the_daemon_says_becomes_code_cause_and_fix) {
  const std::vector<Case> cases = {
      {Operation::Create, 404, "No such image: nope:test", "CannotCreateContainerError",
       Cause::NotFound, "docker load"},
      {Operation::InspectImage, 404, "no such image: nope: No such image: nope:latest",
       "CannotInspectImageError", Cause::NotFound, "docker import"},
      {Operation::Create, 409, "Conflict. The container name \"/a\" is already in use by container",
       "CannotCreateContainerError", Cause::Conflict, ""},
      {Operation::Create, 400, "Unknown runtime specified nvidia", "CannotCreateContainerError",
       Cause::BadParameter, "nvidia-ctk runtime configure"},
      {Operation::Create, 400, "unknown or invalid runtime name: nvidia",
       "CannotCreateContainerError", Cause::BadParameter, "nvidia-ctk runtime configure"},
      {Operation::Create, 400, "Unknown runtime specified kata", "CannotCreateContainerError",
       Cause::BadParameter, "daemon.json"},
      {Operation::Create, 400, "No command specified", "CannotCreateContainerError",
       Cause::BadParameter, ""},
      {Operation::Create, 400, "Minimum memory limit allowed is 6MB", "CannotCreateContainerError",
       Cause::BadParameter, "memory limit"},
      {Operation::Create, 500,
       "json: cannot unmarshal number into Go struct field ContainerConfigWrapper.Image of type "
       "string",
       "CannotCreateContainerError", Cause::BadParameter, ""},
      {Operation::Create, 500, "mkdir /var/lib/docker/x: no space left on device",
       "CannotCreateContainerError", Cause::NoSpace, "docker system prune"},
      {Operation::Start, 404, "No such container: nosuch", "ContainerVanishedError",
       Cause::NotFound, ""},
      {Operation::Start, 400,
       "failed to create shim task: OCI runtime create failed: runc create failed: unable to start "
       "container process: exec: \"nosuchprogram\": executable file not found in $PATH: unknown",
       "CannotStartContainerError", Cause::BadParameter, "entryPoint"},
      {Operation::Start, 500,
       "driver failed programming external connectivity on endpoint a: Bind for 0.0.0.0:80 failed: "
       "port is already allocated",
       "CannotStartContainerError", Cause::Conflict, "hostPort 0"},
      {Operation::Start, 500,
       "error starting userland proxy: listen tcp4 0.0.0.0:80: bind: address already in use",
       "CannotStartContainerError", Cause::Conflict, "hostPort 0"},
      {Operation::Start, 500,
       "error gathering device information while adding custom device \"/dev/nosuch\": no such "
       "file or directory",
       "CannotStartContainerError", Cause::BadParameter, "device node"},
      {Operation::Start, 500, "could not select device driver \"\" with capabilities: [[gpu]]",
       "CannotStartContainerError", Cause::BadParameter, "nvidia-container-toolkit"},
      {Operation::Start, 500,
       "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown",
       "CannotStartContainerError", Cause::Other, "nvidia-smi"},
      {Operation::Start, 500, "something else", "CannotStartContainerError", Cause::Other, ""},
      {Operation::Kill, 409, "Cannot kill container: a: Container f is not running",
       "CannotStopContainerError", Cause::Conflict, ""},
      {Operation::Kill, 404, "Cannot kill container: a: No such container: a",
       "ContainerVanishedError", Cause::NotFound, ""},
      {Operation::Stop, 500, "cannot stop container", "CannotStopContainerError", Cause::Other, ""},
      {Operation::Remove, 409, "You cannot remove a running container f",
       "CannotRemoveContainerError", Cause::Conflict, ""},
      {Operation::Inspect, 404, "No such container: a", "ContainerVanishedError", Cause::NotFound,
       ""},
      {Operation::Logs, 501, "configured logging driver does not support reading",
       "CannotReadLogsError", Cause::Other, ""},
      {Operation::InspectVolume, 404, "get dkvol: no such volume", "CannotInspectVolumeError",
       Cause::NotFound, ""},
      {Operation::CreateVolume, 404,
       "create dkvol: error looking up volume plugin nosuch: plugin \"nosuch\" not found",
       "CannotCreateVolumeError", Cause::BadParameter, "local"},
      {Operation::List, 503, "daemon is shutting down", "CannotListContainersError",
       Cause::Unreachable, ""},
  };
  for (const Case& each : cases) {
    const Error error = daemon_error(each.operation, each.status, each.message);
    EXPECT_EQ(error.code, each.code) << each.message;
    EXPECT_EQ(error.cause, each.cause) << each.message;
    EXPECT_TRUE(error.message.starts_with(each.message)) << error.message;
    if (each.fix.empty()) {
      EXPECT_EQ(error.message, each.message);
    } else {
      EXPECT_NE(error.message.find(each.fix), std::string::npos) << error.message;
    }
  }
}

TEST(Errors, a_failed_pull_tells_registry_name_and_login_apart) {
  struct PullCase {
    std::string message;
    Cause cause;
    std::string fix;
  };
  const std::vector<PullCase> cases = {
      {"Get \"http://127.0.0.1:1/v2/\": dial tcp 127.0.0.1:1: connect: connection refused",
       Cause::Other, "docker load"},
      {"Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such "
       "host",
       Cause::Other, "docker load"},
      {"Get \"https://r/v2/\": net/http: TLS handshake timeout", Cause::Other, "docker load"},
      {"manifest for busybox:nope not found: manifest unknown: manifest unknown", Cause::NotFound,
       "check the tag"},
      {"pull access denied for nope, repository does not exist or may require 'docker login': "
       "denied: requested access to the resource is denied",
       Cause::Denied, "repositoryCredentials"},
      {"Head \"https://r/v2/a/manifests/b\": no basic auth credentials", Cause::Denied,
       "credentials"},
      {"unauthorized: authentication required", Cause::Denied, "credentials"},
      {"no matching manifest for linux/arm64/v8 in the manifest list entries", Cause::BadParameter,
       "platform"},
      {"http: server gave HTTP response to HTTPS client", Cause::BadParameter,
       "insecure-registries"},
      {"x509: certificate signed by unknown authority", Cause::BadParameter, "certs.d"},
      {"failed to register layer: write /a: no space left on device", Cause::NoSpace,
       "docker system prune"},
      {"toomanyrequests: You have reached your pull rate limit", Cause::Other, "limits"},
  };
  for (const PullCase& each : cases) {
    const Error error = pull_error("registry.example/image:tag", each.message);
    EXPECT_EQ(error.code, "CannotPullContainerError");
    EXPECT_EQ(error.cause, each.cause) << each.message;
    EXPECT_NE(error.message.find("registry.example/image:tag"), std::string::npos);
    EXPECT_NE(error.message.find(each.message), std::string::npos);
    EXPECT_NE(error.message.find(each.fix), std::string::npos) << error.message;
  }
  EXPECT_EQ(pull_error("a", "a: strange").message, "a: strange");
}

TEST(Errors, an_unreachable_daemon_is_named_with_what_to_do) {
  const Error refused = unreachable_error(Operation::Create, "unix:///run/docker.sock",
                                          "connect: Connection refused");
  EXPECT_EQ(refused.code, "CannotCreateContainerError");
  EXPECT_EQ(refused.cause, Cause::Unreachable);
  EXPECT_EQ(refused.message,
            "cannot connect to the Docker daemon at unix:///run/docker.sock: connect: Connection "
            "refused (is dockerd running? `systemctl start docker`)");
  const Error denied =
      unreachable_error(Operation::Info, "unix:///run/docker.sock", "Permission denied");
  EXPECT_NE(denied.message.find("group"), std::string::npos);
  EXPECT_EQ(denied.message.find("systemctl"), std::string::npos);
}

TEST(Errors, a_timeout_is_dockers_timeout_error_and_names_the_call) {
  const Error error = timeout_error(Operation::Start, std::chrono::minutes(3));
  EXPECT_EQ(error.code, "DockerTimeoutError");
  EXPECT_EQ(error.cause, Cause::Timeout);
  EXPECT_NE(error.message.find("CannotStartContainerError"), std::string::npos);
  EXPECT_NE(error.message.find("180 s"), std::string::npos);
}

TEST(Errors, an_empty_answer_still_makes_a_sentence) {
  EXPECT_EQ(daemon_error(Operation::Create, 418, "").message,
            "the Docker daemon answered HTTP 418");
}

TEST(Errors, converts_to_the_houses_result_by_try) {
  const auto inner = []() -> Result<int> { return fail(Cause::Other, "Code", "message"); };
  const auto outer = [&]() -> base::Result<int> { return TRY(inner()); };
  ASSERT_FALSE(outer().has_value());
  EXPECT_EQ(outer().error(), (base::Error{"Code", "message"}));
}

}  // namespace
}  // namespace docker
