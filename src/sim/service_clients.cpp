#include "sim/service_clients.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "reconcile/gpu_rolling.h"

namespace sim {
namespace {

using std::chrono::seconds;

api::ecs::CreateServiceRequest request_of(const PlannedService& service) {
  api::ecs::CreateServiceRequest request;
  request.cluster = "default";
  request.service_name = service.name;
  if (service.external) {
    request.deployment_controller.emplace().type = api::ecs::DeploymentControllerType::External;
  } else {
    request.task_definition = service.family;
  }
  if (service.daemon) {
    request.scheduling_strategy = api::ecs::SchedulingStrategy::Daemon;
  } else {
    request.desired_count = service.desired;
  }
  if (service.queues && !service.daemon) {
    request.capacity_provider_strategy.emplace_back().capacity_provider =
        std::string(model::berth_queue);
  }
  api::ecs::DeploymentConfiguration& configuration = request.deployment_configuration.emplace();
  configuration.minimum_healthy_percent = service.minimum_healthy_percent;
  configuration.maximum_percent = service.maximum_percent;
  if (service.circuit_breaker) {
    api::ecs::DeploymentCircuitBreaker& breaker =
        configuration.deployment_circuit_breaker.emplace();
    breaker.enable = true;
    breaker.rollback = service.rollback;
  }
  if (!service.placement.empty() && !service.daemon) {
    api::ecs::PlacementStrategy& strategy = request.placement_strategy.emplace_back();
    strategy.type = api::ecs::PlacementStrategyType::Binpack;
    strategy.field = "memory";
  }
  if (service.replaces_gpu_tasks) {
    api::ecs::Tag& tag = request.tags.emplace_back();
    tag.key = std::string(reconcile::gpu_rolling_tag);
    tag.value = std::string(reconcile::gpu_rolling_replace);
  }
  return request;
}

}  // namespace

ServiceClients::ServiceClients(Environment& environment, Server& server, Expectations& expectations,
                               Caller& caller, const std::vector<PlannedService>& services)
    : environment_(environment), server_(server), expectations_(expectations), caller_(caller) {
  for (const PlannedService& service : services) services_[service.name] = service;
}

void ServiceClients::provide() {
  for (const auto& [name, service] : services_) make(service);
}

void ServiceClients::make(const PlannedService& service) {
  if (calm_) return;
  environment_.tell(client_name, "makes {} of {}, {} to {} %", service.name,
                    service.daemon     ? base::format("{} on each instance", service.family)
                    : service.external ? base::format("{} tasks in task sets", service.desired)
                                       : base::format("{} x {}", service.desired, service.family),
                    service.minimum_healthy_percent, service.maximum_percent);
  caller_.insist<api::ecs::CreateServiceResponse>(
      "CreateService", request_of(service),
      [this, service](const base::Result<api::ecs::CreateServiceResponse>& made) {
        if (made) return environment_.tell(client_name, "{} is there", service.name);
        environment_.tell(client_name, "{} is refused: {}", service.name, made.error().message);
        // One of that name is still being deleted.
        const bool later = made.error().message.find("Draining") != std::string::npos;
        if (later) environment_.events.after(seconds(20), [this, service] { make(service); });
      });
}

void ServiceClients::act(const PlannedServiceCall& call) {
  switch (call.kind) {
    using enum PlannedServiceCall::Kind;
    case Deploy:
    case Force:
    case Scale:
      return update(call);
    case Protect:
      return protect(call.service);
    case Describe:
      return describe(call.service);
    case Remake:
      remove(call.service);
      return environment_.events.after(seconds(10),
                                       [this, name = call.service] { make(services_.at(name)); });
    case Drain:
      return drain_some();
    case Activate:
      return take_back_all();
  }
}

void ServiceClients::update(const PlannedServiceCall& call) {
  using enum PlannedServiceCall::Kind;
  // Of task sets the client makes new ones instead.
  if (call.kind != Scale && services_.at(call.service).external) return;
  api::ecs::UpdateServiceRequest request;
  request.cluster = "default";
  request.service = call.service;
  if (call.kind == Deploy) request.task_definition = call.family;
  if (call.kind == Force) request.force_new_deployment = true;
  if (call.kind == Scale) {
    if (services_.at(call.service).daemon) return;
    request.desired_count = call.desired;
  }
  environment_.tell(client_name, "{}: {}", call.service,
                    call.kind == Deploy  ? "deploys " + call.family
                    : call.kind == Force ? "deploys anew"
                                         : base::format("scales to {}", call.desired));
  caller_.insist<api::ecs::UpdateServiceResponse>(
      "UpdateService", request,
      [this, name = call.service](const base::Result<api::ecs::UpdateServiceResponse>& updated) {
        if (!updated) {
          environment_.tell(client_name, "{}: refused: {}", name, updated.error().message);
        }
      });
}

void ServiceClients::protect(const std::string& service) {
  const model::ClusterState* const state = server_.state();
  if (state == nullptr) return;
  api::ecs::UpdateTaskProtectionRequest request;
  request.cluster = "default";
  request.protection_enabled = environment_.random.chance(80);
  request.expires_in_minutes = static_cast<int32_t>(1 + environment_.random.below(4));
  for (const auto& [arn, task] : state->tasks) {
    if (model::service_of(task) != service || task.last_status != model::TaskStatus::Running) {
      continue;
    }
    if (environment_.random.chance(50) && request.tasks.size() < 10) {
      request.tasks.push_back(arn.str());
    }
  }
  if (request.tasks.empty()) return;
  environment_.tell(client_name, "{}: {} {} of its tasks", service,
                    *request.protection_enabled ? "protects" : "exposes", request.tasks.size());
  caller_.call<api::ecs::UpdateTaskProtectionResponse>("UpdateTaskProtection", request);
}

void ServiceClients::describe(const std::string& service) {
  api::ecs::DescribeServicesRequest request;
  request.cluster = "default";
  request.services.push_back(service);
  caller_.call<api::ecs::DescribeServicesResponse>("DescribeServices", request);
}

void ServiceClients::remove(const std::string& service) {
  environment_.tell(client_name, "deletes {}", service);
  api::ecs::DeleteServiceRequest request;
  request.cluster = "default";
  request.service = service;
  request.force = true;
  caller_.insist<api::ecs::DeleteServiceResponse>(
      "DeleteService", request, [](const base::Result<api::ecs::DeleteServiceResponse>&) {});
}

void ServiceClients::set_status(const model::InstanceArn& instance,
                                api::ecs::ContainerInstanceStatus status) {
  api::ecs::UpdateContainerInstancesStateRequest request;
  request.cluster = "default";
  request.container_instances.push_back(instance.str());
  request.status = status;
  using Response = api::ecs::UpdateContainerInstancesStateResponse;
  caller_.insist<Response>("UpdateContainerInstancesState", request,
                           [](const base::Result<Response>&) {});
}

void ServiceClients::drain_some() {
  const model::ClusterState* const state = server_.state();
  if (state == nullptr || state->instances.empty()) return;
  auto it = state->instances.begin();
  std::advance(it, static_cast<ptrdiff_t>(environment_.random.below(state->instances.size())));
  if (it->second.status != model::InstanceStatus::Active) return;
  environment_.tell("operator", "drains instance {}", short_name(it->first.str()));
  set_status(it->first, api::ecs::ContainerInstanceStatus::Draining);
}

void ServiceClients::take_back_all() {
  const model::ClusterState* const state = server_.state();
  if (state == nullptr) return;
  for (const auto& [arn, instance] : state->instances) {
    if (instance.status != model::InstanceStatus::Draining) continue;
    environment_.tell("operator", "takes instance {} back", short_name(arn.str()));
    set_status(arn, api::ecs::ContainerInstanceStatus::Active);
  }
}

void ServiceClients::calm_down() {
  calm_ = true;
  if (environment_.random.chance(70)) take_back_all();
}

void ServiceClients::delete_all() {
  for (const auto& [name, service] : services_) remove(name);
}

}  // namespace sim
