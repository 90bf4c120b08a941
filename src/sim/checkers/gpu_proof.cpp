// A GPU is not issued again before it was proven empty: when the server calls one idle that a task
// had, nothing is on it; and no container starts on one that still holds another task's memory.

#include <map>
#include <set>
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
    if (world().ledger().server_disks_lost > 0) return;
    for (const std::string& uuid : container.gpus.uuids) {
      const PhysicalGpu* const gpu = machine.gpus().find(uuid);
      // What an earlier sharer left is proven gone only when the last one has ended.
      const bool with_others = gpu != nullptr && gpu->processes.size() > 1;
      if (gpu == nullptr || gpu->residue_mib == 0 || with_others) continue;
      if (container.gpus.sharing && joins_sharers(uuid, container.task_arn)) continue;
      fail(base::format("task {} starts on {} of {}, where {} MiB of another are left",
                        short_name(container.task_arn), uuid, machine.name(), gpu->residue_mib));
    }
  }

 private:
  // For the server the GPU has been in use all along.
  bool joins_sharers(const std::string& uuid, const std::string& task_arn) {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return true;
    const model::Task* const task = model::find_task(*state, model::TaskArn(task_arn));
    if (task == nullptr) return false;
    const auto sharers = sharers_.find({task->instance, uuid});
    return sharers != sharers_.end() && sharers->second.size() > 1;
  }

  void look(const model::ClusterState& state) {
    for (const auto& [arn, instance] : state.instances) {
      const Machine* const machine = world().machine_of(instance);
      for (const model::GpuSlot& slot : instance.gpus) {
        const std::pair key(arn, slot.device.uuid);
        const bool was_held = std::exchange(held_[key], !slot.holders.empty());
        if (slot.holders.empty()) sharers_.erase(key);
        for (const model::GpuHolder& holder : slot.holders) sharers_[key].insert(holder.task);
        if (!was_held || !slot.holders.empty() || slot.state != model::GpuState::Idle) continue;
        if (instance.status == model::InstanceStatus::Inactive || machine == nullptr) continue;
        const PhysicalGpu* const gpu = machine->gpus().find(slot.device.uuid);
        if (gpu == nullptr || gpu->is_empty()) continue;
        fail(base::format("{} of {} is called idle, but {} process(es) and {} MiB are on it",
                          slot.device.uuid, machine->name(), gpu->processes.size(),
                          gpu->residue_mib));
      }
    }
  }

  std::map<std::pair<model::InstanceArn, std::string>, bool> held_;
  // All that have had a part of the GPU since nobody had one.
  std::map<std::pair<model::InstanceArn, std::string>, std::set<model::TaskArn>> sharers_;
};

}  // namespace

std::unique_ptr<Checker> make_gpu_proof(World& world) {
  return std::make_unique<GpuProof>(world);
}

}  // namespace sim
