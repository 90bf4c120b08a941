// The memory of the server equals its store: every record is what the state says, and the state
// that a reload would make is the state that is there.

#include "model/change.h"
#include "model/records.h"
#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

// Comparing everything costs: now and then, at every load, and at the end.
constexpr uint64_t turns_between = 50;

class MemoryIsStore final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "memory_is_store"; }

  void turned(const Turn& turn) override {
    if (!turn.released.reloaded && ++turns_ % turns_between == 0) compare(turn.state);
  }
  void loaded(const model::ClusterState& state) override { compare(state); }
  void at_rest() override {
    if (const model::ClusterState* const state = world().server().state()) compare(*state);
  }

 private:
  void compare(const model::ClusterState& state) {
    const WatchedStore::Records& records = world().server().store().acknowledged();
    const std::vector<model::RecordKey> keys = model::record_keys(state);
    for (const model::RecordKey& key : keys) {
      const auto found = records.find(model::print(key));
      if (found == records.end() || found->second != model::encode_record(state, key)) {
        return fail(base::format("the store's {} is not what the memory has", model::print(key)));
      }
    }
    if (keys.size() != records.size()) {
      return fail(
          base::format("the store has {} records, the memory {}", records.size(), keys.size()));
    }
    model::ClusterState again;
    for (const auto& [key, value] : records) {
      if (const auto read = model::load_record(again, key, value); !read) {
        return fail(base::format("the record {} cannot be read: {}", key, read.error().message));
      }
    }
    if (const auto made = model::finish_load(again); !made) {
      return fail(base::format("the store cannot be loaded: {}", made.error().message));
    }
    compare_derived(state, again);
  }

  void compare_derived(const model::ClusterState& state, const model::ClusterState& again) {
    if (state.tasks.size() != again.tasks.size() ||
        state.instances.size() != again.instances.size() ||
        state.client_tokens.size() != again.client_tokens.size() ||
        state.task_definitions.size() != again.task_definitions.size()) {
      return fail(
          base::format("the memory has {} tasks, {} instances and {} tokens, its store {}, "
                       "{} and {}",
                       state.tasks.size(), state.instances.size(), state.client_tokens.size(),
                       again.tasks.size(), again.instances.size(), again.client_tokens.size()));
    }
    model::check_invariants(again);
    for (const auto& [arn, instance] : state.instances) {
      const model::ContainerInstance& loaded = again.instances.at(arn);
      const std::string id = short_name(arn.str());
      if (instance.cpu_units_held != loaded.cpu_units_held ||
          instance.memory_mib_held != loaded.memory_mib_held ||
          instance.ports_held != loaded.ports_held || instance.tasks != loaded.tasks) {
        return fail(base::format("instance {} holds something else after a reload", id));
      }
      for (size_t i = 0; i < instance.gpus.size() && i < loaded.gpus.size(); ++i) {
        const model::GpuSlot& gpu = instance.gpus[i];
        if (gpu.state == loaded.gpus[i].state) continue;
        return fail(base::format("{} of instance {} is {}, and {} after a reload", gpu.device.uuid,
                                 id, model::to_string(gpu.state),
                                 model::to_string(loaded.gpus[i].state)));
      }
    }
  }

  uint64_t turns_ = 0;
};

}  // namespace

std::unique_ptr<Checker> make_memory_is_store(World& world) {
  return std::make_unique<MemoryIsStore>(world);
}

}  // namespace sim
