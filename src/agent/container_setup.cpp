#include "agent/container_setup.h"

#include <utility>

#include "agent/container_variables.h"
#include "agent/core/bounds_check.h"
#include "agent/core/container_network.h"
#include "agent/environment_files.h"
#include "agent/host_ports.h"
#include "base/format.h"
#include "base/log.h"
#include "base/random.h"
#include "model/task_bounds.h"

namespace agent {
namespace {

core::OperationError setup_error(const std::string& message) {
  return {core::Cause::BadParameter, "ResourceInitializationError", message};
}

std::unexpected<core::OperationError> not_allowed_here(std::string message) {
  return std::unexpected(core::OperationError{
      core::Cause::BadParameter, std::string(core::not_allowed_error), std::move(message)});
}

// Where the path leads, links followed. Errors: "IoError" in the system's words.
base::Result<std::string> resolved(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  if (error) return base::fail("IoError", error.message());
  return real.string();
}

// Follows links: a path that lies where tasks may go can lead elsewhere. Sockets of Docker may be
// reached by a link, too.
SetupResult<void> check_links(const AgentOptions& options, const std::string& path) {
  model::TaskBounds bounds = options.bounds;
  bounds.host_paths.clear();
  for (const std::string& allowed : options.bounds.host_paths) {
    // One that leads nowhere, such as a link to itself, allows nothing.
    if (auto real = resolved(allowed)) bounds.host_paths.push_back(std::move(*real));
  }
  std::vector<std::string> sockets = model::sockets_of_runtimes();
  constexpr std::string_view unix_scheme = "unix://";
  if (options.docker_host.starts_with(unix_scheme)) {
    sockets.push_back(options.docker_host.substr(unix_scheme.size()));
  }
  for (std::string& socket : sockets) socket = resolved(socket).value_or(socket);
  const auto real = resolved(path);
  if (!real) {
    return not_allowed_here(
        base::format("the host path {} cannot be looked at: {}.", path, real.error().message));
  }
  for (const std::string& need : model::needs_of_host_path(*real, sockets)) {
    if (model::permits(bounds, need)) continue;
    return not_allowed_here(base::format(
        "{} on this container instance ({}){}.", model::not_allowed(need), model::allowed_by(need),
        *real == path ? std::string() : base::format("; {} leads there", path)));
  }
  return {};
}

SetupResult<void> check_host_paths(const AgentOptions& options,
                                   const core::CreateContainer& request) {
  if (!options.bounds.bounded) return {};
  std::vector<std::string> paths = request.host_paths;
  constexpr std::string_view of_machine = "file://";
  for (const std::string& file : request.environment_files) {
    if (file.starts_with(of_machine)) paths.push_back(file.substr(of_machine.size()));
  }
  for (const std::string& path : paths) {
    if (auto checked = check_links(options, path); !checked) return checked;
  }
  return {};
}

SetupResult<void> add_files(const SetupParts& parts, const Keys& keys,
                            core::CreateContainer& request) {
  const AgentOptions& options = parts.options;
  const ObjectStore store{
      .endpoint = options.s3_endpoint,
      .region = options.region,
      .credentials = keys.value_or(auth::Credentials{
          options.access_key_id, options.secret_access_key, options.session_token})};
  for (const std::string& file : request.environment_files) {
    const auto variables = read_environment_file(file, store, parts.clock.now());
    if (!variables) {
      return std::unexpected(
          setup_error(base::format("failed to download env files: {}: {}", variables.error().code,
                                   variables.error().message)));
    }
    if (auto added = add_file_variables(request.body, file, *variables); !added) return added;
  }
  return {};
}

void set_log_option(json::Value& body, const std::string& name, const std::string& value) {
  json::Value host = body["HostConfig"];
  json::Value log = host["LogConfig"];
  json::Value options = log["Config"];
  options.set(name, value);
  log.set("Config", std::move(options));
  host.set("LogConfig", std::move(log));
  body.set("HostConfig", std::move(host));
}

SetupResult<void> add_secrets(const SetupParts& parts, const Keys& keys,
                              core::CreateContainer& request) {
  if (request.secrets.empty()) return {};
  const auto values = fetch_secrets(parts.api, request.secrets, keys);
  if (!values) return std::unexpected(values.error());
  Variables variables;
  for (size_t i = 0; i < request.secrets.size(); ++i) {
    const acs::Secret& one = request.secrets[i];
    if (one.target == "LOG_DRIVER") {
      set_log_option(request.body, one.name, (*values)[i]);
    } else {
      variables[one.name] = (*values)[i];
    }
  }
  return add_secret_variables(request.body, variables);
}

// Whether Docker's machine is this one, so that its cgroups are.
bool is_local(const docker::RuntimeInfo& info) {
  std::error_code error;
  return std::filesystem::is_directory(info.root_dir, error);
}

// Without the cgroup each container is still bound by the limits of its own.
void join_cgroup(const SetupParts& parts, core::CreateContainer& request) {
  if (!request.limits) return;
  const auto info = parts.docker.runtime.info();
  if (!info || !is_local(*info)) return;
  const auto parent =
      make_task_cgroup(*request.limits, {info->cgroup_driver, info->cgroup_version});
  if (!parent) {
    base::log_warning(
        "The containers of task {} are limited each by itself, not together: {}. Run the agent as "
        "root, with /sys/fs/cgroup writable.",
        request.task_arn, parent.error().message);
    return;
  }
  json::Value host = request.body["HostConfig"];
  host.set("CgroupParent", *parent);
  request.body.set("HostConfig", std::move(host));
}

SetupResult<void> join_network(const SetupParts& parts, const core::CreateContainer& request) {
  const std::string mode = request.body["HostConfig"]["NetworkMode"].text_or("");
  if (mode != core::task_network) return {};
  const auto made =
      parts.docker.resources.create_network({.name = mode, .labels = {{"berth.network", "tasks"}}});
  if (!made) {
    return std::unexpected(core::OperationError{
        core::Cause::Other, "ContainerNetworkingError",
        base::format("the network {} of tasks in mode awsvpc cannot be made: {}", mode,
                     made.error().message)});
  }
  return {};
}

}  // namespace

SetupResult<core::CreateContainer> complete_request(const SetupParts& parts,
                                                    core::CreateContainer request,
                                                    const Keys& keys) {
  if (auto checked = check_host_paths(parts.options, request); !checked) {
    return std::unexpected(std::move(checked).error());
  }
  if (auto added = add_files(parts, keys, request); !added) {
    return std::unexpected(std::move(added).error());
  }
  if (auto added = add_secrets(parts, keys, request); !added) {
    return std::unexpected(std::move(added).error());
  }
  base::Random random(base::system_seed());
  if (const auto bound = bind_ranges(request.port_ranges, random, request.body); !bound) {
    return std::unexpected(setup_error(bound.error().message));
  }
  join_cgroup(parts, request);
  if (auto joined = join_network(parts, request); !joined) {
    return std::unexpected(std::move(joined).error());
  }
  return request;
}

void forget_setup(const SetupParts& parts, const std::string& task_arn) {
  const auto info = parts.docker.runtime.info();
  if (!info || !is_local(*info)) return;
  remove_task_cgroup(core::task_id(task_arn), {info->cgroup_driver, info->cgroup_version});
}

}  // namespace agent
