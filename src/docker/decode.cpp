#include "docker/decode.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace docker {
namespace {

constexpr uint32_t our_api_minor = 43;
constexpr uint32_t oldest_api_minor = 24;

int64_t integer_or_zero(const json::Value& value) {
  return value.as_int64().value_or(0);
}

// Counters of 64 bits that exceed int64_t come as doubles.
uint64_t unsigned_or_zero(const json::Value& value) {
  if (const auto integer = value.as_int64()) {
    return *integer < 0 ? 0 : static_cast<uint64_t>(*integer);
  }
  const double number = value.as_double().value_or(0);
  constexpr double limit = 18446744073709551616.0;
  if (!(number > 0)) return 0;
  return number >= limit ? UINT64_MAX : static_cast<uint64_t>(number);
}

bool true_in(const json::Value& value) {
  return value.as_bool().value_or(false);
}

std::vector<std::string> texts(const json::Value& array) {
  std::vector<std::string> result;
  result.reserve(array.items().size());
  for (const json::Value& item : array.items()) result.push_back(item.text_or(""));
  return result;
}

Labels labels_of(const json::Value& object) {
  Labels result;
  for (const json::Field& field : object.fields()) result[field.name] = field.value.text_or("");
  return result;
}

// Docker spells "never" as the year 1.
std::optional<base::Time> time_of(const json::Value& value) {
  const std::string text = value.text_or("");
  if (text.empty() || text.starts_with("0001-")) return std::nullopt;
  return base::parse_rfc3339(text);
}

std::string without_slash(std::string name) {
  if (name.starts_with('/')) name.erase(0, 1);
  return name;
}

std::optional<uint32_t> minor_of(std::string_view version) {
  constexpr std::string_view major = "1.";
  if (!version.starts_with(major)) return std::nullopt;
  version.remove_prefix(major.size());
  return base::parse_number<uint32_t>(version);
}

// The words of Docker, then those of podman's Docker API; others follow `running`.
RuntimeStatus status_of(std::string_view word, bool running) {
  static constexpr std::pair<std::string_view, RuntimeStatus> words[] = {
      {"created", RuntimeStatus::Created},     {"running", RuntimeStatus::Running},
      {"paused", RuntimeStatus::Paused},       {"restarting", RuntimeStatus::Restarting},
      {"removing", RuntimeStatus::Removing},   {"exited", RuntimeStatus::Exited},
      {"dead", RuntimeStatus::Dead},           {"configured", RuntimeStatus::Created},
      {"initialized", RuntimeStatus::Created}, {"stopping", RuntimeStatus::Running},
      {"stopped", RuntimeStatus::Exited},
  };
  for (const auto& [text, status] : words) {
    if (text == word) return status;
  }
  return running ? RuntimeStatus::Running : RuntimeStatus::Exited;
}

HealthStatus health_of(std::string_view word) {
  if (word == "starting") return HealthStatus::Starting;
  if (word == "healthy") return HealthStatus::Healthy;
  if (word == "unhealthy") return HealthStatus::Unhealthy;
  return HealthStatus::None;
}

// {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "32769"}], "81/tcp": null}
std::vector<Binding> decode_bindings(const json::Value& ports) {
  std::vector<Binding> result;
  for (const json::Field& field : ports.fields()) {
    const size_t slash = field.name.find('/');
    const auto container_port =
        base::parse_number<uint16_t>(std::string_view(field.name).substr(0, slash));
    const std::string protocol = slash == std::string::npos ? "tcp" : field.name.substr(slash + 1);
    if (!container_port || (protocol != "tcp" && protocol != "udp")) continue;
    for (const json::Value& binding : field.value.items()) {
      const auto host_port = base::parse_number<uint16_t>(binding["HostPort"].text_or(""));
      if (!host_port) continue;
      result.push_back(
          {*container_port, binding["HostIp"].text_or(""), *host_port, protocol == "udp"});
    }
  }
  std::ranges::sort(result, {}, [](const Binding& binding) {
    return std::tie(binding.container_port, binding.udp, binding.host_ip, binding.host_port);
  });
  return result;
}

std::vector<std::string> decode_addresses(const json::Value& settings) {
  std::map<std::string, std::string> by_network;
  for (const json::Field& network : settings["Networks"].fields()) {
    std::string address = network.value["IPAddress"].text_or("");
    if (!address.empty()) by_network[network.name] = std::move(address);
  }
  std::vector<std::string> result;
  result.reserve(by_network.size());
  for (auto& [network, address] : by_network) result.push_back(std::move(address));
  return result;
}

void add_block_io(const json::Value& entries, ContainerStats& stats) {
  for (const json::Value& entry : entries.items()) {
    const std::string operation = entry["op"].text_or("");
    const uint64_t bytes = unsigned_or_zero(entry["value"]);
    if (base::equal_ignoring_case(operation, "read")) stats.block_read_bytes += bytes;
    if (base::equal_ignoring_case(operation, "write")) stats.block_write_bytes += bytes;
  }
}

// As `docker stats` counts: without the page cache that the kernel would give back first.
uint64_t memory_in_use(const json::Value& memory) {
  const uint64_t usage = unsigned_or_zero(memory["usage"]);
  const json::Value* cache = memory["stats"].find("total_inactive_file");  // cgroup v1
  if (cache == nullptr) cache = memory["stats"].find("inactive_file");     // cgroup v2
  const uint64_t reclaimable = cache == nullptr ? 0 : unsigned_or_zero(*cache);
  return reclaimable < usage ? usage - reclaimable : usage;
}

EventKind kind_of(std::string_view action) {
  if (action == "create") return EventKind::Created;
  if (action == "start") return EventKind::Started;
  if (action == "die") return EventKind::Died;
  if (action == "oom") return EventKind::OutOfMemory;
  if (action == "destroy") return EventKind::Destroyed;
  if (action.starts_with("health_status")) return EventKind::HealthChanged;
  return EventKind::Other;
}

}  // namespace

Decoded<uint32_t> choose_api_minor(const json::Value& version) {
  const std::string newest_text = version["ApiVersion"].text_or("");
  const auto newest = minor_of(newest_text);
  if (!newest) return std::unexpected("GET /version names no ApiVersion of the form 1.N");
  if (*newest < oldest_api_minor) {
    return std::unexpected(
        base::format("the Docker daemon speaks API version {} at most, and 1.{} is needed; install "
                     "Docker 1.12 or newer",
                     newest_text, oldest_api_minor));
  }
  const uint32_t oldest = minor_of(version["MinAPIVersion"].text_or("")).value_or(0);
  return std::max(std::min(our_api_minor, *newest), oldest);
}

RuntimeInfo decode_info(const json::Value& info, uint32_t api_minor) {
  RuntimeInfo result{
      .id = info["ID"].text_or(""),
      .version = info["ServerVersion"].text_or(""),
      .api_version = base::format("1.{}", api_minor),
      .root_dir = info["DockerRootDir"].text_or(""),
      .operating_system = info["OperatingSystem"].text_or(""),
      .kernel_version = info["KernelVersion"].text_or(""),
      .architecture = info["Architecture"].text_or(""),
      .cgroup_driver = info["CgroupDriver"].text_or(""),
      .cgroup_version = info["CgroupVersion"].text_or("1"),  // Told since API 1.41 only.
      .default_runtime = info["DefaultRuntime"].text_or(""),
      .runtimes = {},
      .log_drivers = texts(info["Plugins"]["Log"]),
      .default_log_driver = info["LoggingDriver"].text_or(""),
      .live_restore = true_in(info["LiveRestoreEnabled"]),
      .cpus = integer_or_zero(info["NCPU"]),
      .memory_bytes = integer_or_zero(info["MemTotal"]),
  };
  for (const json::Field& runtime : info["Runtimes"].fields()) {
    result.runtimes.push_back(runtime.name);
  }
  std::ranges::sort(result.runtimes);
  std::ranges::sort(result.log_drivers);
  return result;
}

Decoded<ImageInfo> decode_image(const json::Value& image) {
  // "busybox@sha256:..."
  const std::string reference = image["RepoDigests"].at(0).text_or("");
  const size_t at = reference.find('@');
  ImageInfo result{.id = image["Id"].text_or(""),
                   .digest = at == std::string::npos ? "" : reference.substr(at + 1),
                   .environment = texts(image["Config"]["Env"])};
  if (result.id.empty()) return std::unexpected("the image has no Id");
  return result;
}

Decoded<CreatedContainer> decode_created(const json::Value& created) {
  CreatedContainer result{created["Id"].text_or("")};
  if (result.runtime_id.empty()) return std::unexpected("the new container has no Id");
  return result;
}

Decoded<ContainerState> decode_container(const json::Value& container) {
  const json::Value& state = container["State"];
  const json::Value& config = container["Config"];
  ContainerState result;
  result.runtime_id = container["Id"].text_or("");
  if (result.runtime_id.empty()) return std::unexpected("the container has no Id");
  if (!state.is_object()) return std::unexpected("the container has no State");
  result.name = without_slash(container["Name"].text_or(""));
  result.image = config["Image"].text_or("");
  result.image_id = container["Image"].text_or("");
  result.labels = labels_of(config["Labels"]);
  result.status = status_of(state["Status"].text_or(""), true_in(state["Running"]));
  result.exit_code = static_cast<int32_t>(integer_or_zero(state["ExitCode"]));
  result.oom_killed = true_in(state["OOMKilled"]);
  result.error = state["Error"].text_or("");
  result.pid = integer_or_zero(state["Pid"]);
  result.tty = true_in(config["Tty"]);
  result.created_at = time_of(container["Created"]);
  result.started_at = time_of(state["StartedAt"]);
  result.finished_at = time_of(state["FinishedAt"]);
  result.bindings = decode_bindings(container["NetworkSettings"]["Ports"]);
  result.ip_addresses = decode_addresses(container["NetworkSettings"]);
  result.health = health_of(state["Health"]["Status"].text_or(""));
  const auto checks = state["Health"]["Log"].items();
  if (!checks.empty()) result.health_output = checks.back()["Output"].text_or("");
  result.log_options = labels_of(container["HostConfig"]["LogConfig"]["Config"]);
  return result;
}

Decoded<std::vector<ContainerSummary>> decode_list(const json::Value& list) {
  if (!list.is_array()) return std::unexpected("the list of containers is no array");
  std::vector<ContainerSummary> result;
  for (const json::Value& entry : list.items()) {
    ContainerSummary summary{.id = entry["Id"].text_or(""),
                             .name = without_slash(entry["Names"].at(0).text_or("")),
                             .image = entry["Image"].text_or(""),
                             .labels = labels_of(entry["Labels"]),
                             .status = status_of(entry["State"].text_or(""), false)};
    if (summary.id.empty()) return std::unexpected("a container in the list has no Id");
    result.push_back(std::move(summary));
  }
  return result;
}

Decoded<ContainerEvent> decode_event(const json::Value& event) {
  ContainerEvent result;
  result.action = event["Action"].text_or("");
  result.runtime_id = event["Actor"]["ID"].text_or("");
  if (result.action.empty() || result.runtime_id.empty()) {
    return std::unexpected("an event has no Action or no Actor");
  }
  result.kind = kind_of(result.action);
  // Its attributes are the labels and a few facts of the event itself.
  result.labels = labels_of(event["Actor"]["Attributes"]);
  for (const char* fact : {"name", "image", "signal"}) result.labels.erase(fact);
  if (const auto code = result.labels.extract("exitCode"); !code.empty()) {
    result.exit_code = base::parse_number<int32_t>(code.mapped());
  }
  if (result.kind == EventKind::HealthChanged) {
    const size_t space = result.action.rfind(' ');
    if (space != std::string::npos) result.health = health_of(result.action.substr(space + 1));
  }
  result.time_ns = integer_or_zero(event["timeNano"]);
  return result;
}

Decoded<ContainerStats> decode_stats(json::Value stats) {
  const auto read_at = time_of(stats["read"]);
  if (!read_at) return std::unexpected("not running");
  ContainerStats result{.read_at = *read_at, .raw = {}};
  const json::Value& cpu = stats["cpu_stats"];
  const json::Value& memory = stats["memory_stats"];
  result.cpu_total_ns = unsigned_or_zero(cpu["cpu_usage"]["total_usage"]);
  result.system_cpu_ns = unsigned_or_zero(cpu["system_cpu_usage"]);
  result.online_cpus =
      static_cast<uint32_t>(std::min<uint64_t>(unsigned_or_zero(cpu["online_cpus"]), UINT32_MAX));
  result.memory_usage_bytes = memory_in_use(memory);
  result.memory_limit_bytes = unsigned_or_zero(memory["limit"]);
  for (const json::Field& network : stats["networks"].fields()) {
    result.network_rx_bytes += unsigned_or_zero(network.value["rx_bytes"]);
    result.network_tx_bytes += unsigned_or_zero(network.value["tx_bytes"]);
  }
  add_block_io(stats["blkio_stats"]["io_service_bytes_recursive"], result);
  result.pids = unsigned_or_zero(stats["pids_stats"]["current"]);
  result.raw = std::move(stats);
  return result;
}

Decoded<VolumeInfo> decode_volume(const json::Value& volume) {
  VolumeInfo result{volume["Name"].text_or(""), volume["Driver"].text_or(""),
                    volume["Mountpoint"].text_or(""), labels_of(volume["Labels"])};
  if (result.name.empty()) return std::unexpected("the volume has no Name");
  return result;
}

std::string decode_message(std::string_view body) {
  if (const auto value = json::parse(body)) {
    if (const std::string* message = (*value)["message"].as_string()) return *message;
  }
  while (!body.empty() && (body.back() == '\n' || body.back() == '\r' || body.back() == ' ')) {
    body.remove_suffix(1);
  }
  return std::string(body);
}

std::expected<void, std::string> PullTracker::add(const json::Value& line) {
  if (const json::Value* error = line.find("error"); error != nullptr) {
    return std::unexpected(error->text_or(line["errorDetail"]["message"].text_or("unknown")));
  }
  const std::string status = line["status"].text_or("");
  const std::string id = line["id"].text_or("");
  if (!status.empty()) progress_.status = status;
  // Only layers have these words; "Pulling from library/busybox" has the tag for its id.
  static constexpr std::string_view layer_words[] = {
      "Pulling fs layer",  "Waiting",    "Downloading",   "Verifying Checksum",
      "Download complete", "Extracting", "Pull complete", "Already exists"};
  if (id.empty() || std::ranges::find(layer_words, status) == std::end(layer_words)) return {};
  Layer& layer = layers_[id];
  if (status == "Downloading") {
    layer.current = unsigned_or_zero(line["progressDetail"]["current"]);
    layer.total = std::max(layer.current, unsigned_or_zero(line["progressDetail"]["total"]));
  } else if (status != "Pulling fs layer" && status != "Waiting") {
    layer.current = layer.total;
  }
  layer.sized = layer.sized || (status != "Pulling fs layer" && status != "Waiting");
  layer.present = status == "Already exists";
  layer.done = status == "Pull complete" || layer.present;
  sum_up();
  return {};
}

void PullTracker::sum_up() {
  progress_.layers = static_cast<uint32_t>(layers_.size());
  progress_.layers_done = 0;
  progress_.bytes_done = 0;
  progress_.bytes_total = 0;
  uint64_t sized = 0;
  uint64_t unsized = 0;
  for (const auto& [id, layer] : layers_) {
    progress_.layers_done += layer.done ? 1 : 0;
    progress_.bytes_done += layer.current;
    progress_.bytes_total += layer.total;
    if (layer.present) continue;
    (layer.sized ? sized : unsized) += 1;
  }
  const uint64_t guessed = sized == 0 ? 0 : progress_.bytes_total / sized * unsized;
  progress_.bytes_expected = progress_.bytes_total + guessed;
}

}  // namespace docker
