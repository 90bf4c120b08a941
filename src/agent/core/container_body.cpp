#include "agent/core/container_body.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "agent/core/bounds_check.h"
#include "agent/core/container_network.h"
#include "agent/core/container_volumes.h"
#include "base/format.h"
#include "base/text.h"
#include "base/units.h"
#include "model/gpu_doors.h"
#include "model/reserved_variables.h"

namespace agent::core {
namespace {

constexpr std::string_view config_error = "DockerClientConfigError";
constexpr int64_t least_memory = 6 * base::bytes_per_mib;  // Docker refuses less.
constexpr int32_t least_cpu_shares = 2;                    // The kernel's own minimum.

using StringMap = std::map<std::string, std::string>;

// As Go decodes JSON over a struct that has values already.
void merge_over(json::Value& base, const json::Value& over) {
  if (over.is_null()) return;
  if (!base.is_object() || !over.is_object()) {
    base = over;
    return;
  }
  for (const json::Field& field : over.fields()) {
    json::Value merged = base[field.name];
    merge_over(merged, field.value);
    base.set(field.name, std::move(merged));
  }
}

size_t container_index(const acs::Task& task, std::string_view name) {
  const auto found = std::ranges::find(task.containers, name, &acs::Container::name);
  return static_cast<size_t>(found - task.containers.begin());
}

std::string reference(const Task& task, std::string_view container) {
  const size_t index = container_index(task.payload, container);
  return index < task.record.containers.size() ? task.record.containers[index].docker_name
                                               : std::string(container);
}

void add_relations(const Task& task, const acs::Container& container, json::Value& host) {
  std::vector<std::string> links;
  for (const std::string& link : container.links) {
    const size_t colon = link.find(':');
    const std::string name = link.substr(0, colon);
    const std::string alias = colon == std::string::npos ? name : link.substr(colon + 1);
    links.push_back(base::format("{}:{}", reference(task, name), alias));
  }
  if (!links.empty()) host.set("Links", json::Value::array(links));
  std::vector<std::string> from;
  for (const acs::VolumeFrom& volume : container.volumes_from) {
    from.push_back(reference(task, volume.source_container) + (volume.read_only ? ":ro" : ""));
  }
  if (!from.empty()) host.set("VolumesFrom", json::Value::array(from));
}

void add_limits(const Config& config, const acs::Task& task, const acs::Container& container,
                json::Value& host) {
  host.set("CpuShares", std::max(container.cpu, least_cpu_shares));
  const int64_t memory = memory_limit(task, container);
  if (memory > 0) host.set("Memory", std::max(memory * base::bytes_per_mib, least_memory));
  if (!task.berth_cpuset.empty()) host.set("CpusetCpus", task.berth_cpuset);
  if (config.pids_limit > 0) host.set("PidsLimit", config.pids_limit);
  if (container.privileged) host.set("Privileged", true);
  if (task.pid_mode == "host") host.set("PidMode", "host");
  if (task.ipc_mode == "host" || task.ipc_mode == "none") host.set("IpcMode", task.ipc_mode);
}

// The payload's part of hostConfig that would give access to GPUs past the control plane.
base::Result<void> refuse_gpu_doors(const acs::Container& container, json::Value& host) {
  for (const std::string_view door : {"Runtime", "DeviceRequests"}) {
    if (host.find(door) != nullptr) host.set(door, nullptr);
  }
  const auto refuse = [&](std::string_view what) {
    return base::fail(
        std::string(config_error),
        base::format("Container '{}' takes GPUs by the path {}; they are only given through "
                     "resourceRequirements.",
                     container.name, what));
  };
  for (const json::Value& device : host["Devices"].items()) {
    const std::string path = device["PathOnHost"].text_or("");
    if (model::holds_gpu_devices(path)) return refuse(path);
  }
  for (const json::Value& bind : host["Binds"].items()) {
    const std::string text = bind.text_or("");
    for (const auto part : std::views::split(text, ':')) {
      const std::string_view path(part.begin(), part.end());
      if (path.starts_with('/') && model::is_gpu_path(path)) return refuse(path);
    }
  }
  return {};
}

StringMap environment_of(const json::Value& body) {
  StringMap environment;
  for (const json::Value& entry : body["Env"].items()) {
    const std::string text = entry.text_or("");
    const size_t equals = text.find('=');
    environment[text.substr(0, equals)] =
        equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  return environment;
}

void set_environment(json::Value& body, const StringMap& environment) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : environment) entries.push_back(name + "=" + value);
  body.set("Env", json::Value::array(entries));
}

void add_agent_environment(const Config& config, const Task& task, size_t index,
                           StringMap& environment) {
  environment.emplace("AWS_REGION", config.region);
  environment.emplace("AWS_DEFAULT_REGION", config.region);
  const bool in_host = network_mode(task.payload) == "host";
  const std::string& uri = in_host ? config.host_metadata_uri : config.metadata_uri;
  if (uri.empty() || is_pause(task.payload.containers[index])) return;
  const std::string& id = task.record.containers[index].metadata_id;
  environment["ECS_CONTAINER_METADATA_URI"] = base::format("{}/v3/{}", uri, id);
  environment["ECS_CONTAINER_METADATA_URI_V4"] = base::format("{}/v4/{}", uri, id);
  environment["ECS_AGENT_URI"] = base::format("{}/api/{}", uri, id);
  const auto& credentials = task.payload.role_credentials;
  if (!credentials || credentials->credentials_id.empty()) return;
  const std::string path = "/v2/credentials/" + credentials->credentials_id;
  // A relative one means 169.254.170.2 to every SDK, which the machine's own network has not.
  // Source: AWS SDKs and Tools Reference Guide, "Container credential provider".
  if (in_host) {
    environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = uri + path;
  } else {
    environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = path;
  }
}

// Source: amazon-ecs-agent pull request 5082 for the variables of MPS.
void set_gpu_environment(const Config& config, const GpuAccess& gpus, bool image_asks,
                         StringMap& environment, json::Value& host) {
  if (gpus.uuids.empty()) {
    const bool asks =
        image_asks || environment.contains(std::string(model::visible_devices_variable));
    if (asks) environment[std::string(model::visible_devices_variable)] = "void";
    return;
  }
  environment[std::string(model::visible_devices_variable)] =
      base::format("{}", base::join(gpus.uuids, ","));
  if (!gpus.sharing) return;
  environment["CUDA_MPS_PIPE_DIRECTORY"] = config.mps_pipe_directory;
  environment["CUDA_MPS_LOG_DIRECTORY"] = config.mps_log_directory;
  environment["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] = base::format("0={}M", gpus.sharing->memory_mib);
  if (gpus.sharing->max_compute_percent) {
    environment["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] =
        base::format("{}", *gpus.sharing->max_compute_percent);
  }
  json::Value all = host["Binds"].is_array() ? host["Binds"] : json::Value::array();
  all.push(base::format("{0}:{0}", config.mps_pipe_directory));
  host.set("Binds", std::move(all));
  host.set("IpcMode", "host");  // MPS clients and their server talk through /dev/shm.
}

base::Result<void> check_sharing(const acs::Task& task, const acs::Container& container,
                                 const GpuAccess& gpus) {
  if (!gpus.sharing || task.ipc_mode.empty() || task.ipc_mode == "host") return {};
  return base::fail(std::string(config_error),
                    base::format("Container '{}' shares a GPU through NVIDIA MPS, which works in "
                                 "the machine's IPC namespace only: leave out the task's ipcMode "
                                 "'{}'.",
                                 container.name, task.ipc_mode));
}

void set_labels(const Config& config, const Task& task, size_t index, json::Value& body) {
  json::Value labels = body["Labels"].is_object() ? body["Labels"] : json::Value::object();
  const acs::Task& payload = task.payload;
  labels.set("com.amazonaws.ecs.cluster", config.cluster);
  labels.set("com.amazonaws.ecs.container-name", payload.containers[index].name);
  labels.set(label_of_task, payload.arn);
  labels.set("com.amazonaws.ecs.task-definition-family", payload.family);
  labels.set("com.amazonaws.ecs.task-definition-version", payload.version);
  labels.set(label_of_agent, config.agent_name);
  if (!config.agent_data.empty()) labels.set(label_of_agent_data, config.agent_data);
  std::vector<std::string> secret_options;
  for (const acs::Secret& secret : payload.containers[index].secrets) {
    if (secret.target == "LOG_DRIVER") secret_options.push_back(secret.name);
  }
  if (!secret_options.empty()) {
    labels.set(std::string(secret_log_options_label),
               base::format("{}", base::join(secret_options, ",")));
  }
  body.set("Labels", std::move(labels));
}

// The output of a container that the agent ships itself stays on the machine until it is
// delivered, within these bounds.
void keep_output_for_shipping(json::Value& host) {
  if (host["LogConfig"]["Type"].text_or("") != "awslogs") return;
  host.set("LogConfig",
           json::Value::object(
               {{"Type", "json-file"},
                {"Config", json::Value::object({{"max-size", "100m"}, {"max-file", "5"}})}}));
}

// Output that is kept without a bound fills the machine's disk.
void bound_output(const Config& config, json::Value& host) {
  json::Value log = host["LogConfig"].is_object() ? host["LogConfig"] : json::Value::object();
  const std::string named = log["Type"].text_or("");
  const bool by_file = (named.empty() ? config.default_log_driver : named) == "json-file";
  if (!by_file || config.log_max_size.empty()) return;
  json::Value options = log["Config"].is_object() ? log["Config"] : json::Value::object();
  if (options.find("max-size") != nullptr) return;
  options.set("max-size", config.log_max_size);
  if (options.find("max-file") == nullptr) {
    options.set("max-file", base::format("{}", config.log_max_files));
  }
  log.set("Type", "json-file");
  log.set("Config", std::move(options));
  host.set("LogConfig", std::move(log));
}

base::Result<json::Value> command_of(const acs::Container& container) {
  json::Value command =
      container.command.empty() ? json::Value() : json::Value::array(container.command);
  const json::Value overrides = TRY(parse_docker_part(container.overrides, "overrides"));
  if (overrides["command"].is_array()) command = overrides["command"];
  return command;
}

// Source: ECS Developer Guide, task size: what all containers of the task may use together.
std::optional<TaskLimits> task_limits(const acs::Task& task) {
  TaskLimits limits;
  limits.task_id = task_id(task.arn);
  limits.cpu_milli = static_cast<int64_t>(task.cpu.value_or(0) * 1000);
  limits.memory_mib = task.memory.value_or(0);
  if (limits.cpu_milli <= 0 && limits.memory_mib <= 0) return std::nullopt;
  return limits;
}

std::vector<std::string> environment_list(const acs::Container& container) {
  std::vector<std::string> list;
  for (const auto& [name, value] : container.environment) list.push_back(name + "=" + value);
  return list;
}

}  // namespace

base::Result<json::Value> parse_docker_part(const std::string& text, std::string_view which) {
  if (text.empty()) return json::Value::object();
  base::Result<json::Value> parsed = json::parse(text);
  if (parsed && (parsed->is_object() || parsed->is_null())) {
    return parsed->is_null() ? json::Value::object() : std::move(*parsed);
  }
  return base::fail(std::string(config_error),
                    base::format("The payload's {} is no JSON object{}", which,
                                 parsed ? std::string(".") : ": " + parsed.error().message));
}

int64_t memory_limit(const acs::Task& task, const acs::Container& container) {
  return container.memory > 0 ? container.memory : task.memory.value_or(0);
}

base::Result<CreateContainer> create_request(const Config& config, const Task& task, size_t index) {
  const acs::Container& container = task.payload.containers[index];
  const acs::DockerConfig given = container.docker_config.value_or(acs::DockerConfig{});
  json::Value body = json::Value::object({{"Image", container.image}});
  json::Value host = json::Value::object({{"NetworkMode", network_mode(task.payload)}});
  json::Value command = TRY(command_of(container));
  if (!command.is_null()) body.set("Cmd", std::move(command));
  if (!container.entry_point.empty()) {
    body.set("Entrypoint", json::Value::array(container.entry_point));
  }
  body.set("Env", json::Value::array(environment_list(container)));
  const std::vector<PortRange> ranges = TRY(add_ports(task.payload, container, body, host));
  const std::vector<std::string> mounts = TRY(binds(task.payload, container));
  if (!mounts.empty()) host.set("Binds", json::Value::array(mounts));
  add_relations(task, container, host);
  add_limits(config, task.payload, container, host);

  merge_over(body, TRY(parse_docker_part(given.config, "dockerConfig.config")));
  merge_over(host, TRY(parse_docker_part(given.host_config, "dockerConfig.hostConfig")));
  merge_over(host, body["HostConfig"]);
  join_namespaces(task, index, body, host);

  TRY_VOID(refuse_gpu_doors(container, host));
  TRY_VOID(check_bounds(config, task, body, host));
  std::vector<std::string> host_paths = mounted_host_paths(host);
  keep_output_for_shipping(host);
  bound_output(config, host);
  const GpuAccess gpus = gpu_access(task.payload, container);
  TRY_VOID(check_sharing(task.payload, container, gpus));
  StringMap environment = environment_of(body);
  add_agent_environment(config, task, index, environment);
  set_gpu_environment(config, gpus, task.work[index].image_asks_for_gpus, environment, host);
  set_environment(body, environment);
  set_labels(config, task, index, body);
  body.set("HostConfig", std::move(host));
  CreateContainer request;
  request.name = task.record.containers[index].docker_name;
  request.body = std::move(body);
  request.gpus = gpus;
  request.task_arn = task.record.arn;
  request.port_ranges = ranges;
  for (const acs::EnvironmentFile& file : container.environment_files) {
    request.environment_files.push_back(file.value);
  }
  request.secrets = container.secrets;
  request.host_paths = std::move(host_paths);
  request.limits = task_limits(task.payload);
  return request;
}

std::string docker_name(const acs::Task& task, std::string_view container, std::string_view hex20) {
  std::string name = base::format("ecs-{}-{}-{}-{}", task.family, task.version, container, hex20);
  for (char& c : name) {
    if (!base::is_plain(c, "_.-")) c = '-';
  }
  return name;
}

std::optional<ShipLogs> log_shipping(const Config& config, const Task& task, size_t index) {
  const acs::Container& container = task.payload.containers[index];
  if (!container.docker_config) return std::nullopt;
  const auto host = parse_docker_part(container.docker_config->host_config, "hostConfig");
  if (!host || (*host)["LogConfig"]["Type"].text_or("") != "awslogs") return std::nullopt;
  ShipLogs ship;
  ship.task_arn = task.record.arn;
  ship.container_name = container.name;
  ship.runtime_id = task.record.containers[index].runtime_id;
  for (const json::Field& option : (*host)["LogConfig"]["Config"].fields()) {
    ship.options[option.name] = option.value.text_or("");
  }
  const auto option = [&](const std::string& name, const std::string& otherwise) {
    const auto found = ship.options.find(name);
    return found == ship.options.end() || found->second.empty() ? otherwise : found->second;
  };
  ship.group = option("awslogs-group", "");
  ship.region = option("awslogs-region", config.region);
  ship.create_group = option("awslogs-create-group", "false") == "true";
  const std::string prefix = option("awslogs-stream-prefix", "");
  // Source: ECS Developer Guide, awslogs-stream-prefix; without one the stream is the container's
  // id.
  ship.stream = prefix.empty()
                    ? ship.runtime_id
                    : base::format("{}/{}/{}", prefix, container.name, task_id(task.record.arn));
  ship.stream = option("awslogs-stream", ship.stream);
  return ship;
}

}  // namespace agent::core
