#include "sim/gpus.h"

#include <utility>

namespace sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

}  // namespace

Gpus::Gpus(Environment& environment, std::string who, std::vector<model::GpuDevice> devices)
    : environment_(environment), who_(std::move(who)) {
  for (model::GpuDevice& device : devices) {
    std::string uuid = device.uuid;
    gpus_[std::move(uuid)].device = std::move(device);
  }
}

const PhysicalGpu* Gpus::find(const std::string& uuid) const {
  const auto found = gpus_.find(uuid);
  return found == gpus_.end() ? nullptr : &found->second;
}

void Gpus::attach(const std::string& uuid, const std::string& container, int64_t mib) {
  const auto found = gpus_.find(uuid);
  if (found != gpus_.end()) found->second.processes[container] = mib;
}

void Gpus::detach(const std::string& container) {
  for (auto& [uuid, gpu] : gpus_) {
    const auto process = gpu.processes.find(container);
    if (process == gpu.processes.end()) continue;
    const int64_t mib = process->second > 0 ? process->second : gpu.device.memory_mib / 2;
    gpu.processes.erase(process);
    if (environment_.inject(environment_.rates.vram_lingers_long)) {
      leave_residue(gpu, mib);
      const uint64_t residue = gpu.residue_since;
      environment_.tell(who_, "{} MiB stay on {} for long", mib, uuid);
      environment_.events.after(environment_.between(minutes(2), minutes(10)),
                                [this, uuid, residue] {
                                  PhysicalGpu& same = gpus_.at(uuid);
                                  if (same.residue_since == residue) same.residue_mib = 0;
                                });
    } else if (environment_.inject(environment_.rates.vram_lingers)) {
      leave_residue(gpu, mib);
      const uint64_t residue = gpu.residue_since;
      environment_.events.after(environment_.between(base::Milliseconds{100}, seconds(30)),
                                [this, uuid, residue] {
                                  PhysicalGpu& same = gpus_.at(uuid);
                                  if (same.residue_since == residue) same.residue_mib = 0;
                                });
    }
  }
}

void Gpus::leave_residue(PhysicalGpu& gpu, int64_t mib) {
  gpu.residue_mib += mib;
  gpu.residue_since = environment_.events.done() + 1;
}

void Gpus::fall_off_the_bus(const std::string& uuid) {
  const auto found = gpus_.find(uuid);
  if (found == gpus_.end() || !found->second.on_bus) return;
  found->second.on_bus = false;
  environment_.tell(who_, "GPU {} has fallen off the bus", uuid);
}

void Gpus::power_cycle() {
  for (auto& [uuid, gpu] : gpus_) {
    gpu.on_bus = true;
    gpu.processes.clear();
    gpu.residue_mib = 0;
    gpu.residue_since = 0;
  }
}

}  // namespace sim
