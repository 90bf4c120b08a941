#include "agent/docker_calls.h"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/secrets.h"
#include "base/format.h"
#include "docker/pause_image.h"

namespace agent {
namespace {

core::OperationResult done(const docker::Result<void>& result) {
  TRY_VOID(result);
  return core::Done{};
}

struct Caller {
  const DockerAccess& docker;

  core::OperationResult operator()(const core::InspectImage& request) const {
    auto image = docker.runtime.inspect_image(request.image);
    const bool absent = !image && image.error().cause == docker::Cause::NotFound;
    if (absent && request.image == core::pause_image) {
      TRY_VOID(docker.resources.import_image(docker::pause_image(request.image)));
      image = docker.runtime.inspect_image(request.image);
    }
    return TRY(image);
  }

  core::OperationResult operator()(const core::CreateContainer& request) const {
    return TRY(docker.runtime.create(request.name, request.body));
  }

  core::OperationResult operator()(const core::StartContainer& request) const {
    const auto started = docker.runtime.start(request.runtime_id);
    if (started) return core::Done{};
    core::OperationError error = started.error();
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
    core::ContainerInfo info =
        to_container_info(TRY(docker.runtime.inspect(request.runtime_id_or_name)));
    info.processes = docker.processes.look_at(info.runtime_id).left;
    const bool just_ended =
        info.status == core::RuntimeStatus::Running && info.processes == core::Processes::None;
    if (!just_ended) return info;
    // Between the two looks its program ended: Docker is asked what it knows now.
    info = to_container_info(TRY(docker.runtime.inspect(request.runtime_id_or_name)));
    info.processes = docker.processes.look_at(info.runtime_id).left;
    return info;
  }

  core::OperationResult operator()(const core::ListContainers& request) const {
    std::set<std::string> ids;
    for (const auto& [label, value] : {std::pair(core::label_of_agent, request.agent_name),
                                       std::pair(core::label_of_agent_data, request.agent_data)}) {
      if (value.empty()) continue;
      for (const auto& one : TRY(docker.runtime.list({.labels = {{label, value}}}))) {
        ids.insert(one.id);
      }
    }
    core::Snapshot snapshot;
    std::vector<std::string> listed;
    for (const std::string& id : ids) {
      auto state = docker.runtime.inspect(id);
      if (!state && state.error().cause == docker::Cause::NotFound) continue;
      snapshot.containers.push_back(to_container_info(TRY(std::move(state))));
      listed.push_back(id);
    }
    const auto seen = docker.processes.look(listed);
    for (size_t i = 0; i < listed.size(); ++i) snapshot.containers[i].processes = seen[i].left;
    return snapshot;
  }

  core::OperationResult operator()(const core::EndProcesses& request) const {
    return docker.processes.end(request.runtime_id);
  }

  core::OperationResult operator()(const core::CreateVolume& request) const {
    TRY(request.must_exist
            ? docker.resources.inspect_volume(request.name)
            : docker.resources.create_volume({.name = request.name,
                                              .driver = request.driver,
                                              .driver_options = request.driver_options,
                                              .labels = request.labels}));
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

core::ContainerInfo to_container_info(docker::ContainerState state) {
  state.error = without_secrets(std::move(state.error), state);
  return static_cast<core::ContainerInfo&&>(state);
}

core::OperationResult pull_image(const docker::PullRequest& request, const DockerAccess& docker,
                                 const docker::OnPullProgress& on_progress) {
  return done(docker.runtime.pull(request, on_progress));
}

core::OperationResult call_docker(const core::Request& request, const DockerAccess& docker) {
  return std::visit(Caller{docker}, request);
}

}  // namespace agent
