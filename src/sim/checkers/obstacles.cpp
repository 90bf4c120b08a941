#include "sim/checkers/obstacles.h"

#include <algorithm>

namespace sim {

std::set<std::string> obstacles(const model::ContainerInstance& instance, const Family& family) {
  std::set<std::string> found;
  const int32_t cpu = family.cpu;
  const int32_t memory = family.memory_mib + (family.sidecar ? 64 : 0);
  if (!instance.agent_connected) found.insert("AGENT");
  if (instance.cpu_units - instance.cpu_units_held < cpu) found.insert("RESOURCE:CPU");
  if (instance.memory_mib - instance.memory_mib_held < memory) found.insert("RESOURCE:MEMORY");
  const model::HostPort port{family.host_port, false};
  if (family.host_port != 0 &&
      (instance.ports_held.contains(port) || instance.reserved_ports.contains(port))) {
    found.insert("RESOURCE:PORTS");
  }
  int32_t idle = 0;
  int32_t usable = 0;
  bool room_for_share = false;
  for (const model::GpuSlot& gpu : instance.gpus) {
    const bool is_idle = gpu.state == model::GpuState::Idle && gpu.device.healthy;
    usable += 1;
    idle += is_idle ? 1 : 0;
    int64_t taken = 0;
    for (const model::GpuHolder& holder : gpu.holders) taken += holder.memory_mib;
    const bool shares = is_idle || (gpu.state == model::GpuState::NvidiaMps && gpu.device.healthy);
    room_for_share = room_for_share || (shares && gpu.device.mps_capable &&
                                        gpu.device.memory_mib - taken >= family.shared_mib);
  }
  const bool no_gpus = (family.gpus > 0 && idle < family.gpus) ||
                       (family.all_gpus && (usable == 0 || idle < usable)) ||
                       (family.shared_mib > 0 && !room_for_share);
  if (no_gpus) found.insert("RESOURCE:GPU");
  return found;
}

bool has_place(const model::ClusterState& state, const Family& family) {
  return std::ranges::any_of(state.instances, [&](const auto& entry) {
    const model::ContainerInstance& instance = entry.second;
    return instance.status == model::InstanceStatus::Active && obstacles(instance, family).empty();
  });
}

int32_t room_now(const model::ContainerInstance& instance, const Family& family) {
  if (instance.status != model::InstanceStatus::Active || !obstacles(instance, family).empty()) {
    return 0;
  }
  // Of these there is one of each, or all at once.
  if (family.host_port != 0 || family.all_gpus) return 1;
  const int32_t memory = family.memory_mib + (family.sidecar ? 64 : 0);
  int64_t room = (instance.memory_mib - instance.memory_mib_held) / std::max(memory, 1);
  if (family.cpu > 0) {
    room = std::min(room, (instance.cpu_units - instance.cpu_units_held) / family.cpu);
  }
  int64_t idle = 0;
  int64_t shares = 0;
  for (const model::GpuSlot& gpu : instance.gpus) {
    const bool is_idle = gpu.state == model::GpuState::Idle && gpu.device.healthy;
    idle += is_idle ? 1 : 0;
    const bool is_shared = gpu.state == model::GpuState::NvidiaMps && gpu.device.healthy;
    if (family.shared_mib == 0 || !gpu.device.mps_capable || (!is_idle && !is_shared)) continue;
    int64_t taken = 0;
    for (const model::GpuHolder& holder : gpu.holders) taken += holder.memory_mib;
    shares += (gpu.device.memory_mib - taken) / family.shared_mib;
  }
  if (family.gpus > 0) room = std::min(room, idle / family.gpus);
  if (family.shared_mib > 0) room = std::min(room, shares);
  return static_cast<int32_t>(room);
}

int32_t room_when_empty(const model::ContainerInstance& instance, const Family& family) {
  model::ContainerInstance empty = instance;
  empty.agent_connected = true;
  empty.cpu_units_held = 0;
  empty.memory_mib_held = 0;
  empty.ports_held.clear();
  for (model::GpuSlot& gpu : empty.gpus) {
    if (gpu.state == model::GpuState::Quarantined) continue;
    gpu.state = model::GpuState::Idle;
    gpu.holders.clear();
  }
  return room_now(empty, family);
}

}  // namespace sim
