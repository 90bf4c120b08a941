#include <algorithm>
#include <set>

#include "control/tasks/definition/rules.h"
#include "model/gpu_doors.h"

namespace control {
namespace {

base::Result<void> check_mounts_no_gpu(std::string_view volume, std::string_view member,
                                       std::string_view path) {
  if (!model::is_gpu_path(path)) return {};
  return client_error(base::format(
      "Volume '{}': {} {} would give GPUs past their book-keeping. Use "
      R"("resourceRequirements": [{{"type": "GPU", "value": "1"}}] in the container instead.)",
      volume, member, path.substr(0, 255)));
}

// Docker's driver "local" mounts the option "device", which may be a path of the machine.
// Source: mount(8), Docker documentation, "docker volume create", driver options.
base::Result<void> check_driver_options(std::string_view volume,
                                        const api::ecs::DockerVolumeConfiguration& docker) {
  const auto device = docker.driver_opts.find("device");
  if (device == docker.driver_opts.end()) return {};
  return check_mounts_no_gpu(volume, "driverOpts.device", device->second);
}

// Source: ECS API reference, Volume and HostVolumeProperties.
base::Result<void> check_volume(const api::ecs::Volume& volume) {
  const std::string name = volume.name.value_or("");
  if (!is_plain_name(name)) {
    return client_error(base::format(
        "The volume name \"{}\" must be 1 to 255 letters, digits, hyphens and underscores.",
        name.substr(0, 255)));
  }
  const std::string path = volume.host ? volume.host->source_path.value_or("") : "";
  if (volume.docker_volume_configuration) {
    if (!path.empty()) {
      return client_error(base::format(
          "Volume '{}' has both host and dockerVolumeConfiguration: give one of them.", name));
    }
    return check_driver_options(name, *volume.docker_volume_configuration);
  }
  if (path.empty()) return {};
  if (!path.starts_with('/') || path.find(':') != std::string::npos) {
    return client_error(base::format(
        "Volume '{}': host.sourcePath \"{}\" must be an absolute path without \":\".", name, path));
  }
  return check_mounts_no_gpu(name, "host.sourcePath", path);
}

base::Result<void> check_mount_points(const Registration& request, const Container& container) {
  std::set<std::string> paths;
  for (const api::ecs::MountPoint& mount : container.mount_points) {
    const std::string source = mount.source_volume.value_or("");
    const bool known = std::ranges::any_of(request.volumes, [&](const api::ecs::Volume& volume) {
      return volume.name.value_or("") == source;
    });
    if (!known) {
      return client_error(
          base::format("Unknown volume '{}'. Container '{}' mounts it; name it under volumes.",
                       source, container.name.value_or("")));
    }
    const std::string path = mount.container_path.value_or("");
    if (!path.starts_with('/') || path.find(':') != std::string::npos) {
      return invalid_setting(
          container, base::format("mountPoints: containerPath \"{}\" of volume '{}' must be an "
                                  "absolute path without \":\".",
                                  path, source));
    }
    if (model::is_gpu_path(path)) {
      return invalid_setting(
          container, base::format("mountPoints: containerPath {} would ask for GPUs past their "
                                  "book-keeping. Use resourceRequirements instead.",
                                  path));
    }
    if (!paths.insert(path).second) {
      return invalid_setting(container,
                             base::format("mountPoints: two volumes are mounted at {}.", path));
    }
  }
  return {};
}

base::Result<void> check_volumes_from(const Registration& request, const Container& container) {
  for (const api::ecs::VolumeFrom& from : container.volumes_from) {
    const std::string source = from.source_container.value_or("");
    const Container* const found = find_container(request, source);
    if (found == nullptr || found == &container) {
      return invalid_setting(
          container, base::format("volumesFrom names {} '{}'.",
                                  found == nullptr ? "a container that the task does not have:"
                                                   : "the container itself:",
                                  source));
    }
  }
  return {};
}

}  // namespace

base::Result<void> check_volumes(const Registration& request) {
  std::set<std::string> names;
  for (const api::ecs::Volume& volume : request.volumes) {
    TRY_VOID(check_volume(volume));
    if (!names.insert(volume.name.value_or("")).second) {
      return client_error(base::format("Volume names must be unique: two are named '{}'.",
                                       volume.name.value_or("")));
    }
  }
  for (const Container& container : request.container_definitions) {
    TRY_VOID(check_mount_points(request, container));
    TRY_VOID(check_volumes_from(request, container));
  }
  return {};
}

}  // namespace control
