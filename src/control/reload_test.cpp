// Random lives of a cluster: the invariants hold after every step, and what the store would load is
// what the memory holds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/format.h"
#include "control/testing.h"
#include "model/records.h"

namespace control {
namespace {

using testing::Plane;

std::map<int32_t, model::TaskDefinition> revisions_of(const model::ClusterState& state,
                                                      std::string_view family) {
  const auto found = state.task_definitions.find(family);
  return found == state.task_definitions.end() ? std::map<int32_t, model::TaskDefinition>()
                                               : found->second;
}

void check_reload(const Plane& plane) {
  const std::map<std::string, std::string> records = plane.records();
  const auto spare = std::ranges::count_if(records, [](const auto& record) {
    return record.first.starts_with("task-definition/spare/");
  });
  RC_ASSERT(static_cast<size_t>(spare) == revisions_of(plane.core.state(), "spare").size());
  const model::ClusterState loaded = plane.reloaded();
  size_t written_again = 0;
  for (const model::RecordKey& key : model::record_keys(loaded)) {
    const auto record = records.find(model::print(key));
    if (record == records.end()) continue;  // Of a definition that was put in without a change.
    RC_ASSERT(model::encode_record(loaded, key) == record->second);
    ++written_again;
  }
  RC_ASSERT(written_again == records.size());
  RC_ASSERT(loaded.tasks.size() == plane.core.state().tasks.size());
  RC_ASSERT(loaded.services.size() == plane.core.state().services.size());
  RC_ASSERT(loaded.service_revisions.size() == plane.core.state().service_revisions.size());
  RC_ASSERT(loaded.service_deployments.size() == plane.core.state().service_deployments.size());
  RC_ASSERT(loaded.agent_keys.size() == plane.core.state().agent_keys.size());
  RC_ASSERT(loaded.join_tokens.size() == plane.core.state().join_tokens.size());
  RC_ASSERT(loaded.waiting_tasks == plane.core.state().waiting_tasks);
  RC_ASSERT(loaded.deleted_revisions == plane.core.state().deleted_revisions);
  RC_ASSERT(loaded.account_settings == plane.core.state().account_settings);
  RC_ASSERT(loaded.sequence_numbers_reserved == plane.core.state().sequence_numbers_reserved);
  for (const auto& [id, token] : loaded.join_tokens) {
    RC_ASSERT(token.instance == plane.core.state().join_tokens.at(id).instance);
  }
  for (const auto& [arn, task] : loaded.tasks) {
    RC_ASSERT(task.tags == plane.core.state().tasks.at(arn).tags);
  }
  for (const auto& [arn, instance] : loaded.instances) {
    const auto& original = plane.core.state().instances.at(arn);
    RC_ASSERT(instance.tags == original.tags);
    RC_ASSERT(instance.cpu_units_held == original.cpu_units_held);
    RC_ASSERT(instance.memory_mib_held == original.memory_mib_held);
    for (size_t i = 0; i < instance.gpus.size(); ++i) {
      RC_ASSERT(instance.gpus[i].state == original.gpus[i].state);
    }
  }
}

std::string any_task(const Plane& plane, uint32_t pick) {
  const auto& tasks = plane.core.state().tasks;
  if (tasks.empty()) return {};
  auto it = tasks.begin();
  std::advance(it, static_cast<int64_t>(pick % tasks.size()));
  return it->first.str();
}

void tag_something(Plane& plane, uint32_t pick) {
  const auto& instances = plane.core.state().instances;
  const std::string arns[] = {model::cluster_arn({}, model::ClusterName("default")),
                              instances.begin()->first.str(), any_task(plane, pick / 3)};
  if (pick % 2 == 0) {
    api::ecs::TagResourceRequest request;
    request.resource_arn = arns[pick % 3];
    request.tags.push_back({.key = "k" + std::to_string(pick % 5), .value = std::to_string(pick)});
    static_cast<void>(plane.call<api::ecs::TagResourceResponse>("TagResource", request));
  } else {
    api::ecs::UntagResourceRequest request;
    request.resource_arn = arns[pick % 3];
    request.tag_keys.push_back("k" + std::to_string(pick % 5));
    static_cast<void>(plane.call<api::ecs::UntagResourceResponse>("UntagResource", request));
  }
}

// Keys of agents come, join, and go; tasks' containers turn healthy or not.
void use_keys(Plane& plane, uint32_t pick) {
  if (pick % 4 == 0) {
    const auto made = plane.call<api::berth::CreateAgentKeyResponse>(
        "CreateAgentKey", api::berth::CreateAgentKeyRequest{});
    if (pick % 8 != 0) return;
    api::berth::RebindAgentKeyRequest rebind;
    rebind.id = made->access_key_id;
    rebind.container_instance = plane.core.state().instances.begin()->first.str();
    static_cast<void>(plane.call<api::berth::RebindAgentKeyResponse>("RebindAgentKey", rebind));
  } else if (pick % 4 == 1) {
    api::berth::CreateJoinTokenRequest create;
    if (pick % 8 == 1) {
      create.container_instance = plane.core.state().instances.begin()->first.str();
    }
    const auto token = plane.call<api::berth::CreateJoinTokenResponse>("CreateJoinToken", create);
    api::berth::JoinClusterRequest request;
    request.token = token->token;
    request.agent_name = "a machine's own name " + std::to_string(pick);
    RC_ASSERT((plane.call<api::berth::JoinClusterResponse>("JoinCluster", request).has_value()));
  } else if (pick % 4 == 2 && !plane.core.state().agent_keys.empty()) {
    api::berth::DeleteAgentKeyRequest request;
    request.id = plane.core.state().agent_keys.begin()->first;
    static_cast<void>(plane.call<api::berth::DeleteAgentKeyResponse>("DeleteAgentKey", request));
  } else if (const std::string task = any_task(plane, pick); !task.empty()) {
    acs::PublishHealthRequest health;
    acs::TaskHealth& told = health.tasks.emplace_back();
    told.task_arn = task;
    told.containers.push_back({.container_name = "main",
                               .health_status = pick % 8 < 4 ? "HEALTHY" : "UNHEALTHY",
                               .status_since = plane.now,
                               .status_message = {}});
    plane.step(TelemetryReceived{plane.core.state().tasks.at(model::TaskArn(task)).instance,
                                 std::move(health)});
  }
}

// Tasks that may have to wait: for the machines of a group, or in the queue.
api::List<api::ecs::CapacityProviderStrategyItem> some_strategy(uint32_t pick) {
  api::ecs::CapacityProviderStrategyItem queue;
  queue.capacity_provider = "BERTH_QUEUE";
  queue.weight = 1;
  api::ecs::CapacityProviderStrategyItem group = queue;
  group.capacity_provider = "gpus";
  group.base = static_cast<int32_t>(pick % 2);
  if (pick % 3 == 0) return {queue};
  if (pick % 3 == 1) return {group};
  return {queue, group};
}

void run_on_capacity(Plane& plane, const std::string& family, uint32_t pick) {
  api::ecs::RunTaskRequest request;
  request.task_definition = family;
  request.count = static_cast<int32_t>(1 + pick % 3);
  request.capacity_provider_strategy = some_strategy(pick);
  static_cast<void>(plane.call<api::ecs::RunTaskResponse>("RunTask", request));
}

// A group without machinery behind it, one machine of its, and its capacity provider.
void have_group(Plane& plane) {
  model::AutoScalingGroup group;
  group.name = group.id = "gpus";
  group.min_size = group.max_size = group.desired_capacity = 1;
  group.instance_type = "p3.8xlarge";
  group.created_at = plane.now;
  model::Machine machine;
  machine.token = machine.id = "i-2";
  machine.state = model::MachineState::InService;
  machine.instance_type = group.instance_type;
  group.machines.push_back(machine);
  model::ClusterState state = plane.core.state();
  model::apply(state, model::AutoScalingGroupPut{group});
  plane.changes.emplace_back(model::AutoScalingGroupPut{group});
  plane.core = Core(std::move(state), Settings{}, ++plane.reseed, plane.now);
  api::ecs::CreateCapacityProviderRequest create;
  create.name = "gpus";
  create.auto_scaling_group_provider.emplace();
  create.auto_scaling_group_provider->auto_scaling_group_arn = "gpus";
  RC_ASSERT((plane.call<api::ecs::CreateCapacityProviderResponse>("CreateCapacityProvider", create)
                 .has_value()));
  api::ecs::PutClusterCapacityProvidersRequest put;
  put.cluster = "default";
  put.capacity_providers = {"gpus"};
  RC_ASSERT(
      (plane.call<api::ecs::PutClusterCapacityProvidersResponse>("PutClusterCapacityProviders", put)
           .has_value()));
}

void alter_cluster(Plane& plane, uint32_t pick) {
  static constexpr const char* insights[] = {"enabled", "disabled", "enhanced"};
  api::ecs::UpdateClusterRequest request;
  request.cluster = "default";
  api::ecs::ClusterSetting& setting = request.settings.emplace_back();
  setting.name = api::ecs::ClusterSettingName::ContainerInsights;
  setting.value = insights[pick % 3];
  request.service_connect_defaults.emplace().namespace_ = pick % 2 == 0 ? "" : "shop";
  RC_ASSERT((plane.call<api::ecs::UpdateClusterResponse>("UpdateCluster", request).has_value()));
}

void alter_service(Plane& plane, uint32_t pick) {
  api::ecs::CreateServiceRequest create;
  create.service_name = pick % 2 == 0 ? "web" : "api";
  create.task_definition = pick % 3 == 0 ? "one" : "cpu";
  create.desired_count = static_cast<int32_t>(pick % 4);
  if (pick % 5 < 2) create.capacity_provider_strategy = some_strategy(pick);
  if (plane.call<api::ecs::CreateServiceResponse>("CreateService", create)) return;
  api::ecs::UpdateServiceRequest update;
  update.service = create.service_name;
  update.desired_count = create.desired_count;
  update.force_new_deployment = pick % 5 == 0;
  if (pick % 7 != 0) {
    static_cast<void>(plane.call<api::ecs::UpdateServiceResponse>("UpdateService", update));
    return;
  }
  api::ecs::DeleteServiceRequest remove;
  remove.service = create.service_name;
  remove.force = true;
  static_cast<void>(plane.call<api::ecs::DeleteServiceResponse>("DeleteService", remove));
}

void alter_definitions(Plane& plane, uint32_t pick) {
  const auto revisions = revisions_of(plane.core.state(), "spare");
  const std::string last =
      revisions.empty() ? "spare:1" : base::format("spare:{}", revisions.rbegin()->first);
  if (pick % 4 == 0) {
    RC_ASSERT(plane.register_definition("spare").has_value());
  } else if (pick % 4 == 1) {
    static_cast<void>(plane.run_task(last));
  } else if (pick % 4 == 2) {
    api::ecs::DeregisterTaskDefinitionRequest request;
    request.task_definition = last;
    static_cast<void>(plane.call<api::ecs::DeregisterTaskDefinitionResponse>(
        "DeregisterTaskDefinition", request));
  } else {
    api::ecs::DeleteTaskDefinitionsRequest request;
    request.task_definitions.push_back(last);
    RC_ASSERT((plane.call<api::ecs::DeleteTaskDefinitionsResponse>("DeleteTaskDefinitions", request)
                   .has_value()));
  }
}

void alter_account(Plane& plane, uint32_t pick) {
  if (pick % 3 == 0) {
    api::ecs::DeleteAccountSettingRequest request;
    request.name = api::ecs::SettingName::ContainerInsights;
    static_cast<void>(
        plane.call<api::ecs::DeleteAccountSettingResponse>("DeleteAccountSetting", request));
    return;
  }
  api::ecs::PutAccountSettingRequest request;
  request.name = pick % 3 == 1 ? api::ecs::SettingName::ContainerInsights
                               : api::ecs::SettingName::TaskLongArnFormat;
  request.value = "enabled";
  static_cast<void>(plane.call<api::ecs::PutAccountSettingResponse>("PutAccountSetting", request));
}

void act_on_cluster(Plane& plane, uint32_t kind, uint32_t pick) {
  static constexpr const char* families[] = {"cpu", "one", "two", "all"};
  switch (kind % 16) {
    case 0:
    case 1:
      static_cast<void>(plane.run_task(families[pick % 4], static_cast<int32_t>(1 + pick % 3)));
      return;
    case 2: {
      api::ecs::StopTaskRequest request;
      request.task = any_task(plane, pick);
      static_cast<void>(plane.call<api::ecs::StopTaskResponse>("StopTask", request));
      return;
    }
    case 3:
      plane.report(any_task(plane, pick), "RUNNING");
      return;
    case 4:
      plane.report(any_task(plane, pick), "STOPPED", static_cast<int32_t>(pick % 256));
      return;
    case 5:
      tag_something(plane, pick);
      return;
    case 6:
      use_keys(plane, pick);
      return;
    case 7:
    case 8:
      alter_service(plane, pick);
      return;
    case 9:
      alter_cluster(plane, pick);
      return;
    case 10:
    case 11:
      alter_definitions(plane, pick);
      return;
    case 12:
      alter_account(plane, pick);
      return;
    case 13:
    case 14:
      run_on_capacity(plane, families[pick % 4], pick);
      return;
    default:
      plane.pass(std::chrono::minutes(pick % 90));
      return;
  }
}

RC_GTEST_PROP(Reload, the_store_holds_what_the_memory_holds, ()) {
  Plane plane;
  plane.create_cluster();
  plane.define("cpu", "");
  plane.define("one", "1");
  plane.define("two", "2");
  plane.define("all", "ALL");
  for (int i = 0; i < 3; ++i) {
    plane.register_instance(i == 0 ? "p3.2xlarge" : "p3.8xlarge", std::to_string(i));
  }
  have_group(plane);
  plane.step(SessionOpened{.session = 1,
                           .cluster = model::ClusterName("default"),
                           .instance = plane.core.state().instances.begin()->first});
  const auto actions = *rc::gen::container<std::vector<std::pair<uint32_t, uint32_t>>>(
      rc::gen::pair(rc::gen::arbitrary<uint32_t>(), rc::gen::arbitrary<uint32_t>()));
  for (const auto& [kind, pick] : actions) {
    act_on_cluster(plane, kind, pick);
    model::check_invariants(plane.core.state());
  }
  check_reload(plane);
}

}  // namespace
}  // namespace control
