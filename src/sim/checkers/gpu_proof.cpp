// A GPU, or a share of one, is not issued again before it was proven empty: when the server calls
// one idle that a task had, nothing is on it; and no container starts on one where another task's
// memory leaves it less than it was given.

#include <map>
#include <utility>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class GpuProof final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "gpu_proof"; }

  void loaded(const model::ClusterState& state) override { look(state); }
  void turned(const Turn& turn) override { look(turn.state); }
  void server_disk_lost() override { held_.clear(); }

  void container_started(const Machine& machine, const SimContainer& container) override {
    // A server that lost its disk does not know what was quarantined.
    if (world().expectations().server_disks_lost > 0) return;
    for (const std::string& uuid : container.gpus.uuids) {
      const PhysicalGpu* const gpu = machine.gpus().find(uuid);
      if (gpu == nullptr || gpu->residue_mib == 0) continue;
      // Beside what an earlier sharer left there may be room enough.
      int64_t shared_mib = gpu->residue_mib;
      for (const auto& [id, mib] : gpu->processes) shared_mib += mib;
      if (container.gpus.sharing && shared_mib <= gpu->device.memory_mib) continue;
      fail(base::format("task {} starts on {} of {}, where {} MiB of another are left",
                        short_name(container.task_arn), uuid, machine.name(), gpu->residue_mib));
    }
  }

 private:
  void look(const model::ClusterState& state) {
    for (const auto& [arn, instance] : state.instances) {
      const Machine* const machine = world().machine_of(instance);
      for (const model::GpuSlot& slot : instance.gpus) {
        const std::pair key(arn, slot.device.uuid);
        const bool was_held = std::exchange(held_[key], !slot.holders.empty());
        if (!was_held || !slot.holders.empty() || slot.state != model::GpuState::Idle) continue;
        if (instance.status == model::InstanceStatus::Inactive || machine == nullptr) continue;
        const PhysicalGpu* const gpu = machine->gpus().find(slot.device.uuid);
        if (gpu == nullptr) continue;
        for (const SimContainer* const one : machine->running_with(slot.device.uuid)) {
          fail(base::format("{} of {} is called idle, but task {} runs on it", slot.device.uuid,
                            machine->name(), short_name(one->task_arn)));
        }
        if (gpu->is_empty()) continue;
        fail(base::format("{} of {} is called idle, but {} process(es) and {} MiB are on it",
                          slot.device.uuid, machine->name(), gpu->processes.size(),
                          gpu->residue_mib));
      }
    }
  }

  std::map<std::pair<model::InstanceArn, std::string>, bool> held_;
};

}  // namespace

std::unique_ptr<Checker> make_gpu_proof(World& world) {
  return std::make_unique<GpuProof>(world);
}

}  // namespace sim
