// In the end nothing is held and every GPU is back: idle, or quarantined because its agent said
// that it is not empty.

#include <map>
#include <set>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class NothingHeld final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "nothing_held"; }

  void called(const SeenCall& call) override {
    if (!call.report) return;
    for (const api::ecs::BerthGpuRelease& release : call.report->gpu_release) {
      if (!release.empty.value_or(false)) not_empty_.insert(release.gpu_id.value_or(""));
    }
  }

  void at_rest() override {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return;
    for (const auto& [arn, instance] : state->instances) {
      if (instance.status == model::InstanceStatus::Inactive) continue;
      const std::string id = short_name(arn.str());
      if (instance.cpu_units_held != 0 || instance.memory_mib_held != 0 ||
          !instance.ports_held.empty()) {
        fail(base::format("instance {} still has {} CPU units, {} MiB and {} port(s) held", id,
                          instance.cpu_units_held, instance.memory_mib_held,
                          instance.ports_held.size()));
      }
      const Machine* const machine = world().machine_of(instance);
      for (const model::GpuSlot& gpu : instance.gpus) {
        const PhysicalGpu* const real =
            machine == nullptr ? nullptr : machine->gpus().find(gpu.device.uuid);
        // One that is broken is not given out either way.
        if (real != nullptr && real->on_bus) check_gpu(id, gpu);
      }
    }
  }

 private:
  void check_gpu(const std::string& instance, const model::GpuSlot& gpu) {
    if (gpu.state == model::GpuState::Idle) return;
    if (gpu.state == model::GpuState::Quarantined && not_empty_.contains(gpu.device.uuid)) return;
    fail(base::format("{} of instance {} is {} ({}), and no agent has said that it is not empty",
                      gpu.device.uuid, instance, model::to_string(gpu.state), gpu.reason));
  }

  std::set<std::string> not_empty_;  // GPUs, as agents told.
};

}  // namespace

std::unique_ptr<Checker> make_nothing_held(World& world) {
  return std::make_unique<NothingHeld>(world);
}

}  // namespace sim
