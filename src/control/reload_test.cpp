// Random lives of a cluster: the invariants hold after every step, and what the store would load is
// what the memory holds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "control/testing.h"
#include "model/records.h"

namespace control {
namespace {

using testing::Plane;

// The store as the driver would have written it: every changed key, as it stands at the end.
std::map<std::string, std::string> records_of(const Plane& plane) {
  std::set<std::string> keys;
  for (const model::Change& change : plane.changes) {
    model::add_record_keys(plane.core.state(), change, keys);
  }
  const model::Account account;
  const model::RecordEncoder encoder(plane.core.state(), account);
  std::map<std::string, std::string> records;
  for (const std::string& key : keys) {
    if (auto value = encoder.encode(key)) records[key] = *value;
  }
  return records;
}

void check_reload(const Plane& plane) {
  std::map<std::string, std::string> records = records_of(plane);
  model::ClusterState loaded;
  for (const auto& [key, value] : records) {
    const auto result = model::load_record(loaded, key, value);
    RC_ASSERT(result.has_value());
  }
  // Definitions were put in without a change.
  loaded.task_definitions = plane.core.state().task_definitions;
  RC_ASSERT(model::finish_load(loaded).has_value());
  model::check_invariants(loaded);
  const model::Account account;
  const model::RecordEncoder encoder(loaded, account);
  for (const auto& [key, value] : records) RC_ASSERT(encoder.encode(key) == value);
  RC_ASSERT(loaded.tasks.size() == plane.core.state().tasks.size());
  for (const auto& [arn, instance] : loaded.instances) {
    const auto& original = plane.core.state().instances.at(arn);
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

void act(Plane& plane, uint32_t kind, uint32_t pick) {
  static constexpr const char* families[] = {"cpu", "one", "two", "all"};
  switch (kind % 6) {
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
  const auto actions = *rc::gen::container<std::vector<std::pair<uint32_t, uint32_t>>>(
      rc::gen::pair(rc::gen::arbitrary<uint32_t>(), rc::gen::arbitrary<uint32_t>()));
  for (const auto& [kind, pick] : actions) {
    act(plane, kind, pick);
    model::check_invariants(plane.core.state());
  }
  check_reload(plane);
}

}  // namespace
}  // namespace control
