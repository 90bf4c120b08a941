// The Docker Engine API client: ContainerRuntime, ContainerStreams and ContainerResources over a
// unix socket or TCP.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/queue.h"
#include "base/time.h"
#include "docker/errors.h"
#include "docker/runtime.h"
#include "docker/transport.h"

namespace docker {

inline constexpr const char* default_host = "unix:///var/run/docker.sock";

// DOCKER_HOST, or default_host when it is not set or empty.
std::string host_from_environment();

// How long each call may take. The defaults are those of the ECS agent.
struct Timeouts {
  base::Milliseconds short_call = std::chrono::seconds(30);  // info, inspect, kill, stats, list
  base::Milliseconds create = std::chrono::minutes(4);
  base::Milliseconds start = std::chrono::minutes(3);
  base::Milliseconds stop_extra = std::chrono::seconds(30);  // On top of the stop timeout.
  base::Milliseconds remove = std::chrono::minutes(5);
  base::Milliseconds pull_begin = std::chrono::minutes(5);  // Until the daemon's first word.
};

// Thread-safe: each call takes a connection of its own. Nothing is sent before the first call, so
// a daemon that comes up later is found then. The API version is agreed on the first call and again
// after the daemon was unreachable, since it may have been replaced.
// Source: Docker Engine API reference, "Versioning".
class DockerClient final : public ContainerRuntime,
                           public ContainerStreams,
                           public ContainerResources {
 public:
  // `host` is "unix:///path" or "tcp://name:port". Errors: CannotGetDockerClientError.
  static Result<std::unique_ptr<DockerClient>> create(const std::string& host,
                                                      Timeouts timeouts = {});
  // For tests: any transport.
  DockerClient(std::unique_ptr<Transport> transport, Timeouts timeouts);

  // As it was given: "unix:///var/run/docker.sock".
  const std::string& host() const { return transport_->host(); }

  Result<RuntimeInfo> info() override;
  Result<void> pull(const PullRequest& request, const OnPullProgress& on_progress) override;
  Result<ImageInfo> inspect_image(const std::string& image) override;
  Result<CreatedContainer> create(const std::string& name, const json::Value& body) override;
  Result<void> start(const std::string& id) override;
  Result<void> stop(const std::string& id, base::Milliseconds timeout) override;
  Result<void> kill(const std::string& id, const std::string& signal) override;
  Result<void> remove(const std::string& id, RemoveOptions options) override;
  Result<ContainerState> inspect(const std::string& id) override;
  Result<std::vector<ContainerSummary>> list(const ListFilter& filter) override;

  Result<void> events(const EventsRequest& request, const OnEvent& on_event) override;
  Result<void> logs(const LogsRequest& request, const OnLogLine& on_line) override;
  Result<ContainerStats> stats(const std::string& id) override;

  Result<VolumeInfo> create_volume(const VolumeRequest& request) override;
  Result<VolumeInfo> inspect_volume(const std::string& name) override;
  Result<void> remove_volume(const std::string& name) override;
  Result<void> import_image(const ImageImport& image) override;
  Result<std::vector<ImageSummary>> list_images() override;
  Result<void> remove_image(const std::string& image) override;
  Result<void> create_network(const NetworkRequest& request) override;

 private:
  struct Sent;  // One call: operation, method, path, body, timeout.

  // The minor of the version agreed with the daemon. Errors carry the code of `operation`.
  Result<uint32_t> api_minor(Operation operation);
  Result<Call> to_call(const Sent& sent);
  // The answer of a 2xx or 304 status; every other status as the operation's error.
  Result<Answer> send(const Sent& sent);
  Result<void> stream(const Sent& sent, const std::stop_token& stop, const OnBytes& on_bytes);
  Result<json::Value> get(Operation operation, std::string path);
  Result<ContainerState> inspect_for(Operation operation, const std::string& id);
  Result<void> make_network(const NetworkRequest& request);
  Result<std::vector<std::string>> networks_named(const std::string& name);
  Result<void> keep_one_network(std::vector<std::string> ids);
  Error transport_failure(Operation operation, const TransportError& error,
                          base::Milliseconds timeout);
  Error refusal(Operation operation, const Answer& answer);

  std::unique_ptr<Transport> transport_;
  Timeouts timeouts_;
  std::atomic<uint32_t> api_minor_{0};  // 41 of "1.41"; 0: not agreed yet.
  base::Queue<bool> network_turn_{1};   // Whose it is looks for a network and makes it.
};

}  // namespace docker
