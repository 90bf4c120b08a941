// A control plane in a test's hand: calls it as clients and agents do, and shows what it says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/berth.h"
#include "api/service.h"
#include "control/core.h"
#include "control/operations.h"
#include "model/catalogue.h"
#include "model/records.h"

namespace control::testing {

inline const base::Time start_time{std::chrono::seconds(1'750'000'000)};

inline api::ecs::Tag tag(std::string key, std::string value) {
  return {.key = std::move(key), .value = std::move(value)};
}

class Plane {
 public:
  explicit Plane(Settings settings = {}, model::ClusterState state = {}, uint64_t seed = 1)
      : core(std::move(state), std::move(settings), seed, start_time) {}

  // One API call; its answer, typed.
  template <class Response, class Request>
  base::Result<Response> call(std::string_view operation, Request request) {
    const bool is_of_ecs = api::find(api::ecs_service(), operation) != nullptr;
    caller.service = is_of_ecs ? "ecs" : "berth";
    const Action* const action = find_action(caller.service, operation);
    CHECK(action != nullptr);
    ApiCall input{++last_id, action, api::Any::make(std::move(request)), caller, remote_host};
    Output output = step(std::move(input));
    CHECK(output.replies.size() == 1);
    auto& result = output.replies.front().result;
    if (!result) return base::fail(result.error());
    return std::move(result->template as<Response>());
  }

  Output step(Input input) {
    Output output = core.step(std::move(input), now);
    for (const ToAgent& message : output.messages) sent.push_back(message);
    for (const model::Change& change : output.changes) changes.push_back(change);
    return output;
  }

  // Lets `by` pass, with every timer that falls due on the way.
  void pass(base::Milliseconds by) {
    const base::Time end = now + by;
    while (core.next_timer() <= end) {
      now = std::max(now, core.next_timer());
      step(TimerDue{});
    }
    now = end;
  }

  void create_cluster(const std::string& name = "default") {
    api::ecs::CreateClusterRequest request;
    request.cluster_name = name;
    ASSERT_TRUE((call<api::ecs::CreateClusterResponse>("CreateCluster", request)));
  }

  // Registers a machine of the catalogue with all that such a machine's agent can do.
  model::InstanceArn register_instance(const std::string& type, const std::string& name) {
    const model::InstanceType* const found = model::find_instance_type(type);
    CHECK(found != nullptr);
    api::ecs::RegisterContainerInstanceRequest request;
    request.instance_identity_document =
        R"({"instanceId":"i-)" + name + R"(","instanceType":")" + type + R"("})";
    for (const model::GpuDevice& gpu : model::emulated_gpus(*found, name)) {
      api::ecs::PlatformDevice device;
      device.id = gpu.uuid;
      device.type = api::ecs::PlatformDeviceType::Gpu;
      request.platform_devices.push_back(std::move(device));
    }
    const auto response =
        call<api::ecs::RegisterContainerInstanceResponse>("RegisterContainerInstance", request);
    CHECK(response.has_value());
    return model::InstanceArn(*response->container_instance->container_instance_arn);
  }

  // Puts a definition into the state without going through its validation.
  void define(const std::string& family, const std::string& gpus, int32_t memory = 80,
              int32_t cpu = 100) {
    model::TaskDefinition made;
    made.family = family;
    made.revision = 1;
    auto& definition = made.definition;
    definition.family = family;
    definition.revision = 1;
    definition.status = api::ecs::TaskDefinitionStatus::Active;
    definition.task_definition_arn =
        model::task_definition_arn(Settings{}.account, family, 1).str();
    api::ecs::ContainerDefinition container;
    container.name = "main";
    container.image = "busybox";
    container.memory = memory;
    container.cpu = cpu;
    container.essential = true;
    if (!gpus.empty()) {
      api::ecs::ResourceRequirement requirement;
      requirement.type = api::ecs::ResourceType::Gpu;
      requirement.value = gpus;
      container.resource_requirements.push_back(std::move(requirement));
    }
    definition.container_definitions.push_back(std::move(container));
    model::ClusterState state = core.state();
    model::apply(state, model::TaskDefinitionRegistered{std::move(made)});
    core = Core(std::move(state), Settings{}, ++reseed, now);
  }

  // A small definition through RegisterTaskDefinition.
  base::Result<api::ecs::RegisterTaskDefinitionResponse> register_definition(
      const std::string& family) {
    api::ecs::RegisterTaskDefinitionRequest request;
    request.family = family;
    api::ecs::ContainerDefinition& container = request.container_definitions.emplace_back();
    container.name = "main";
    container.image = "busybox";
    container.memory = 80;
    return call<api::ecs::RegisterTaskDefinitionResponse>("RegisterTaskDefinition", request);
  }

  base::Result<api::ecs::RunTaskResponse> run_task(const std::string& family, int32_t count = 1) {
    api::ecs::RunTaskRequest request;
    request.task_definition = family;
    request.count = count;
    return call<api::ecs::RunTaskResponse>("RunTask", request);
  }

  void report(const std::string& task, const std::string& status,
              std::optional<int32_t> exit_code = std::nullopt) {
    api::ecs::SubmitTaskStateChangeRequest request;
    request.task = task;
    request.status = status;
    api::ecs::ContainerStateChange container;
    container.container_name = "main";
    container.status = status;
    container.exit_code = exit_code;
    request.containers.push_back(std::move(container));
    ASSERT_TRUE((call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", request)));
  }

  api::ecs::Task describe(const std::string& task) {
    api::ecs::DescribeTasksRequest request;
    request.tasks = {task};
    auto response = call<api::ecs::DescribeTasksResponse>("DescribeTasks", request);
    CHECK(response.has_value() && response->tasks.size() == 1);
    return response->tasks.front();
  }

  // The records that the changes of this plane have written, by their keys' texts.
  std::map<std::string, std::string> records() const {
    std::set<model::RecordKey> keys;
    for (const model::Change& change : changes) {
      model::add_record_keys(core.state(), change, keys);
    }
    std::map<std::string, std::string> written;
    for (const model::RecordKey& key : keys) {
      if (auto value = model::encode_record(core.state(), key)) {
        written.emplace(model::print(key), std::move(*value));
      }
    }
    return written;
  }
  // What a control plane that starts anew would have; definitions that were put into the state
  // without a change too.
  model::ClusterState reloaded() const {
    model::ClusterState loaded;
    for (const auto& [key, value] : records()) {
      CHECK(model::load_record(loaded, key, value).has_value());
    }
    loaded.task_definitions = core.state().task_definitions;
    CHECK(model::finish_load(loaded).has_value());
    model::check_invariants(loaded);
    return loaded;
  }

  Core core;
  base::Time now = start_time;
  auth::Caller caller;  // Of the calls to come; the default one may do everything.
  std::string remote_host;
  std::vector<ToAgent> sent;
  std::vector<model::Change> changes;
  RequestId last_id = 0;
  uint64_t reseed = 100;
};

}  // namespace control::testing
