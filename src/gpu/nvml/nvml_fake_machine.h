// NVML functions over plain data, for tests: what the library would say is written into FakeGpu.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "gpu/nvml/nvml_api.h"
#include "gpu/nvml/nvml_library.h"

namespace gpu {

struct FakeLink {
  uint32_t active = 1;
  uint32_t type = nvml_remote_is_gpu;
  uint32_t bus = 0;  // PCI bus of the other end.
};

struct FakeGpu {
  std::string uuid = {};
  std::string name = "NVIDIA H200";
  uint32_t bus = 0x3b;
  uint64_t total_mib = 143771;
  uint64_t reserved_mib = 600;
  uint64_t used_mib = 0;
  int32_t major = 9;
  int32_t minor = 0;
  uint32_t remap_failed = 0;
  uint32_t utilization = 0;
  uint32_t celsius = 30;
  uint32_t milliwatts = 70'000;
  std::vector<FakeLink> links = {};
  std::vector<NvmlProcess> compute = {};
  std::vector<NvmlProcess> graphics = {};
  std::vector<FakeGpu> mig = {};  // MIG instances; mig_mode is on when mig_on.
  bool mig_on = false;
  NvmlMigAttributes attributes = {};
  NvmlReturn open = NvmlReturn::Success;  // What opening it returns,
  NvmlReturn uuid_code = NvmlReturn::Success;
  NvmlReturn memory_code = NvmlReturn::Success;
  NvmlReturn process_code = NvmlReturn::Success;
};

struct FakeMachine {
  NvmlReturn init = NvmlReturn::Success;
  NvmlReturn count = NvmlReturn::Success;
  std::vector<FakeGpu> gpus;
  std::deque<NvmlEvent> events;
  int open_sessions = 0;
};

// The machine that the functions below speak of: C function pointers have no room for a context.
inline FakeMachine fake_machine;

namespace fake {

inline FakeGpu& gpu(NvmlDevice device) {
  return *reinterpret_cast<FakeGpu*>(device);
}
inline NvmlDevice handle(FakeGpu& gpu) {
  return reinterpret_cast<NvmlDevice>(&gpu);
}

inline NvmlReturn text(const std::string& from, char* to, uint32_t size) {
  std::snprintf(to, size, "%s", from.c_str());
  return NvmlReturn::Success;
}

inline NvmlReturn processes(NvmlReturn code, const std::vector<NvmlProcess>& from, uint32_t* count,
                            void* to) {
  if (code != NvmlReturn::Success) return code;
  uint32_t room = std::exchange(*count, static_cast<uint32_t>(from.size()));
  if (room < from.size()) return NvmlReturn::InsufficientSize;
  for (size_t i = 0; i < from.size(); ++i) static_cast<NvmlProcess*>(to)[i] = from[i];
  return NvmlReturn::Success;
}

inline void add_links_and_mig(NvmlFunctions& call) {
  call.link_state = [](NvmlDevice device, uint32_t link, uint32_t* active) {
    if (link >= gpu(device).links.size()) return NvmlReturn::NotSupported;
    *active = gpu(device).links[link].active;
    return NvmlReturn::Success;
  };
  call.link_remote_type = [](NvmlDevice device, uint32_t link, uint32_t* type) {
    *type = gpu(device).links[link].type;
    return NvmlReturn::Success;
  };
  call.link_remote_pci = [](NvmlDevice device, uint32_t link, NvmlPciInfo* pci) {
    pci->bus = gpu(device).links[link].bus;
    return NvmlReturn::Success;
  };
  call.mig_mode = [](NvmlDevice device, uint32_t* current, uint32_t* pending) {
    *current = *pending = gpu(device).mig_on ? 1 : 0;
    return NvmlReturn::Success;
  };
  call.mig_max_count = [](NvmlDevice, uint32_t* count) {
    *count = 7;
    return NvmlReturn::Success;
  };
  call.mig_by_index = [](NvmlDevice device, uint32_t slot, NvmlDevice* instance) {
    if (slot >= gpu(device).mig.size()) return NvmlReturn::NotFound;
    *instance = handle(gpu(device).mig[slot]);
    return gpu(device).mig[slot].open;
  };
  call.mig_attributes = [](NvmlDevice device, NvmlMigAttributes* attributes) {
    *attributes = gpu(device).attributes;
    return NvmlReturn::Success;
  };
}

inline void add_use_and_events(NvmlFunctions& call) {
  call.utilization = [](NvmlDevice device, NvmlUtilization* use) {
    use->gpu = gpu(device).utilization;
    return NvmlReturn::Success;
  };
  call.temperature = [](NvmlDevice device, uint32_t sensor, uint32_t* celsius) {
    if (sensor != nvml_temperature_gpu) return NvmlReturn::NotSupported;
    *celsius = gpu(device).celsius;
    return NvmlReturn::Success;
  };
  call.power_usage = [](NvmlDevice device, uint32_t* milliwatts) {
    *milliwatts = gpu(device).milliwatts;
    return NvmlReturn::Success;
  };
  call.compute_processes = [](NvmlDevice device, uint32_t* count, void* to) {
    return processes(gpu(device).process_code, gpu(device).compute, count, to);
  };
  call.graphics_processes = [](NvmlDevice device, uint32_t* count, void* to) {
    return processes(NvmlReturn::Success, gpu(device).graphics, count, to);
  };
  call.mps_processes = [](NvmlDevice, uint32_t*, void*) { return NvmlReturn::NotSupported; };
  call.event_set_create = [](NvmlEventSet* set) {
    *set = reinterpret_cast<NvmlEventSet>(&fake_machine);
    return NvmlReturn::Success;
  };
  call.event_set_free = [](NvmlEventSet) { return NvmlReturn::Success; };
  call.register_events = [](NvmlDevice, uint64_t, NvmlEventSet) { return NvmlReturn::Success; };
  call.event_wait = [](NvmlEventSet, NvmlEvent* event, uint32_t) {
    if (fake_machine.events.empty()) return NvmlReturn::Timeout;
    *event = fake_machine.events.front();
    fake_machine.events.pop_front();
    return NvmlReturn::Success;
  };
}

}  // namespace fake

// A current library; a test makes it an old one by clearing functions.
inline NvmlFunctions fake_functions() {
  NvmlFunctions call;
  call.init = [] {
    if (fake_machine.init == NvmlReturn::Success) ++fake_machine.open_sessions;
    return fake_machine.init;
  };
  call.shutdown = [] {
    --fake_machine.open_sessions;
    return NvmlReturn::Success;
  };
  call.error_string = [](NvmlReturn code) {
    return code == NvmlReturn::GpuIsLost ? "GPU is lost" : "Unknown Error";
  };
  call.driver_version = [](char* to, uint32_t size) { return fake::text("550.54.15", to, size); };
  call.cuda_version = [](int32_t* version) {
    *version = 12040;
    return NvmlReturn::Success;
  };
  call.device_count = [](uint32_t* count) {
    *count = static_cast<uint32_t>(fake_machine.gpus.size());
    return fake_machine.count;
  };
  call.device_by_index = [](uint32_t index, NvmlDevice* device) {
    *device = fake::handle(fake_machine.gpus[index]);
    return fake_machine.gpus[index].open;
  };
  call.name = [](NvmlDevice device, char* to, uint32_t size) {
    return fake::text(fake::gpu(device).name, to, size);
  };
  call.uuid = [](NvmlDevice device, char* to, uint32_t size) {
    fake::text(fake::gpu(device).uuid, to, size);
    return fake::gpu(device).uuid_code;
  };
  call.pci_info = [](NvmlDevice device, NvmlPciInfo* pci) {
    pci->bus = fake::gpu(device).bus;
    return NvmlReturn::Success;
  };
  call.memory = [](NvmlDevice device, NvmlMemory* memory) {
    const FakeGpu& from = fake::gpu(device);
    *memory = {.total = from.total_mib << 20,
               .free = (from.total_mib - from.used_mib - from.reserved_mib) << 20,
               .used = (from.used_mib + from.reserved_mib) << 20};
    return from.memory_code;
  };
  call.memory_v2 = [](NvmlDevice device, NvmlMemoryV2* memory) {
    const FakeGpu& from = fake::gpu(device);
    if (memory->version != 0x02000028) return NvmlReturn::Unknown;
    memory->total = from.total_mib << 20;
    memory->reserved = from.reserved_mib << 20;
    memory->used = from.used_mib << 20;
    memory->free = memory->total - memory->reserved - memory->used;
    return from.memory_code;
  };
  call.compute_capability = [](NvmlDevice device, int32_t* major, int32_t* minor) {
    *major = fake::gpu(device).major;
    *minor = fake::gpu(device).minor;
    return NvmlReturn::Success;
  };
  call.remapped_rows = [](NvmlDevice device, uint32_t*, uint32_t*, uint32_t*, uint32_t* failed) {
    *failed = fake::gpu(device).remap_failed;
    return NvmlReturn::Success;
  };
  fake::add_links_and_mig(call);
  fake::add_use_and_events(call);
  return call;
}

}  // namespace gpu
