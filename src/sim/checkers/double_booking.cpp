// No GPU, port, core or MiB is given twice: neither in the server's state nor on the machines.

#include <algorithm>
#include <map>
#include <set>

#include "placement/cores.h"
#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

// What the tasks of one instance hold together.
struct Held {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  std::map<model::HostPort, std::string> ports;
  std::map<int32_t, std::string> cores;
  std::map<std::string, std::string> whole_gpus;
  std::map<std::string, int64_t> shared_mib;
};

class DoubleBooking final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "double_booking"; }

  void turned(const Turn& turn) override { look(turn.state); }
  void loaded(const model::ClusterState& state) override { look(state); }

  void container_started(const Machine& machine, const SimContainer& started) override {
    for (const auto& [id, other] : machine.containers()) {
      // A server that lost its disk does not know what runs from before; Docker refuses such a
      // port.
      if (world().expectations().server_disks_lost > 0) break;
      if (id == started.id || other.status != agent::core::RuntimeStatus::Running) continue;
      if (given_up_.contains(other.task_arn)) continue;  // Docker refuses such a port, too.
      for (const uint16_t port : started.host_ports) {
        if (std::ranges::find(other.host_ports, port) == other.host_ports.end()) continue;
        fail(base::format("host port {} of {} is taken by task {} while task {} has it", port,
                          machine.name(), short_name(started.task_arn),
                          short_name(other.task_arn)));
      }
    }
    for (const std::string& uuid : started.gpus.uuids) {
      check_gpu(machine, started, uuid);
      check_is_its_own(machine, started, uuid);
    }
  }

 private:
  void look(const model::ClusterState& state) {
    check(state);
    if (world().expectations().deregistered.empty()) return;
    for (const auto& [arn, task] : state.tasks) {
      if (world().expectations().deregistered.contains(task.instance.str())) {
        given_up_.insert(arn.str());
      }
    }
  }

  void check_gpu(const Machine& machine, const SimContainer& started, const std::string& uuid) {
    const PhysicalGpu* const gpu = machine.gpus().find(uuid);
    if (gpu == nullptr) return;
    int64_t mib = 0;
    for (const SimContainer* const other : machine.running_with(uuid)) {
      if (other->gpus.sharing) mib += other->gpus.sharing->memory_mib;
      if (other->id == started.id || (other->gpus.sharing && started.gpus.sharing)) continue;
      fail(base::format("{} of {} runs task {} while task {} is on it", uuid, machine.name(),
                        short_name(started.task_arn), short_name(other->task_arn)));
    }
    if (mib > gpu->device.memory_mib) {
      fail(base::format("{} of {} has {} MiB, its sharers were given {} MiB", uuid, machine.name(),
                        gpu->device.memory_mib, mib));
    }
  }

  // The GPU is one of those that the task was placed on.
  void check_is_its_own(const Machine& machine, const SimContainer& started,
                        const std::string& uuid) {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return;
    const model::Task* const task = model::find_task(*state, model::TaskArn(started.task_arn));
    if (task == nullptr) return;
    const bool own = std::ranges::any_of(task->held.gpus, [&](const model::GpuAssignment& held) {
      return held.gpu == uuid && held.container == started.container_name;
    });
    if (own) return;
    fail(base::format("container {} of task {} runs on {} of {}, which it was not given",
                      started.container_name, short_name(started.task_arn), uuid, machine.name()));
  }

  void check(const model::ClusterState& state) {
    for (const auto& [arn, instance] : state.instances) {
      Held held;
      for (const auto& task_arn : instance.tasks) {
        const model::Task* const task = model::find_task(state, task_arn);
        if (task != nullptr) add(instance, *task, held);
      }
      if (held.cpu_units > instance.cpu_units || held.memory_mib > instance.memory_mib) {
        fail(base::format("instance {} has {} CPU units and {} MiB, its tasks hold {} and {}",
                          short_name(arn.str()), instance.cpu_units, instance.memory_mib,
                          held.cpu_units, held.memory_mib));
      }
      for (const auto& [uuid, mib] : held.shared_mib) {
        const model::GpuSlot* const gpu = model::find_gpu(instance, uuid);
        if (gpu != nullptr && mib <= gpu->device.memory_mib) continue;
        fail(base::format("{} is shared out with {} MiB, which is more than it has", uuid, mib));
      }
    }
  }

  void add(const model::ContainerInstance& instance, const model::Task& task, Held& held) {
    const std::string id = short_name(task.arn.str());
    held.cpu_units += task.held.cpu_units;
    held.memory_mib += task.held.memory_mib;
    for (const model::HostPort& port : task.held.host_ports) {
      const auto [other, first] = held.ports.emplace(port, id);
      if (!first || instance.reserved_ports.contains(port)) {
        fail(base::format("host port {} is given to task {} and to {}", port.port, id,
                          first ? "the machine itself" : other->second));
      }
    }
    const placement::CoreSet cores = placement::parse_cpu_list(task.held.cpuset);
    for (int32_t core = cores.next(0); core >= 0; core = cores.next(core + 1)) {
      const auto [other, first] = held.cores.emplace(core, id);
      if (!first) {
        fail(base::format("core {} is given to tasks {} and {}", core, id, other->second));
      }
    }
    for (const model::GpuAssignment& gpu : task.held.gpus) {
      if (gpu.shared) {
        held.shared_mib[gpu.gpu] += gpu.memory_mib;
      } else if (const auto [other, first] = held.whole_gpus.emplace(gpu.gpu, id); !first) {
        fail(base::format("{} is given to tasks {} and {}", gpu.gpu, id, other->second));
      }
      if (held.whole_gpus.contains(gpu.gpu) && held.shared_mib.contains(gpu.gpu)) {
        fail(base::format("{} is given whole and shared at once, to task {} among others", gpu.gpu,
                          id));
      }
    }
  }

  // Tasks of instances that an operator has deregistered, ARNs: the machine has registered anew, or
  // will, and they may run there still, also once the server has forgotten them.
  std::set<std::string> given_up_;
};

}  // namespace

std::unique_ptr<Checker> make_double_booking(World& world) {
  return std::make_unique<DoubleBooking>(world);
}

}  // namespace sim
