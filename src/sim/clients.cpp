#include "sim/clients.h"

#include <iterator>
#include <utility>

#include "base/format.h"
#include "reconcile/queue/tags.h"
#include "sim/secret_clients.h"

namespace sim {
namespace {

using std::chrono::seconds;

// A secret of Secrets Manager goes by its ARN, behind which stands what of it is meant.
std::string value_from(const FamilySecret& secret) {
  if (is_parameter(secret.secret)) return secret.secret;
  const model::Account account;
  return base::format("arn:aws:secretsmanager:{}:{}:secret:{}{}", account.region, account.id,
                      secret.secret,
                      secret.is_member ? base::format(":{}::", secret_member) : std::string());
}

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
  for (const FamilySecret& secret : family.secrets) {
    api::ecs::Secret& named = container.secrets.emplace_back();
    named.name = secret.variable;
    named.value_from = value_from(secret);
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
  // The members of a gang do not meet here.
  request.container_definitions.front().environment.push_back(
      {.name = "MASTER_ADDR", .value = "elsewhere"});
  if (!family.secrets.empty()) {
    request.execution_role_arn = "sim-execution";
    request.task_role_arn = "sim-task";
  }
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

void add_tag(api::ecs::RunTaskRequest& request, std::string_view key, std::string value) {
  api::ecs::Tag& tag = request.tags.emplace_back();
  tag.key = std::string(key);
  tag.value = std::move(value);
}

void ask(const Queueing& queueing, api::ecs::RunTaskRequest& request) {
  namespace queue = reconcile::queue;
  if (!queueing.provider.empty()) {
    request.capacity_provider_strategy.emplace_back().capacity_provider = queueing.provider;
  }
  const auto add_number = [&](std::string_view key, int32_t number) {
    if (number != 0) add_tag(request, key, base::format("{}", number));
  };
  add_number(queue::priority_tag, queueing.priority);
  add_number(queue::max_seconds_tag, queueing.max_seconds);
  add_number(queue::queue_seconds_tag, queueing.queue_seconds);
  add_number(queue::gang_size_tag, queueing.gang_size);
  if (!queueing.share.empty()) add_tag(request, queue::share_tag, queueing.share);
  if (!queueing.gang.empty()) add_tag(request, queue::gang_tag, queueing.gang);
}

std::string print(const Queueing& queueing) {
  std::string text = queueing.provider.empty() ? "" : ", or waits for " + queueing.provider;
  const auto add = [&](std::string_view what, int32_t number) {
    if (number != 0) text += base::format(", {} {}", what, number);
  };
  add("priority", queueing.priority);
  add("for s", queueing.max_seconds);
  add("waiting s", queueing.queue_seconds);
  if (!queueing.share.empty()) text += ", share " + queueing.share;
  if (!queueing.gang.empty()) text += ", gang " + queueing.gang;
  add("of", queueing.gang_size);
  return text;
}

}  // namespace

Clients::Clients(Environment& environment, Mutant& mutant, Server& server,
                 Expectations& expectations, Caller& caller)
    : environment_(environment),
      mutant_(mutant),
      server_(server),
      expectations_(expectations),
      caller_(caller) {}

void Clients::provide() {
  api::ecs::CreateClusterRequest request;
  request.cluster_name = "default";
  caller_.insist<api::ecs::CreateClusterResponse>(
      "CreateCluster", request, [this](const base::Result<api::ecs::CreateClusterResponse>& made) {
        if (!made) return environment_.fail("client", "CreateCluster: " + made.error().message);
        for (const auto& [name, family] : expectations_.families) {
          caller_.insist<api::ecs::RegisterTaskDefinitionResponse>(
              "RegisterTaskDefinition", definition_of(family),
              [this](const base::Result<api::ecs::RegisterTaskDefinitionResponse>& registered) {
                if (registered) return;
                environment_.fail("client",
                                  "RegisterTaskDefinition: " + registered.error().message);
              });
        }
      });
}

void Clients::act(const PlannedCall& call) {
  switch (call.kind) {
    case PlannedCall::Kind::Run:
      return run(call);
    case PlannedCall::Kind::Stop:
      if (const std::string task = some_task(); !task.empty()) stop(task);
      return;
    case PlannedCall::Kind::Describe:
      return describe();
  }
}

void Clients::run(const PlannedCall& call) {
  const std::string id = base::format("wish-{}", expectations_.wishes.size() + 1);
  expectations_.wishes[id] = {
      .family = call.family, .count = call.count, .queueing = call.queueing};
  environment_.tell(client_name, "{}: runs {} of {}{}", id, call.count, call.family,
                    call.queueing ? print(*call.queueing) : "");
  api::ecs::RunTaskRequest request;
  request.cluster = "default";
  request.task_definition = call.family;
  request.count = call.count;
  if (call.queueing) ask(*call.queueing, request);
  request.started_by = id;
  request.client_token = base::format("token-{}", id);
  caller_.insist<api::ecs::RunTaskResponse>(
      "RunTask", request,
      [this, id](const base::Result<api::ecs::RunTaskResponse>& answer) {
        expectations_.wishes[id].answered = true;
        if (!answer) {
          return environment_.tell(client_name, "{}: refused: {}", id, answer.error().message);
        }
        std::string text;
        for (const api::ecs::Task& task : answer->tasks) {
          text += " " + short_name(task.task_arn.value_or(""));
        }
        for (const api::ecs::Failure& failure : answer->failures) {
          text +=
              base::format(" ({}: {})", failure.reason.value_or(""), failure.detail.value_or(""));
        }
        environment_.tell(client_name, "{}: has{}", id, text);
      },
      [this](api::ecs::RunTaskRequest& again) { mutant_.retried(again); });
}

std::string Clients::some_task() const {
  const model::ClusterState* const state = server_.state();
  if (state == nullptr || state->tasks.empty()) return {};
  auto it = state->tasks.begin();
  std::advance(it, static_cast<ptrdiff_t>(environment_.random.below(state->tasks.size())));
  return it->first.str();
}

void Clients::stop(const std::string& task_arn) {
  environment_.tell(client_name, "stops task {}", short_name(task_arn));
  expectations_.stops.insert(task_arn);
  api::ecs::StopTaskRequest request;
  request.cluster = "default";
  request.task = task_arn;
  request.reason = "asked by a client";
  caller_.insist<api::ecs::StopTaskResponse>(
      "StopTask", request, [](const base::Result<api::ecs::StopTaskResponse>&) {});
}

void Clients::give_up_waiting() {
  const model::ClusterState* const state = server_.state();
  if (state == nullptr) return;
  for (const auto& [arn, task] : state->tasks) {
    if (task.waiting && !expectations_.stops.contains(arn.str())) stop(arn.str());
  }
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
  environment_.tell("operator", "deregisters instance {} with force", short_name(instance_arn));
  expectations_.deregistered.insert(instance_arn);
  api::ecs::DeregisterContainerInstanceRequest request;
  request.cluster = "default";
  request.container_instance = instance_arn;
  request.force = true;
  caller_.call<api::ecs::DeregisterContainerInstanceResponse>("DeregisterContainerInstance",
                                                              request);
}

void Clients::clear_gpu(const std::string& instance_arn, const std::string& uuid) {
  environment_.tell("operator", "clears {} of instance {}", uuid, short_name(instance_arn));
  api::ecs::UpdateContainerInstancesStateRequest request;
  request.cluster = "default";
  request.container_instances.push_back(instance_arn);
  request.status = api::ecs::ContainerInstanceStatus::Active;
  request.berth_clear_gpu_ids.push_back(uuid);
  caller_.call<api::ecs::UpdateContainerInstancesStateResponse>("UpdateContainerInstancesState",
                                                                request);
}

}  // namespace sim
