// Containers' processes by their cgroups: a container whose cgroup is empty, or gone, runs nothing.
// Works with cgroup v2 and v1, with Docker's drivers systemd and cgroupfs.
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst ("populated", "cgroup.kill"),
// cgroup-v1/cgroups.rst, cgroup-v1/freezer-subsystem.rst.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "agent/container_processes.h"
#include "docker/runtime.h"

namespace agent {

class ContainerCgroups final : public ContainerProcesses {
 public:
  // `docker` outlives it. `root`: where the machine has its cgroups.
  explicit ContainerCgroups(docker::ContainerRuntime& docker,
                            std::filesystem::path root = "/sys/fs/cgroup")
      : docker_(docker), root_(std::move(root)) {}

  std::vector<core::ProcessesSeen> look(std::span<const std::string> runtime_ids) override;
  core::ProcessesSeen end(const std::string& runtime_id) override;

 private:
  // Why a cgroup that is not found may be there all the same; empty when it would be found.
  std::string blind_spot(const std::filesystem::path& tree);

  docker::ContainerRuntime& docker_;
  std::filesystem::path root_;
  enum class Place : uint8_t { Unknown, Here, Elsewhere, WithoutCgroups };
  std::atomic<Place> docker_is_ = Place::Unknown;
  std::atomic<bool> has_found_ = false;  // A container's cgroup, in this process's life.
};

}  // namespace agent
