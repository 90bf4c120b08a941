// What an agent is told when it starts.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "acs/agent_session.h"
#include "base/time.h"
#include "model/task_bounds.h"

namespace agent::core {

// Source of the four behaviours: ECS Developer Guide, ECS_IMAGE_PULL_BEHAVIOR.
enum class PullBehavior : uint8_t { Default, Always, Once, PreferCached };

struct Config {
  std::string cluster = "default";
  // Tells this agent's containers from those of other agents on the same Docker; must stay the same
  // across restarts.
  std::string agent_name;
  // Of the agent's data directory, told apart from every other on this machine. Containers that
  // carry it and are of no task that the agent knows are ended. Empty: none are.
  std::string agent_data;
  std::string region = "us-east-1";
  uint64_t random_seed = 0;
  PullBehavior pull_behavior = PullBehavior::PreferCached;
  uint32_t pull_attempts = 5;
  // Of output that Docker's driver json-file keeps on the machine, where a container says nothing:
  // "100m" in each of so many files. Empty: as Docker is set up.
  std::string log_max_size;
  int log_max_files = 5;
  std::string default_log_driver;       // Docker's; empty: not known.
  model::TaskBounds bounds;             // What tasks may ask of the machine.
  int64_t pids_limit = 32'768;          // Processes and threads of one container; 0: no limit.
  std::set<std::string> pulled_images;  // By earlier processes, for PullBehavior::Once.
  base::Milliseconds stop_timeout = std::chrono::seconds(30);
  base::Milliseconds cleanup_wait = std::chrono::hours(3);      // From STOPPED to `docker rm`.
  base::Milliseconds remember_stopped = std::chrono::hours(1);  // After the cleanup.
  base::Milliseconds gpu_probe_interval = std::chrono::milliseconds(250);
  base::Milliseconds gpu_release_timeout = std::chrono::seconds(60);
  // A start that was broken off may still happen so long after it was answered: containerd goes on
  // without dockerd.
  base::Milliseconds late_start_wait = std::chrono::seconds(10);
  // Docker says that a container runs and the kernel that it does not: for so long Docker may be
  // about to hear of its end.
  base::Milliseconds doubt_wait = std::chrono::seconds(10);
  // STOPPED waits so long for the rest of the output to be delivered.
  base::Milliseconds log_grace = std::chrono::seconds(2);
  // Docker gone for so long: the agent leaves the control plane, telling why, until it is back.
  base::Milliseconds runtime_grace = std::chrono::seconds(10);
  base::Milliseconds snapshot_interval = std::chrono::minutes(5);
  // Where containers find the task metadata endpoint and their role's keys: "http://169.254.170.2".
  // Empty: no such variables.
  std::string metadata_uri;
  std::string host_metadata_uri;  // Of containers in the machine's own network.
  // Of NVIDIA MPS: the first is mounted at the same path into containers that share a GPU.
  std::string mps_pipe_directory = "/run/mps-ecs";
  std::string mps_log_directory = "/var/log/mps-ecs";
  acs::AgentSettings session;
};

}  // namespace agent::core
