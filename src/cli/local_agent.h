// Agents that run in this process.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "agent/container_cgroups.h"
#include "base/result.h"
#include "base/time.h"
#include "docker/client.h"

namespace cli {

// What `up` and `agent` say about one container instance.
struct MachineOptions {
  std::filesystem::path data_dir;
  std::string emulate;        // "p3.8xlarge"; empty: the machine itself.
  std::string instance_type;  // Of the machine itself; empty: made of its GPUs.
};

// This machine's Docker, for the agents of this process; outlives them.
struct LocalDocker {
  explicit LocalDocker(std::unique_ptr<docker::DockerClient> made)
      : client(std::move(made)), cgroups(*client) {}
  agent::DockerAccess access() { return {*client, *client, *client, cgroups}; }

  std::unique_ptr<docker::DockerClient> client;
  agent::ContainerCgroups cgroups;
};

// Set by an agent that cannot go on; its process gets SIGTERM then. Outlives the agents.
using FatalFlag = std::atomic<bool>;

// `options` has the server, the key and the cluster. The machine's GPUs, or the emulated ones, are
// found here; one sentence in the log says what the instance is. Errors: those of Agent::start;
// InvalidParameterException for an unknown type.
base::Result<std::unique_ptr<agent::Agent>> start_agent(agent::AgentOptions options,
                                                        const MachineOptions& machine,
                                                        LocalDocker& docker, base::Clock& clock,
                                                        FatalFlag& fatal);

// The daemon that --docker-host names, or DOCKER_HOST, or the usual socket. Nothing is sent yet.
base::Result<std::unique_ptr<LocalDocker>> local_docker(const std::string& host);

// Stops the tasks of all agents at the same time, when told to, and then the agents.
void stop_agents(std::vector<std::unique_ptr<agent::Agent>>& agents, bool stop_tasks);

}  // namespace cli
