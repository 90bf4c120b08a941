#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "api/json.h"
#include "base/format.h"
#include "cli/access.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/instances.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "model/ids.h"

namespace cli {
namespace {

using api::ecs::ContainerInstanceStatus;

struct NodesCommand {
  std::string data;
  std::string cluster = "default";
  std::vector<std::string> names;
  bool json = false;
};

// Of an INTEGER resource: "CPU", "MEMORY".
int64_t amount_of(const api::List<api::ecs::Resource>& resources, std::string_view name) {
  for (const api::ecs::Resource& one : resources) {
    if (one.name == name) return one.integer_value.value_or(0);
  }
  return 0;
}

std::string gpus_free(const api::ecs::ContainerInstance& instance) {
  if (instance.berth_gpus.empty()) return "-";
  int free = 0;
  for (const api::ecs::BerthGpuStatus& gpu : instance.berth_gpus) {
    free += gpu.state == "IDLE" && gpu.healthy.value_or(true) ? 1 : 0;
  }
  return base::format("{} of {}", free, instance.berth_gpus.size());
}

Line node_line(const api::ecs::ContainerInstance& one, base::Time now) {
  std::string trouble = trouble_of(one, now);
  const std::string claim = refused_claim_of(one);
  if (!claim.empty()) trouble += (trouble.empty() ? "" : "; ") + claim;
  const auto cores = [](int64_t units) {
    return base::format("{:.3g}", static_cast<double>(units) / 1024);
  };
  return {
      host_name_of(one),
      std::string(model::short_id(one.container_instance_arn.value_or(""))),
      type_of(one),
      one.status.value_or(""),
      one.agent_connected.value_or(false) ? "connected" : "GONE",
      gpus_free(one),
      base::format("{} of {}", cores(amount_of(one.remaining_resources, "CPU")),
                   cores(amount_of(one.registered_resources, "CPU"))),
      base::format("{} of {} MiB", amount_of(one.remaining_resources, "MEMORY"),
                   amount_of(one.registered_resources, "MEMORY")),
      base::format("{}", one.running_tasks_count.value_or(0) + one.pending_tasks_count.value_or(0)),
      trouble.empty() ? "-" : trouble};
}

base::Result<int> show_nodes(const NodesCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  Instances instances = TRY(read_instances(credentials, options.cluster));
  if (options.json) {
    api::ecs::DescribeContainerInstancesResponse all;
    for (auto& instance : instances) all.container_instances.push_back(std::move(instance));
    all.container_instances.set_present();
    print_line(api::print(all));
    return 0;
  }
  if (instances.empty()) {
    print_line(
        base::format("The cluster {} has no container instance. `berth token create` says "
                     "what another machine needs to join.",
                     options.cluster));
    return 0;
  }
  std::vector<Line> lines{{"HOST", "INSTANCE", "TYPE", "STATUS", "AGENT", "GPUS FREE", "VCPUS FREE",
                           "MEMORY FREE", "TASKS", "WHY"}};
  const base::Time now = base::SystemClock().now();
  for (const auto& instance : instances) lines.push_back(node_line(instance, now));
  print_table(lines, terminal_width());
  return 0;
}

base::Result<int> set_status(const NodesCommand& options, ContainerInstanceStatus status) {
  const Credentials credentials = TRY(find_server(options.data));
  const Instances instances = TRY(read_instances(credentials, options.cluster));
  api::ecs::UpdateContainerInstancesStateRequest request;
  request.cluster = options.cluster;
  request.status = status;
  std::vector<std::string> told;
  for (const std::string& name : options.names) {
    const auto* const one = TRY(named_instance(instances, name));
    request.container_instances.push_back(one->container_instance_arn.value_or(""));
    told.push_back(base::format("{} ({})", host_name_of(*one),
                                model::short_id(one->container_instance_arn.value_or(""))));
  }
  TRY(call<api::ecs::UpdateContainerInstancesStateResponse>(
      credentials, api::ecs_service(), "UpdateContainerInstancesState", request));
  for (const std::string& line : told) {
    print_line(base::format(
        "{}: {}", status == ContainerInstanceStatus::Draining ? "DRAINING" : "ACTIVE", line));
  }
  return 0;
}

void add_node_options(CLI::App& command, NodesCommand& options) {
  command.add_option("--cluster", options.cluster, "The cluster.")->capture_default_str();
  add_access_option(command, options.data);
}

}  // namespace

void add_nodes(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "nodes",
      "List a cluster's container instances: the host's name, its type, whether its agent is "
      "connected, and what is free.");
  const auto options = std::make_shared<NodesCommand>();  // Shared by the parser and the action.
  add_node_options(*command, *options);
  command->add_flag("--json", options->json,
                    "For programs: as DescribeContainerInstances answers.");
  command->callback([&action, options] {
    if (options->names.empty()) action = [options] { return show_nodes(*options); };
  });
  const auto add = [&](const char* name, const char* what, ContainerInstanceStatus status) {
    CLI::App* const changing = command->add_subcommand(name, what);
    add_node_options(*changing, *options);
    changing
        ->add_option("INSTANCE", options->names,
                     "Host names, ids, or how an id begins, as `berth nodes` lists them.")
        ->required();
    changing->callback([&action, options, status] {
      action = [options, status] { return set_status(*options, status); };
    });
  };
  add("drain", "Give a container instance no more tasks; those of services move away.",
      ContainerInstanceStatus::Draining);
  add("activate", "Give a container instance tasks again.", ContainerInstanceStatus::Active);
}

}  // namespace cli
