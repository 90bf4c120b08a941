#include "agent/core/container_volumes.h"

#include <algorithm>

#include "base/format.h"

namespace agent::core {
namespace {

std::string volume_name(const acs::Task& task, const acs::Volume& volume) {
  return base::format("ecs-{}-{}-{}-{}", task.family, task.version, volume.name,
                      task_id(task.arn).substr(0, 20));
}

bool is_made_by_agent(const acs::Volume& volume) {
  if (volume.docker_volume_configuration) return true;
  return !volume.host || volume.host->source_path.empty();
}

std::string volume_source(const acs::Task& task, const acs::Volume& volume) {
  if (!is_made_by_agent(volume)) return volume.host->source_path;
  const auto& docker = volume.docker_volume_configuration;
  return docker && docker->scope == "shared" ? volume.name : volume_name(task, volume);
}

}  // namespace

std::vector<VolumeWork> volumes_to_make(const acs::Task& task) {
  std::vector<VolumeWork> volumes;
  for (const acs::Volume& volume : task.volumes) {
    if (!is_made_by_agent(volume)) continue;
    const auto& docker = volume.docker_volume_configuration;
    volumes.push_back({.name = volume.name,
                       .docker_name = volume_source(task, volume),
                       .of_the_task = !(docker && docker->scope == "shared")});
  }
  return volumes;
}

CreateVolume create_volume_request(const acs::Task& task, const VolumeWork& volume) {
  CreateVolume request;
  request.name = volume.docker_name;
  request.driver = "local";
  const auto given = std::ranges::find(task.volumes, volume.name, &acs::Volume::name);
  if (given == task.volumes.end() || !given->docker_volume_configuration) return request;
  const acs::DockerVolumeConfiguration& docker = *given->docker_volume_configuration;
  if (!docker.driver.empty()) request.driver = docker.driver;
  request.driver_options = docker.driver_opts;
  request.labels = docker.labels;
  request.must_exist = docker.scope == "shared" && !docker.autoprovision;
  return request;
}

base::Result<std::vector<std::string>> binds(const acs::Task& task,
                                             const acs::Container& container) {
  std::vector<std::string> all;
  for (const acs::MountPoint& mount : container.mount_points) {
    const auto volume = std::ranges::find(task.volumes, mount.source_volume, &acs::Volume::name);
    if (volume == task.volumes.end()) {
      return base::fail("DockerClientConfigError",
                        base::format("Container '{}' mounts the volume '{}', which the task does "
                                     "not have.",
                                     container.name, mount.source_volume));
    }
    all.push_back(base::format("{}:{}{}", volume_source(task, *volume), mount.container_path,
                               mount.read_only ? ":ro" : ""));
  }
  return all;
}

}  // namespace agent::core
