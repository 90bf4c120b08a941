#include "agent/core/payload.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "agent/core/container_body.h"
#include "agent/core/container_network.h"
#include "agent/core/container_volumes.h"
#include "base/format.h"

namespace agent::core {
namespace {

std::unexpected<base::Error> refuse(std::string why) {
  return base::fail("UnrecognizedTaskError", std::move(why));
}

// Source: agent/api/container: an agent accepts no other override than the command.
base::Result<void> check_overrides(const std::string& text, std::string_view of) {
  const base::Result<json::Value> parsed = parse_docker_part(text, "overrides");
  if (!parsed) return refuse(base::format("{}: {}", of, parsed.error().message));
  for (const json::Field& field : parsed->fields()) {
    if (field.name == "command" && field.value.is_array()) continue;
    return refuse(base::format(
        "{}: the override '{}' must be merged by the control plane; only a list 'command' may "
        "stand in overrides.",
        of, field.name));
  }
  return {};
}

base::Result<void> check_container(const acs::Container& container) {
  const std::string of = base::format("Container '{}'", container.name);
  if (container.name.empty()) return refuse("A container has no name.");
  if (container.image.empty()) return refuse(of + " has no image.");
  TRY_VOID(check_overrides(container.overrides, of));
  for (const acs::Secret& secret : container.secrets) {
    if (secret.provider == "ssm" || secret.provider == "asm") continue;
    return refuse(base::format("{}: the secret '{}' has the unknown provider '{}'.", of,
                               secret.name, secret.provider));
  }
  const std::array<std::pair<bool, std::string_view>, 3> unsupported{
      {{container.firelens_configuration.has_value(), "firelensConfiguration"},
       {!container.managed_agents.empty(), "managedAgents"},
       {!container.network_interface_names.empty(), "networkInterfaceNames"}}};
  for (const auto& [given, member] : unsupported) {
    if (given) return refuse(base::format("{}: this agent does not support {}.", of, member));
  }
  return {};
}

base::Result<void> check_volume(const acs::Volume& volume) {
  if (volume.type.empty() || volume.type == "host" || volume.type == "docker") return {};
  return refuse(base::format("Volume '{}': this agent does not support the type '{}'.", volume.name,
                             volume.type));
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> allowed) {
  return std::ranges::find(allowed, text) != allowed.end();
}

// Several containers may share a GPU only when each asks for a share.
base::Result<void> check_association(const acs::Task& payload, const acs::Association& given) {
  if (given.type != "gpu") return {};
  const auto bad = [](std::string why) {
    return base::fail("GpuAssociationError", std::move(why));
  };
  if (given.name.empty() || given.containers.empty()) {
    return bad("A GPU association names no GPU or no container.");
  }
  for (const std::string& name : given.containers) {
    const auto container = std::ranges::find(payload.containers, name, &acs::Container::name);
    if (container == payload.containers.end()) {
      return bad(base::format("GPU {} is for the unknown container '{}'.", given.name, name));
    }
    if (given.containers.size() > 1 && !gpu_access(payload, *container).sharing) {
      return bad(base::format("GPU {} is for several containers, and '{}' does not share it.",
                              given.name, name));
    }
  }
  return {};
}

bool is_shared(const acs::Task& payload, const acs::Association& given) {
  return std::ranges::all_of(given.containers, [&](const std::string& name) {
    const auto container = std::ranges::find(payload.containers, name, &acs::Container::name);
    return container != payload.containers.end() && gpu_access(payload, *container).sharing;
  });
}

}  // namespace

std::string task_id(std::string_view task_arn) {
  return std::string(task_arn.substr(task_arn.rfind('/') + 1));
}

GpuAccess gpu_access(const acs::Task& task, const acs::Container& container) {
  GpuAccess access;
  for (const acs::Association& association : task.associations) {
    if (association.type != "gpu") continue;
    if (std::ranges::find(association.containers, container.name) == association.containers.end()) {
      continue;
    }
    if (std::ranges::find(access.uuids, association.name) == access.uuids.end()) {
      access.uuids.push_back(association.name);
    }
  }
  for (const acs::ResourceRequirement& requirement : container.resource_requirements) {
    if (requirement.type != "GPU" || !requirement.sharing_strategy ||
        !requirement.sharing_strategy->nvidia_mps) {
      continue;
    }
    const acs::NvidiaMps& mps = *requirement.sharing_strategy->nvidia_mps;
    access.sharing = GpuSharing{mps.memory, mps.max_compute_percent};
  }
  return access;
}

base::Result<void> check_payload(const acs::Task& payload) {
  if (payload.arn.empty()) return refuse("A task of the payload has no ARN.");
  if (!is_one_of(payload.desired_status, {"RUNNING", "STOPPED"})) {
    return refuse(base::format("The desired status '{}' is neither RUNNING nor STOPPED.",
                               payload.desired_status));
  }
  if (payload.desired_status == "STOPPED") return {};  // Containers may be left out then.
  if (payload.containers.empty()) return refuse("The task has no container.");
  TRY_VOID(check_overrides(payload.overrides, "The task"));
  std::set<std::string> names;
  for (const acs::Container& container : payload.containers) {
    TRY_VOID(check_container(container));
    if (!names.insert(container.name).second) {
      return refuse(base::format("Two containers have the name '{}'.", container.name));
    }
  }
  for (const acs::Volume& volume : payload.volumes) TRY_VOID(check_volume(volume));
  if (!is_one_of(payload.network_mode, {"", "bridge", "host", "awsvpc", "none"})) {
    return refuse(
        base::format("This agent does not support the network mode '{}'.", payload.network_mode));
  }
  if (!is_one_of(payload.pid_mode, {"", "host", "task"})) {
    return refuse(base::format("This agent does not support the pidMode '{}'.", payload.pid_mode));
  }
  if (!is_one_of(payload.ipc_mode, {"", "host", "none", "task"})) {
    return refuse(base::format("This agent does not support the ipcMode '{}'.", payload.ipc_mode));
  }
  return {};
}

Task make_task(acs::Task payload, base::Random& random, base::Time now) {
  Task task;
  task.record.arn = payload.arn;
  task.record.created_at = now;
  if (needs_pause(payload) && !pause_index(payload)) payload.containers.push_back(make_pause());
  for (const acs::Container& container : payload.containers) {
    ContainerRecord& record = task.record.containers.emplace_back();
    record.name = container.name;
    // Source: amazon-ecs-agent, the name that `docker ps` shows.
    constexpr std::string_view pause_shown = "internalecspause";
    record.docker_name =
        docker_name(payload, is_pause(container) ? pause_shown : std::string_view(container.name),
                    random.hex(20));
    record.metadata_id = random.uuid();
  }
  task.payload = std::move(payload);
  return task;
}

Task make_stopped_task(acs::Task payload, std::string reason, base::Time now) {
  Task task;
  task.record.arn = payload.arn;
  task.record.created_at = now;
  task.record.stop_desired = true;
  task.record.stop_reason = std::move(reason);
  task.record.stopped_at = now;
  for (const acs::Container& container : payload.containers) {
    ContainerRecord& record = task.record.containers.emplace_back();
    record.name = container.name;
    record.status = ContainerStatus::Stopped;
  }
  task.payload = std::move(payload);
  task.payload.volumes.clear();  // None was made, none is to be removed.
  return task;
}

base::Result<void> complete_task(Task& task) {
  const acs::Task& payload = task.payload;
  task.work.resize(task.record.containers.size());
  task.dependencies.assign(task.record.containers.size(), {});
  task.volumes = volumes_to_make(payload);
  std::set<std::string> seen;
  for (const acs::Association& association : payload.associations) {
    if (association.type != "gpu" || !seen.insert(association.name).second) continue;
    GpuWork& gpu = task.gpus.emplace_back();
    gpu.uuid = association.name;
    gpu.shared = is_shared(payload, association);
  }
  for (const acs::Association& association : payload.associations) {
    TRY_VOID(check_association(payload, association));
  }
  task.dependencies = TRY(dependency_graph(payload));
  return {};
}

std::vector<std::pair<std::string, acs::IAMRoleCredentials>> take_credentials(acs::Task& payload) {
  std::vector<std::pair<std::string, acs::IAMRoleCredentials>> taken;
  const auto take = [&](std::optional<acs::IAMRoleCredentials>& given, const char* role) {
    if (!given) return;
    taken.emplace_back(role, *given);
    acs::IAMRoleCredentials without_keys;
    without_keys.credentials_id = given->credentials_id;
    without_keys.role_arn = given->role_arn;
    given = std::move(without_keys);
  };
  take(payload.role_credentials, "TaskApplication");
  take(payload.execution_role_credentials, "TaskExecution");
  return taken;
}

}  // namespace agent::core
