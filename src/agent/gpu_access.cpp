#include "agent/gpu_access.h"

#include <fstream>
#include <utility>

#include "base/format.h"

namespace agent {
namespace {

// Drivers keep a few MiB more after the first use of a GPU.
constexpr int64_t baseline_slack_mib = 64;

// The daemon of NVIDIA MPS stays on its GPU between tasks.
bool is_mps_daemon(int64_t pid) {
  std::ifstream file(base::format("/proc/{}/comm", pid));
  std::string name;
  return std::getline(file, name) && name.starts_with("nvidia-cuda-mps");
}

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
  if (gpus.sharing) {
    return std::unexpected(create_error(
        core::Cause::BadParameter,
        "this container instance does not share GPUs through NVIDIA MPS; ask for whole GPUs."));
  }
  auto setup = devices_->container_setup(gpus.uuids);
  if (setup) return std::move(*setup);
  if (setup.error().code == "InvalidParameterException") {
    return std::unexpected(
        create_error(core::Cause::BadParameter,
                     base::format("GPU {} is not on this container instance: {}",
                                  base::join(gpus.uuids, ", "), setup.error().message)));
  }
  return std::unexpected(create_error(core::Cause::Other, setup.error().message));
}

core::OperationResult GpuAccess::probe(const core::ProbeGpu& request) {
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
  for (const gpu::GpuProcess& process : use->processes) {
    if (!baseline.pids.contains(process.pid) && !is_mps_daemon(process.pid)) {
      pids.push_back(process.pid);
    }
  }
  if (!pids.empty()) {
    found.push_back(base::format("{} process{} (pid {})", pids.size(), pids.size() == 1 ? "" : "es",
                                 base::join(pids, ", ")));
  }
  const int64_t above = use->used_mib - baseline.used_mib;
  if (above > baseline_slack_mib) {
    found.push_back(base::format("{} MiB above its baseline", above));
  }
  return core::GpuUse{found.empty(), base::format("{}", base::join(found, ", "))};
}

}  // namespace agent
