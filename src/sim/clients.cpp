#include "sim/clients.h"

#include <iterator>
#include <utility>

#include "base/format.h"

namespace sim {
namespace {

using std::chrono::seconds;

constexpr std::string_view who = "client";

api::ecs::ContainerDefinition container_of(const Family& family) {
  api::ecs::ContainerDefinition container;
  container.name = "main";
  container.image = family.image;
  container.cpu = family.cpu;
  container.memory = family.memory_mib;
  container.essential = true;
  if (family.gpus > 0 || family.all_gpus || family.shared_mib > 0) {
    api::ecs::ResourceRequirement& gpu = container.resource_requirements.emplace_back();
    gpu.type = api::ecs::ResourceType::Gpu;
    if (family.shared_mib > 0) {
      gpu.sharing_strategy.emplace().nvidia_mps.emplace().memory =
          static_cast<int32_t>(family.shared_mib);
    } else {
      gpu.value = family.all_gpus ? "ALL" : base::format("{}", family.gpus);
    }
  }
  if (family.host_port != 0) {
    api::ecs::PortMapping& port = container.port_mappings.emplace_back();
    port.container_port = family.host_port;
    port.host_port = family.host_port;
  }
  if (family.logs) {
    api::ecs::LogConfiguration& logs = container.log_configuration.emplace();
    logs.log_driver = api::ecs::LogDriver::Awslogs;
    logs.options["awslogs-group"] = "/sim";
    logs.options["awslogs-region"] = "us-east-1";
    logs.options["awslogs-stream-prefix"] = "sim";
  }
  return container;
}

api::ecs::RegisterTaskDefinitionRequest definition_of(const Family& family) {
  api::ecs::RegisterTaskDefinitionRequest request;
  request.family = family.name;
  request.container_definitions.push_back(container_of(family));
  if (!family.sidecar) return request;
  api::ecs::ContainerDefinition sidecar;
  sidecar.name = "sidecar";
  sidecar.image = "fast";
  sidecar.memory = 64;
  sidecar.essential = false;
  request.container_definitions.push_back(std::move(sidecar));
  api::ecs::ContainerDependency& dependency =
      request.container_definitions.front().depends_on.emplace_back();
  dependency.container_name = "sidecar";
  dependency.condition = api::ecs::ContainerCondition::Start;
  return request;
}

}  // namespace

Clients::Clients(Ground& ground, Plant& plant, Server& server, Ledger& ledger, Caller& caller)
    : ground_(ground), plant_(plant), server_(server), ledger_(ledger), caller_(caller) {}

void Clients::provide() {
  api::ecs::CreateClusterRequest request;
  request.cluster_name = "default";
  caller_.insist<api::ecs::CreateClusterResponse>(
      "CreateCluster", request, [this](const base::Result<api::ecs::CreateClusterResponse>& made) {
        if (!made) return ground_.fail("client", "CreateCluster: " + made.error().message);
        for (const auto& [name, family] : ledger_.families) {
          caller_.insist<api::ecs::RegisterTaskDefinitionResponse>(
              "RegisterTaskDefinition", definition_of(family),
              [this](const base::Result<api::ecs::RegisterTaskDefinitionResponse>& registered) {
                if (registered) return;
                ground_.fail("client", "RegisterTaskDefinition: " + registered.error().message);
              });
        }
      });
}

void Clients::act(const PlannedCall& call) {
  switch (call.kind) {
    case PlannedCall::Kind::Run:
      return run(call.family, call.count);
    case PlannedCall::Kind::Stop:
      if (const std::string task = some_task(); !task.empty()) stop(task);
      return;
    case PlannedCall::Kind::Describe:
      return describe();
  }
}

void Clients::run(const std::string& family, int32_t count) {
  const std::string id = base::format("wish-{}", ledger_.wishes.size() + 1);
  ledger_.wishes[id] = {.family = family, .count = count};
  ground_.tell(who, "{}: runs {} of {}", id, count, family);
  api::ecs::RunTaskRequest request;
  request.cluster = "default";
  request.task_definition = family;
  request.count = count;
  request.started_by = id;
  request.client_token = base::format("token-{}", id);
  caller_.insist<api::ecs::RunTaskResponse>(
      "RunTask", request,
      [this, id](const base::Result<api::ecs::RunTaskResponse>& answer) {
        ledger_.wishes[id].answered = true;
        if (!answer) {
          return ground_.tell(who, "{}: refused: {}", id, answer.error().message);
        }
        std::string text;
        for (const api::ecs::Task& task : answer->tasks) {
          text += " " + short_name(task.task_arn.value_or(""));
        }
        for (const api::ecs::Failure& failure : answer->failures) {
          text +=
              base::format(" ({}: {})", failure.reason.value_or(""), failure.detail.value_or(""));
        }
        ground_.tell(who, "{}: has{}", id, text);
      },
      [this](api::ecs::RunTaskRequest& again) { plant_.retried(again); });
}

std::string Clients::some_task() const {
  const model::ClusterState* const state = server_.state();
  if (state == nullptr || state->tasks.empty()) return {};
  auto it = state->tasks.begin();
  std::advance(it, static_cast<ptrdiff_t>(ground_.random.below(state->tasks.size())));
  return it->first.str();
}

void Clients::stop(const std::string& task_arn) {
  ground_.tell(who, "stops task {}", short_name(task_arn));
  ledger_.stops.insert(task_arn);
  api::ecs::StopTaskRequest request;
  request.cluster = "default";
  request.task = task_arn;
  request.reason = "asked by a client";
  caller_.insist<api::ecs::StopTaskResponse>(
      "StopTask", request, [](const base::Result<api::ecs::StopTaskResponse>&) {});
}

void Clients::describe() {
  const std::string task = some_task();
  if (task.empty()) return;
  api::ecs::DescribeTasksRequest request;
  request.cluster = "default";
  request.tasks.push_back(task);
  caller_.call<api::ecs::DescribeTasksResponse>("DescribeTasks", request);
}

void Clients::deregister(const std::string& instance_arn) {
  ground_.tell("operator", "deregisters instance {} with force", short_name(instance_arn));
  ledger_.deregistered.insert(instance_arn);
  api::ecs::DeregisterContainerInstanceRequest request;
  request.cluster = "default";
  request.container_instance = instance_arn;
  request.force = true;
  caller_.call<api::ecs::DeregisterContainerInstanceResponse>("DeregisterContainerInstance",
                                                              request);
}

void Clients::clear_gpu(const std::string& instance_arn, const std::string& uuid) {
  ground_.tell("operator", "clears {} of instance {}", uuid, short_name(instance_arn));
  api::ecs::UpdateContainerInstancesStateRequest request;
  request.cluster = "default";
  request.container_instances.push_back(instance_arn);
  request.status = api::ecs::ContainerInstanceStatus::Active;
  request.berth_clear_gpu_ids.push_back(uuid);
  caller_.call<api::ecs::UpdateContainerInstancesStateResponse>("UpdateContainerInstancesState",
                                                                request);
}

}  // namespace sim
