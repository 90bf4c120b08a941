// The part of the NVML binary interface that Berth calls, declared here so that neither NVIDIA's
// header nor its library is needed to build. Source: NVIDIA "NVML API Reference Guide". Names of
// functions are NVML's own without the prefix; layouts are the C ABI and must not change.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpu {

// nvmlReturn_t, the values that Berth tells apart.
enum class NvmlReturn : int32_t {
  Success = 0,
  NotSupported = 3,
  NoPermission = 4,
  NotFound = 6,
  InsufficientSize = 7,
  DriverNotLoaded = 9,
  Timeout = 10,
  FunctionNotFound = 13,
  GpuIsLost = 15,
  ResetRequired = 16,
  LibraryDriverMismatch = 18,
  Unknown = 999,
};

struct NvmlDeviceHandle;  // Opaque; owned by the library until shutdown.
struct NvmlEventSetHandle;
using NvmlDevice = NvmlDeviceHandle*;
using NvmlEventSet = NvmlEventSetHandle*;

// nvmlPciInfo_t. The _v2 calls fill the first 52 bytes the same way up to subsystem_id only.
struct NvmlPciInfo {
  char bus_id_legacy[16] = {};
  uint32_t domain = 0;
  uint32_t bus = 0;
  uint32_t device = 0;
  uint32_t device_id = 0;
  uint32_t subsystem_id = 0;
  char bus_id[32] = {};
};
static_assert(sizeof(NvmlPciInfo) == 68);

// nvmlMemory_t: used includes the driver's reserve. Bytes.
struct NvmlMemory {
  uint64_t total = 0;
  uint64_t free = 0;
  uint64_t used = 0;
};

// nvmlMemory_v2_t: total = reserved + free + used. Bytes.
struct NvmlMemoryV2 {
  uint32_t version = sizeof(NvmlMemoryV2) | (2U << 24);
  uint64_t total = 0;
  uint64_t reserved = 0;
  uint64_t free = 0;
  uint64_t used = 0;
};
static_assert(sizeof(NvmlMemoryV2) == 40);

// nvmlProcessInfo_v1_t, and nvmlProcessInfo_v2_t which is also that of the _v3 calls.
struct NvmlProcessV1 {
  uint32_t pid = 0;
  uint64_t used_bytes = 0;
};
static_assert(sizeof(NvmlProcessV1) == 16);
struct NvmlProcess {
  uint32_t pid = 0;
  uint64_t used_bytes = 0;  // All ones: not available.
  uint32_t gpu_instance_id = 0;
  uint32_t compute_instance_id = 0;
};
static_assert(sizeof(NvmlProcess) == 24);

struct NvmlUtilization {
  uint32_t gpu = 0;  // Percent.
  uint32_t memory = 0;
};

// nvmlDeviceAttributes_t of a MIG instance.
struct NvmlMigAttributes {
  uint32_t multiprocessors = 0;
  uint32_t copy_engines = 0;
  uint32_t decoders = 0;
  uint32_t encoders = 0;
  uint32_t jpeg_engines = 0;
  uint32_t ofa_engines = 0;
  uint32_t gpu_slices = 0;
  uint32_t compute_slices = 0;
  uint64_t memory_mib = 0;
};
static_assert(sizeof(NvmlMigAttributes) == 40);

// nvmlEventData_t; the calls without _v2 leave the last two members alone.
struct NvmlEvent {
  NvmlDevice device = nullptr;
  uint64_t type = 0;
  uint64_t data = 0;  // The Xid number when type is nvml_event_xid.
  uint32_t gpu_instance_id = 0;
  uint32_t compute_instance_id = 0;
};
static_assert(sizeof(NvmlEvent) == 32);

inline constexpr uint64_t nvml_event_double_bit_ecc = 2;
inline constexpr uint64_t nvml_event_xid = 8;
inline constexpr uint32_t nvml_temperature_gpu = 0;  // nvmlTemperatureSensors_t.
inline constexpr uint32_t nvml_max_links = 18;
inline constexpr uint32_t nvml_remote_is_gpu = 0;  // nvmlIntNvLinkDeviceType_t.
inline constexpr uint32_t nvml_remote_is_switch = 2;
inline constexpr size_t nvml_text_size = 96;  // NVML_DEVICE_*_V2_BUFFER_SIZE, the largest of all.

using NvmlProcessList = NvmlReturn (*)(NvmlDevice, uint32_t* count, void* processes);

// A null pointer is a function that this version of the library does not have; those marked
// required are never null.
struct NvmlFunctions {
  NvmlReturn (*init)() = nullptr;                                  // required
  NvmlReturn (*shutdown)() = nullptr;                              // required
  const char* (*error_string)(NvmlReturn) = nullptr;               // required
  NvmlReturn (*driver_version)(char*, uint32_t size) = nullptr;    // required
  NvmlReturn (*cuda_version)(int32_t*) = nullptr;                  // 12080 = 12.8
  NvmlReturn (*device_count)(uint32_t*) = nullptr;                 // required
  NvmlReturn (*device_by_index)(uint32_t, NvmlDevice*) = nullptr;  // required
  NvmlReturn (*name)(NvmlDevice, char*, uint32_t size) = nullptr;  // required
  NvmlReturn (*uuid)(NvmlDevice, char*, uint32_t size) = nullptr;  // required
  NvmlReturn (*pci_info)(NvmlDevice, NvmlPciInfo*) = nullptr;      // required
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*) = nullptr;         // required
  NvmlReturn (*memory_v2)(NvmlDevice, NvmlMemoryV2*) = nullptr;    // driver 510
  NvmlReturn (*compute_capability)(NvmlDevice, int32_t* major, int32_t* minor) = nullptr;
  NvmlReturn (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlReturn (*temperature)(NvmlDevice, uint32_t sensor, uint32_t* celsius) = nullptr;
  NvmlReturn (*power_usage)(NvmlDevice, uint32_t* milliwatts) = nullptr;
  NvmlReturn (*remapped_rows)(NvmlDevice, uint32_t* corrected, uint32_t* uncorrected,
                              uint32_t* pending, uint32_t* failed) = nullptr;  // driver 450

  NvmlReturn (*link_state)(NvmlDevice, uint32_t link, uint32_t* active) = nullptr;
  NvmlReturn (*link_remote_pci)(NvmlDevice, uint32_t link, NvmlPciInfo*) = nullptr;
  NvmlReturn (*link_remote_type)(NvmlDevice, uint32_t link, uint32_t* type) = nullptr;

  NvmlReturn (*mig_mode)(NvmlDevice, uint32_t* current, uint32_t* pending) = nullptr;
  NvmlReturn (*mig_max_count)(NvmlDevice, uint32_t*) = nullptr;
  NvmlReturn (*mig_by_index)(NvmlDevice, uint32_t, NvmlDevice*) = nullptr;
  NvmlReturn (*mig_attributes)(NvmlDevice, NvmlMigAttributes*) = nullptr;

  // `processes` is an array of NvmlProcess, or of NvmlProcessV1 when processes_are_v1.
  NvmlProcessList compute_processes = nullptr;  // required
  NvmlProcessList graphics_processes = nullptr;
  NvmlProcessList mps_processes = nullptr;
  bool processes_are_v1 = false;

  NvmlReturn (*event_set_create)(NvmlEventSet*) = nullptr;
  NvmlReturn (*event_set_free)(NvmlEventSet) = nullptr;
  NvmlReturn (*register_events)(NvmlDevice, uint64_t types, NvmlEventSet) = nullptr;
  NvmlReturn (*event_wait)(NvmlEventSet, NvmlEvent*, uint32_t timeout_ms) = nullptr;
};

}  // namespace gpu
