#include "agent/docker_calls.h"

#include <string_view>
#include <utility>

#include "agent/secrets.h"
#include "base/format.h"
#include "docker/pause_image.h"

namespace agent {
namespace {

core::Cause to_cause(docker::Cause cause) {
  switch (cause) {
    case docker::Cause::Unreachable:
      return core::Cause::Unreachable;
    case docker::Cause::NotFound:
      return core::Cause::NotFound;
    case docker::Cause::Conflict:
      return core::Cause::Conflict;
    case docker::Cause::NoSpace:
      return core::Cause::NoSpace;
    case docker::Cause::Timeout:
      return core::Cause::Timeout;
    case docker::Cause::BadParameter:
      return core::Cause::BadParameter;
    case docker::Cause::Denied:
      return core::Cause::Denied;
    case docker::Cause::Cancelled:
      return core::Cause::Cancelled;
    case docker::Cause::Other:
      return core::Cause::Other;
  }
  return core::Cause::Other;
}

core::RuntimeStatus to_status(docker::ContainerStatus status) {
  switch (status) {
    case docker::ContainerStatus::Created:
      return core::RuntimeStatus::Created;
    case docker::ContainerStatus::Running:
    case docker::ContainerStatus::Paused:
    case docker::ContainerStatus::Restarting:
      return core::RuntimeStatus::Running;
    case docker::ContainerStatus::Removing:
    case docker::ContainerStatus::Exited:
    case docker::ContainerStatus::Dead:
      return core::RuntimeStatus::Exited;
  }
  return core::RuntimeStatus::Exited;
}

core::HealthStatus to_health(docker::HealthStatus health) {
  switch (health) {
    case docker::HealthStatus::None:
      return core::HealthStatus::None;
    case docker::HealthStatus::Starting:
      return core::HealthStatus::Starting;
    case docker::HealthStatus::Healthy:
      return core::HealthStatus::Healthy;
    case docker::HealthStatus::Unhealthy:
      return core::HealthStatus::Unhealthy;
  }
  return core::HealthStatus::None;
}

// "sha256:..." of "busybox@sha256:...".
std::string digest_of(const docker::ImageInfo& image) {
  if (image.repo_digests.empty()) return {};
  const std::string& reference = image.repo_digests.front();
  const size_t at = reference.find('@');
  return at == std::string::npos ? std::string() : reference.substr(at + 1);
}

std::unexpected<core::OperationError> failure(const docker::Error& error) {
  return std::unexpected(to_operation_error(error));
}

core::OperationResult done(const docker::Result<void>& result) {
  if (!result) return failure(result.error());
  return core::Done{};
}

struct Caller {
  const DockerAccess& docker;

  core::OperationResult operator()(const core::InspectImage& request) const {
    auto image = docker.runtime.inspect_image(request.image);
    const bool absent = !image && image.error().cause == docker::Cause::NotFound;
    if (absent && request.image == core::pause_image) {
      const auto made = docker.resources.import_image(docker::pause_image(request.image));
      if (!made) return failure(made.error());
      image = docker.runtime.inspect_image(request.image);
    }
    if (!image) return failure(image.error());
    return core::ImageInfo{image->id, digest_of(*image), image->environment};
  }

  core::OperationResult operator()(const core::CreateContainer& request) const {
    const auto created = docker.runtime.create(request.name, request.body);
    if (!created) return failure(created.error());
    return core::CreatedContainer{created->id};
  }

  core::OperationResult operator()(const core::StartContainer& request) const {
    const auto started = docker.runtime.start(request.runtime_id);
    if (started) return core::Done{};
    core::OperationError error = to_operation_error(started.error());
    error.message = without_secrets_of(request.runtime_id, error);
    return std::unexpected(std::move(error));
  }

  // A log driver that does not start quotes its options. Where Docker no longer tells what they
  // are, its words are held back: they might be among them.
  std::string without_secrets_of(const std::string& runtime_id,
                                 const core::OperationError& error) const {
    const auto state = docker.runtime.inspect(runtime_id);
    if (state) return without_secrets(error.message, *state);
    // These are this agent's own words, not Docker's.
    const bool unanswered = error.cause == core::Cause::Unreachable ||
                            error.cause == core::Cause::NotFound ||
                            error.cause == core::Cause::Timeout;
    if (unanswered) return error.message;
    return base::format("Docker's reason is held back, since it may quote a secret: {}",
                        state.error().message);
  }

  core::OperationResult operator()(const core::StopContainer& request) const {
    return done(docker.runtime.stop(request.runtime_id, request.timeout));
  }

  core::OperationResult operator()(const core::KillContainer& request) const {
    return done(docker.runtime.kill(request.runtime_id, "SIGKILL"));
  }

  core::OperationResult operator()(const core::RemoveContainer& request) const {
    const auto removed =
        docker.runtime.remove(request.runtime_id_or_name, {.force = true, .volumes = true});
    if (!removed && removed.error().cause == docker::Cause::NotFound) return core::Done{};
    return done(removed);
  }

  core::OperationResult operator()(const core::InspectContainer& request) const {
    const auto state = docker.runtime.inspect(request.runtime_id_or_name);
    if (!state) return failure(state.error());
    return to_container_info(*state);
  }

  core::OperationResult operator()(const core::ListContainers& request) const {
    const auto listed = docker.runtime.list({.labels = {{"berth.agent", request.agent_name}}});
    if (!listed) return failure(listed.error());
    core::Snapshot snapshot;
    for (const docker::ContainerSummary& one : *listed) {
      const auto state = docker.runtime.inspect(one.id);
      if (!state && state.error().cause == docker::Cause::NotFound) continue;
      if (!state) return failure(state.error());
      snapshot.containers.push_back(to_container_info(*state));
    }
    return snapshot;
  }

  core::OperationResult operator()(const core::CreateVolume& request) const {
    const auto volume =
        request.must_exist
            ? docker.resources.inspect_volume(request.name)
            : docker.resources.create_volume({.name = request.name,
                                              .driver = request.driver,
                                              .driver_options = request.driver_options,
                                              .labels = request.labels});
    if (!volume) return failure(volume.error());
    return core::Done{};
  }

  core::OperationResult operator()(const core::RemoveVolume& request) const {
    return done(docker.resources.remove_volume(request.name));
  }

  template <class NotDockers>
  core::OperationResult operator()(const NotDockers&) const {
    return std::unexpected(core::OperationError{core::Cause::Other, "InternalFailure",
                                                "this request is not for Docker"});
  }
};

}  // namespace

core::OperationError to_operation_error(const docker::Error& error) {
  return {to_cause(error.cause), error.code, error.message};
}

core::ContainerInfo to_container_info(const docker::ContainerState& state) {
  core::ContainerInfo info;
  info.runtime_id = state.id;
  info.name = state.name;
  info.image_id = state.image_id;
  info.labels = state.labels;
  info.status = to_status(state.status);
  info.exit_code = static_cast<int32_t>(state.exit_code);
  info.oom_killed = state.oom_killed;
  info.error = without_secrets(state.error, state);
  info.pid = state.pid;
  info.created_at = state.created_at;
  info.started_at = state.started_at;
  info.finished_at = state.finished_at;
  for (const docker::NetworkBinding& binding : state.network_bindings) {
    if (binding.protocol != "tcp" && binding.protocol != "udp") continue;
    info.bindings.push_back({.container_port = binding.container_port,
                             .host_ip = binding.host_ip,
                             .host_port = binding.host_port,
                             .udp = binding.protocol == "udp"});
  }
  info.ip_addresses = state.ip_addresses;
  info.health = to_health(state.health.status);
  info.health_output = state.health.last_output;
  return info;
}

std::optional<core::ContainerEvent> to_core_event(const docker::ContainerEvent& event) {
  core::ContainerEvent told;
  told.runtime_id = event.id;
  told.health = to_health(event.health);
  if (event.exit_code) told.exit_code = static_cast<int32_t>(*event.exit_code);
  switch (event.kind) {
    case docker::EventKind::Started:
      told.kind = core::EventKind::Started;
      return told;
    case docker::EventKind::Died:
      told.kind = core::EventKind::Died;
      return told;
    case docker::EventKind::OutOfMemory:
      told.kind = core::EventKind::OutOfMemory;
      return told;
    case docker::EventKind::Destroyed:
      told.kind = core::EventKind::Destroyed;
      return told;
    case docker::EventKind::HealthChanged:
      told.kind = core::EventKind::HealthChanged;
      return told;
    case docker::EventKind::Created:
    case docker::EventKind::Other:
      return std::nullopt;
  }
  return std::nullopt;
}

core::OperationResult pull_image(const docker::PullRequest& request, const DockerAccess& docker,
                                 const docker::OnPullProgress& on_progress) {
  return done(docker.runtime.pull(request, on_progress));
}

core::OperationResult call_docker(const core::Request& request, const DockerAccess& docker) {
  return std::visit(Caller{docker}, request);
}

}  // namespace agent
