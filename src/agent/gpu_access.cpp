#include "agent/gpu_access.h"

#include <utility>

#include "agent/container_process.h"
#include "base/format.h"

namespace agent {
namespace {

// Drivers keep a few MiB more after the first use of a GPU.
constexpr int64_t baseline_slack_mib = 64;

// The entries "NAME=value" without those of `name`.
void set_variable(json::Value& body, const std::string& name, const std::string& value) {
  json::Value environment = json::Value::array();
  for (const json::Value& entry : body["Env"].items()) {
    if (!entry.text_or("").starts_with(name + "=") && entry.text_or("") != name) {
      environment.push(entry);
    }
  }
  environment.push(name + "=" + value);
  body.set("Env", std::move(environment));
}

void append(json::Value& object, std::string_view name, json::Value item) {
  json::Value list = object[name].is_array() ? object[name] : json::Value::array();
  list.push(std::move(item));
  object.set(name, std::move(list));
}

core::OperationError create_error(core::Cause cause, std::string message) {
  return {cause, "CannotCreateContainerError", std::move(message)};
}

}  // namespace

std::string print_baselines(const GpuBaselines& baselines) {
  json::Value text = json::Value::object();
  for (const auto& [uuid, baseline] : baselines) {
    json::Value pids = json::Value::array();
    for (const int64_t pid : baseline.pids) pids.push(pid);
    text.set(uuid,
             json::Value::object({{"pids", std::move(pids)}, {"usedMib", baseline.used_mib}}));
  }
  return json::print(text);
}

GpuBaselines parse_baselines(const std::string& text) {
  GpuBaselines baselines;
  const auto value = json::parse(text);
  if (!value) return baselines;
  for (const json::Field& field : value->fields()) {
    GpuBaseline& baseline = baselines[field.name];
    for (const json::Value& pid : field.value["pids"].items()) {
      baseline.pids.insert(pid.as_int64().value_or(0));
    }
    baseline.used_mib = field.value["usedMib"].as_int64().value_or(0);
  }
  return baselines;
}

json::Value with_gpus(json::Value body, const gpu::ContainerGpuSetup& setup) {
  for (const auto& [name, value] : setup.env) set_variable(body, name, value);
  json::Value host = body["HostConfig"].is_object() ? body["HostConfig"] : json::Value::object();
  if (!setup.runtime.empty()) host.set("Runtime", setup.runtime);
  for (const gpu::DeviceNode& node : setup.devices) {
    append(host, "Devices",
           json::Value::object({{"PathOnHost", node.host_path},
                                {"PathInContainer", node.container_path},
                                {"CgroupPermissions", "rwm"}}));
  }
  for (const gpu::ReadOnlyBind& bind : setup.binds) {
    append(host, "Binds", base::format("{}:{}:ro", bind.host_path, bind.container_path));
  }
  body.set("HostConfig", std::move(host));
  return body;
}

base::Result<gpu::Inventory> GpuAccess::discover() {
  gpu::Inventory found = TRY(devices_->discover());
  mps_.machine_has(found.mps);
  return found;
}

std::vector<gpu::HealthEvent> GpuAccess::health() {
  mps_.look_after();
  return devices_->health();
}

GpuBaselines GpuAccess::take_baselines(const gpu::Inventory& inventory) {
  baselines_.clear();
  for (const model::GpuDevice& gpu : inventory.gpus) {
    const auto use = devices_->use(gpu.uuid);
    if (!use) continue;  // Its first probe will tell.
    GpuBaseline& baseline = baselines_[gpu.uuid];
    baseline.used_mib = use->used_mib;
    for (const gpu::GpuProcess& process : use->processes) baseline.pids.insert(process.pid);
  }
  return baselines_;
}

std::expected<gpu::ContainerGpuSetup, core::OperationError> GpuAccess::setup(
    const core::GpuAccess& gpus) {
  if (gpus.sharing && gpus.uuids.size() != 1) {
    return std::unexpected(
        create_error(core::Cause::BadParameter,
                     base::format("a container shares one GPU, and the control plane gave it {}.",
                                  gpus.uuids.size())));
  }
  auto setup = devices_->container_setup(gpus.uuids);
  if (setup && gpus.sharing) {
    if (const auto running = mps_.ensure_running(); !running) {
      return std::unexpected(create_error(core::Cause::Other, running.error().message));
    }
  }
  if (setup) return std::move(*setup);
  if (setup.error().code == "InvalidParameterException") {
    return std::unexpected(
        create_error(core::Cause::BadParameter,
                     base::format("GPU {} is not on this container instance: {}",
                                  base::join(gpus.uuids, ", "), setup.error().message)));
  }
  return std::unexpected(create_error(core::Cause::Other, setup.error().message));
}

std::string GpuAccess::left_of(const std::vector<std::string>& containers) {
  if (containers.empty()) return {};
  const auto seen = processes_.look(containers);
  for (size_t i = 0; i < containers.size(); ++i) {
    const std::string id = containers[i].substr(0, 12);
    if (seen[i].left == core::Processes::Some) {
      return base::format("container {}, which had it, has processes still", id);
    }
    if (seen[i].left == core::Processes::Unknown) {
      return base::format("whether container {}, which had it, has ended cannot be told: {}", id,
                          seen[i].reason);
    }
  }
  return {};
}

core::OperationResult GpuAccess::probe(const core::ProbeGpu& request) {
  if (std::string left = left_of(request.containers); !left.empty()) {
    return core::GpuUse{false, std::move(left)};
  }
  const auto use = devices_->use(request.uuid);
  if (!use) {
    const bool unknown = use.error().code == "InvalidParameterException";
    return std::unexpected(
        core::OperationError{unknown ? core::Cause::NotFound : core::Cause::Other, use.error().code,
                             use.error().message});
  }
  const GpuBaseline& baseline = baselines_[request.uuid];
  std::vector<std::string> found;
  std::vector<int64_t> pids;
  int64_t of_others_mib = 0;
  for (const gpu::GpuProcess& process : use->processes) {
    if (baseline.pids.contains(process.pid)) continue;
    // The server of NVIDIA MPS stays on its GPU between tasks, with a context of its own.
    if (MpsDaemon::is_process(process.pid) ||
        is_in_container(process.pid, request.sharers, proc_)) {
      of_others_mib += process.used_mib;
    } else {
      pids.push_back(process.pid);
    }
  }
  if (!pids.empty()) {
    found.push_back(base::format("{} process{} (pid {})", pids.size(), pids.size() == 1 ? "" : "es",
                                 base::join(pids, ", ")));
  }
  const int64_t above = use->used_mib - of_others_mib - baseline.used_mib;
  if (above > baseline_slack_mib) {
    found.push_back(base::format("{} MiB above its baseline", above));
  }
  return core::GpuUse{found.empty(), base::format("{}", base::join(found, ", "))};
}

}  // namespace agent
