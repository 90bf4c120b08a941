#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "cli/access.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/instances.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "json/value.h"
#include "model/ids.h"

namespace cli {
namespace {

constexpr std::string_view nics_attribute = "berth.gpu-nics.";

struct GpusCommand {
  std::string data;
  std::string cluster = "default";
  std::vector<std::string> clear;
  bool json = false;
};

// One GPU of one container instance, as people look at it.
struct Row {
  std::string instance_arn;
  std::string host;
  std::string trouble;  // Of the instance; empty: none.
  size_t index = 0;     // Of the GPU on its instance.
  api::ecs::BerthGpuStatus gpu;
  api::ecs::GpuDevice device;
  std::vector<std::string> nics;
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

// The agent tells them in an attribute a GPU, in the order of its GPUs.
std::vector<std::string> nics_of(const api::ecs::ContainerInstance& instance, size_t index) {
  const std::string name = base::format("{}{}", nics_attribute, index);
  for (const api::ecs::Attribute& attribute : instance.attributes) {
    if (attribute.name == name) return words(attribute.value.value_or(""));
  }
  return {};
}

void add_rows(const api::ecs::ContainerInstance& instance, base::Time now, std::vector<Row>& rows) {
  for (size_t i = 0; i < instance.berth_gpus.size(); ++i) {
    Row& row = rows.emplace_back();
    row.instance_arn = instance.container_instance_arn.value_or("");
    row.host = host_name_of(instance);
    row.trouble = trouble_of(instance, now);
    row.index = i;
    row.gpu = instance.berth_gpus[i];
    if (i < instance.gpu_devices.size()) row.device = instance.gpu_devices[i];
    row.nics = nics_of(instance, i);
  }
}

std::vector<Row> rows_of(const Instances& instances) {
  const base::Time now = base::SystemClock().now();
  std::vector<Row> rows;
  for (const auto& instance : instances) add_rows(instance, now, rows);
  return rows;
}

json::Value gpu_as_json(const Row& row) {
  const api::ecs::BerthGpuStatus& gpu = row.gpu;
  json::Value nics = json::Value::array();
  for (const std::string& nic : row.nics) nics.push(nic);
  json::Value value =
      json::Value::object({{"gpuId", gpu.gpu_id.value_or("")},
                           {"containerInstanceArn", row.instance_arn},
                           {"host", row.host},
                           {"index", static_cast<int64_t>(row.index)},
                           {"model", gpu.model.value_or("")},
                           {"memoryMiB", gpu.memory_mib.value_or(0)},
                           {"remainingMemoryMiB", row.device.remaining_memory_in_mib.value_or(0)},
                           {"containerCount", row.device.container_count.value_or(0)},
                           {"state", gpu.state.value_or("")},
                           {"emulated", gpu.emulated.value_or(false)},
                           {"numaNode", gpu.numa_node.value_or(-1)},
                           {"nics", std::move(nics)}});
  value.set("healthy", gpu.healthy.value_or(true));
  if (gpu.utilization_percent) value.set("utilizationPercent", *gpu.utilization_percent);
  if (gpu.memory_used_mib) value.set("memoryUsedMiB", *gpu.memory_used_mib);
  if (gpu.temperature_celsius) value.set("temperatureCelsius", *gpu.temperature_celsius);
  if (gpu.power_watts) value.set("powerWatts", *gpu.power_watts);
  if (gpu.measured_at) value.set("measuredAt", base::format_rfc3339(*gpu.measured_at));
  if (gpu.reason) value.set("reason", *gpu.reason);
  if (!row.trouble.empty()) value.set("containerInstanceTrouble", row.trouble);
  if (gpu.task_arn) value.set("taskArn", *gpu.task_arn);
  return value;
}

// A GPU that fails while a task has it is still in that task's hands.
std::string state_of(const api::ecs::BerthGpuStatus& gpu) {
  std::string state = gpu.state.value_or("");
  if (!gpu.healthy.value_or(true) && state != "UNHEALTHY") state += " (UNHEALTHY)";
  return state;
}

// A shared one has several; each container has its part of the memory for itself.
std::string task_of(const Row& row) {
  if (!row.gpu.task_arn) return "-";
  std::string text(model::short_id(*row.gpu.task_arn));
  const int32_t containers = row.device.container_count.value_or(0);
  if (row.device.sharing_mode != api::ecs::GpuSharingMode::NvidiaMps) return text;
  if (containers > 1) text += base::format(" and {} more", containers - 1);
  return text + base::format(" ({} MiB to share)", row.device.remaining_memory_in_mib.value_or(0));
}

// Of the GPU, and of its instance: a GPU of a machine that is gone is of no use to anybody.
std::string reason_of(const Row& row) {
  std::string text = row.gpu.reason.value_or("");
  if (!row.trouble.empty()) {
    text += base::format("{}the instance: {}", text.empty() ? "" : "; ", row.trouble);
  }
  return text.empty() ? "-" : text;
}

Line gpu_line(const Row& row) {
  const api::ecs::BerthGpuStatus& gpu = row.gpu;
  std::string model = gpu.model.value_or("");
  if (gpu.emulated.value_or(false)) model += " (emulated)";
  const std::optional<int64_t>& used = gpu.memory_used_mib;
  const int64_t total = gpu.memory_mib.value_or(0);
  return {row.host,
          std::string(model::short_id(row.instance_arn)),
          base::format("{}", row.index),
          gpu.gpu_id.value_or(""),
          std::move(model),
          used ? base::format("{} / {} MiB", *used, total) : base::format("{} MiB", total),
          gpu.utilization_percent ? base::format("{:.0f} %", *gpu.utilization_percent) : "-",
          gpu.temperature_celsius ? base::format("{:.0f} C", *gpu.temperature_celsius) : "-",
          gpu.power_watts ? base::format("{:.0f} W", *gpu.power_watts) : "-",
          state_of(gpu),
          task_of(row),
          reason_of(row)};
}

void print_rows(const std::vector<Row>& rows) {
  std::vector<Line> lines{{"HOST", "INSTANCE", "NR", "GPU", "MODEL", "MEMORY", "UTIL", "TEMP",
                           "POWER", "STATE", "TASK", "REASON"}};
  for (const Row& row : rows) lines.push_back(gpu_line(row));
  print_table(lines, terminal_width());
}

base::Result<int> show_gpus(const GpusCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  const std::vector<Row> rows = rows_of(TRY(read_instances(credentials, options.cluster)));
  if (options.json) {
    json::Value all = json::Value::array();
    for (const Row& row : rows) all.push(gpu_as_json(row));
    print_line(json::print(json::Value::object({{"gpus", std::move(all)}})));
  } else if (rows.empty()) {
    print_line(base::format("The cluster {} has no GPU.", options.cluster));
  } else {
    print_rows(rows);
  }
  return 0;
}

base::Result<const Row*> quarantined_row(const Instances& instances, const std::vector<Row>& rows,
                                         const std::string& gpu) {
  const NamedGpu named = TRY(named_gpu(instances, gpu));
  const auto found = std::ranges::find_if(rows, [&](const Row& row) {
    return row.instance_arn == named.instance->container_instance_arn && row.index == named.index;
  });
  CHECK(found != rows.end());
  if (found->gpu.state == "QUARANTINED") return &*found;
  return base::fail("InvalidParameterException",
                    base::format("GPU {} is {}; only a QUARANTINED one can be cleared", gpu,
                                 found->gpu.state.value_or("")));
}

base::Result<int> clear(const GpusCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  const Instances instances = TRY(read_instances(credentials, options.cluster));
  const std::vector<Row> rows = rows_of(instances);
  std::map<std::string, api::ecs::UpdateContainerInstancesStateRequest> requests;  // By instance.
  for (const std::string& gpu : options.clear) {
    const Row* const row = TRY(quarantined_row(instances, rows, gpu));
    auto& request = requests[row->instance_arn];
    request.cluster = options.cluster;
    request.container_instances = {row->instance_arn};
    // The wire needs a status; a call that clears GPUs leaves the instance's alone.
    request.status = api::ecs::ContainerInstanceStatus::Active;
    request.berth_clear_gpu_ids.push_back(row->gpu.gpu_id.value_or(""));
  }
  json::Value cleared = json::Value::array();
  for (const auto& [arn, request] : requests) {
    TRY(call<api::ecs::UpdateContainerInstancesStateResponse>(
        credentials, api::ecs_service(), "UpdateContainerInstancesState", request));
    for (const std::string& gpu : request.berth_clear_gpu_ids) {
      if (!options.json) print_line(base::format("cleared: {} of {}", gpu, arn));
      cleared.push(gpu);
    }
  }
  if (options.json) {
    print_line(json::print(json::Value::object({{"cleared", std::move(cleared)}})));
  }
  return 0;
}

void add_common(CLI::App& command, GpusCommand& options) {
  command.add_option("--cluster", options.cluster, "The cluster.")->capture_default_str();
  add_access_option(command, options.data);
  command.add_flag("--json", options.json, "For programs.");
}

}  // namespace

void add_gpus(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("gpus", "List a cluster's GPUs: state, holder, and why one is kept back.");
  const auto options = std::make_shared<GpusCommand>();  // Shared by the parser and the action.
  add_common(*command, *options);
  command->callback([&action, options] {
    if (options->clear.empty()) action = [options] { return show_gpus(*options); };
  });
  CLI::App* const clearing = command->add_subcommand(
      "clear",
      "Give quarantined GPUs back, after you have looked that nothing is on them: with nvidia-smi "
      "on their machine.");
  add_common(*clearing, *options);
  clearing
      ->add_option("GPU", options->clear,
                   "The GPUs, as `berth gpus` lists them: an id, how it begins, or a host (or the "
                   "instance's id) and the number: node3:2.")
      ->required();
  clearing->callback([&action, options] { action = [options] { return clear(*options); }; });
}

}  // namespace cli
