#include "cli/machines.h"

#include <filesystem>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "machines/emulated.h"
#include "machines/exec.h"
#include "machines/none.h"
#include "model/catalogue.h"

namespace cli {
namespace {

constexpr std::string_view exec_prefix = "exec:";

class LocalEmulated final : public machines::EmulatedAgent {
 public:
  LocalEmulated(std::unique_ptr<agent::Agent> agent, docker::DockerClient& docker)
      : agent_(std::move(agent)), docker_(docker) {}

  const std::string& instance_id() const override { return agent_->instance_id(); }

  bool end_tasks(base::Milliseconds timeout) override {
    if (!agent_->stop_all_tasks("The container instance is being terminated.", timeout)) {
      return false;
    }
    // Nobody cleans up after an agent that is gone.
    const auto left = docker_.list({.labels = {{agent::core::label_of_agent, agent_->name()}}});
    if (!left) {
      base::log_warning("containers of {} may be left: {}", agent_->name(), left.error().message);
      return true;
    }
    for (const docker::ContainerSummary& container : *left) {
      const auto removed = docker_.remove(container.id, {.force = true, .volumes = true});
      if (!removed) base::log_warning("{}", removed.error().message);
    }
    return true;
  }

 private:
  std::unique_ptr<agent::Agent> agent_;
  docker::DockerClient& docker_;
};

base::Result<std::unique_ptr<machines::EmulatedAgent>> start_emulated(
    const EmulatedParts& parts, const machines::EmulatedMachine& machine) {
  TRY(model::require_instance_type(machine.instance_type));
  agent::AgentOptions made;
  made.server_urls = {parts.local.credentials.url};
  made.tls = parts.local.trust;
  made.access_key_id = parts.local.credentials.access_key_id;
  made.secret_access_key = parts.local.credentials.secret_access_key;
  made.region = parts.local.credentials.region;
  made.cluster = machine.cluster.empty() ? parts.server.cluster : machine.cluster;
  made.availability_zone = machine.availability_zone;
  made.attributes = machine.attributes;
  TRY_VOID(apply_task_settings(parts.tasks, made));
  auto agent =
      TRY(start_agent(std::move(made), {machine.folder / "agent", machine.instance_type, {}},
                      parts.docker, parts.clock, parts.fatal));
  return std::make_unique<LocalEmulated>(std::move(agent), *parts.docker.client);
}

}  // namespace

base::Result<std::unique_ptr<machines::MachineProvider>> machine_provider(
    const ServerCommand& options) {
  if (options.machines.empty()) return machines::no_machines();
  if (options.machines.starts_with(exec_prefix)) {
    const std::string folder = options.machines.substr(exec_prefix.size());
    return machines::exec_machines({.folder = std::filesystem::absolute(folder)});
  }
  return base::fail("InvalidParameterException",
                    base::format("--machines is \"{}\"; write exec:FOLDER, or with berth up "
                                 "emulated",
                                 options.machines));
}

base::Result<std::unique_ptr<machines::MachineProvider>> machine_provider(
    const EmulatedParts& parts) {
  if (parts.server.machines != emulated_machines_option) return machine_provider(parts.server);
  return machines::emulated_machines(
      std::filesystem::absolute(parts.server.data) / "machines",
      [parts](const machines::EmulatedMachine& machine) { return start_emulated(parts, machine); });
}

}  // namespace cli
