#include "cli/local_agent.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "base/format.h"
#include "base/log.h"
#include "base/open_files.h"
#include "cli/installation.h"
#include "cli/version.h"
#include "crypto/crypto.h"
#include "gpu/emulated/emulated_devices.h"
#include "gpu/nvml/nvml_devices.h"

namespace cli {
namespace {

constexpr base::Milliseconds stop_tasks_timeout = std::chrono::seconds(60);

// Emulated GPUs keep their UUIDs as long as the directory lives, and no two directories share one.
base::Result<std::string> gpu_seed(const std::filesystem::path& dir) {
  const std::filesystem::path path = dir / "gpu-seed";
  std::ifstream stored(path);
  std::string seed((std::istreambuf_iterator<char>(stored)), std::istreambuf_iterator<char>());
  if (!seed.empty()) return seed;
  seed = crypto::to_hex(crypto::random_bytes(16));
  std::ofstream made(path);
  made << seed << std::flush;
  if (!made) {
    return base::fail("IoError", base::format("cannot write {}: is its directory writable and the "
                                              "disk not full?",
                                              path.string()));
  }
  return seed;
}

base::Result<std::unique_ptr<gpu::Devices>> find_devices(const MachineOptions& machine) {
  if (!machine.emulate.empty()) {
    base::log_info("container instance {} is emulated: its containers are real, its GPUs are not",
                   machine.emulate);
    return gpu::emulated_devices({.instance_type = machine.emulate,
                                  .seed_name = TRY(gpu_seed(machine.data_dir)),
                                  .data_dir = machine.data_dir / "gpu"});
  }
  std::unique_ptr<gpu::Devices> devices = gpu::nvml_devices();
  const auto inventory = devices->discover();
  // A card that cannot be used is the agent's to tell: it looks again when it registers.
  if (inventory && inventory->gpus.empty() && inventory->problems.empty()) {
    base::log_info(
        "this machine has no NVIDIA GPU: it is a CPU container instance. For emulated GPUs start "
        "with --emulate p3.8xlarge");
  } else if (inventory) {
    base::log_info("this machine has {} usable GPUs, driver {}", inventory->gpus.size(),
                   inventory->driver_version);
  }
  return devices;
}

}  // namespace

base::Result<std::unique_ptr<agent::Agent>> start_agent(agent::AgentOptions options,
                                                        const MachineOptions& machine,
                                                        LocalDocker& docker, base::Clock& clock,
                                                        FatalFlag& fatal) {
  base::raise_open_files_limit();
  TRY_VOID(make_data_dir(machine.data_dir));
  std::unique_ptr<gpu::Devices> devices = TRY(find_devices(machine));
  options.data_dir = machine.data_dir;
  options.emulated_instance_type = machine.emulate;
  options.instance_type = machine.instance_type;
  options.version = std::string(version);
  options.docker_host = docker.client->host();
  options.on_fatal = [&fatal](const base::Error& error) {
    base::log_error("the agent cannot go on: {} ({})", error.message, error.code);
    fatal = true;
    ::kill(::getpid(), SIGTERM);
  };
  return agent::Agent::start(std::move(options), std::move(devices), docker.access(), clock);
}

base::Result<std::unique_ptr<LocalDocker>> local_docker(const std::string& host) {
  return std::make_unique<LocalDocker>(
      TRY(docker::DockerClient::create(host.empty() ? docker::host_from_environment() : host)));
}

void stop_agents(std::vector<std::unique_ptr<agent::Agent>>& agents, bool stop_tasks) {
  base::log_info("stopping; {}", stop_tasks ? "all tasks too" : "containers go on");
  if (stop_tasks) {
    std::vector<std::jthread> stopping;
    for (const auto& agent : agents) {
      stopping.emplace_back([&agent] {
        if (agent->stop_all_tasks("The container instance is shutting down.", stop_tasks_timeout)) {
          return;
        }
        base::log_warning("containers of {} still run; docker ps --filter label=berth.agent={}",
                          agent->instance_id(), agent->name());
      });
    }
  }
  for (const auto& agent : agents) agent->stop();
  agents.clear();
}

}  // namespace cli
