#include "gpu/nvml/nvml_library.h"

#include <dlfcn.h>

#include <initializer_list>
#include <vector>

#include "base/format.h"

namespace gpu {
namespace {

class Loader {
 public:
  explicit Loader(void* handle) : handle_(handle) {}

  // The first of `names` that the library has; null and noted when it has none.
  template <class Function>
  void required(Function& function, std::initializer_list<const char*> names) {
    optional(function, names);
    if (function == nullptr) missing.emplace_back(*names.begin());
  }

  template <class Function>
  void optional(Function& function, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      function = reinterpret_cast<Function>(dlsym(handle_, name));
      if (function != nullptr) return;
    }
  }

  std::vector<std::string> missing;

 private:
  void* handle_;
};

void load_device_functions(Loader& loader, NvmlFunctions& call) {
  loader.required(call.device_count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  loader.required(call.device_by_index,
                  {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  loader.required(call.name, {"nvmlDeviceGetName"});
  loader.required(call.uuid, {"nvmlDeviceGetUUID"});
  loader.required(call.pci_info, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2"});
  loader.required(call.memory, {"nvmlDeviceGetMemoryInfo"});
  loader.optional(call.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  loader.optional(call.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  loader.optional(call.utilization, {"nvmlDeviceGetUtilizationRates"});
  loader.optional(call.temperature, {"nvmlDeviceGetTemperature"});
  loader.optional(call.power_usage, {"nvmlDeviceGetPowerUsage"});
  loader.optional(call.remapped_rows, {"nvmlDeviceGetRemappedRows"});
  loader.optional(call.link_state, {"nvmlDeviceGetNvLinkState"});
  loader.optional(call.link_remote_pci,
                  {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo"});
  loader.optional(call.link_remote_type, {"nvmlDeviceGetNvLinkRemoteDeviceType"});
  loader.optional(call.mig_mode, {"nvmlDeviceGetMigMode"});
  loader.optional(call.mig_max_count, {"nvmlDeviceGetMaxMigDeviceCount"});
  loader.optional(call.mig_by_index, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  loader.optional(call.mig_attributes, {"nvmlDeviceGetAttributes_v2"});
}

// The three lists change their record together, so they are taken in one version, never mixed.
void load_process_functions(Loader& loader, NvmlFunctions& call) {
  for (const char* version : {"_v3", "_v2", ""}) {
    auto name = [&](const char* kind) {
      return base::format("nvmlDeviceGet{}RunningProcesses{}", kind, version);
    };
    loader.optional(call.compute_processes, {name("Compute").c_str()});
    if (call.compute_processes == nullptr) continue;
    loader.optional(call.graphics_processes, {name("Graphics").c_str()});
    loader.optional(call.mps_processes, {name("MPSCompute").c_str()});
    call.processes_are_v1 = *version == '\0';
    return;
  }
  loader.missing.emplace_back("nvmlDeviceGetComputeRunningProcesses");
}

}  // namespace

base::Result<NvmlLibrary> load_nvml(const std::string& path) {
  std::shared_ptr<void> handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* open) {
    if (open != nullptr) dlclose(open);
  });
  if (handle == nullptr) {
    const char* reason = dlerror();
    return base::fail("GpuDriverException",
                      base::format("No NVIDIA driver: {} cannot be loaded ({}). Install the NVIDIA "
                                   "driver for this kernel; in a container, start it with the "
                                   "nvidia runtime.",
                                   path, reason != nullptr ? reason : "no reason given"));
  }
  NvmlFunctions call;
  Loader loader(handle.get());
  loader.required(call.init, {"nvmlInit_v2", "nvmlInit"});
  loader.required(call.shutdown, {"nvmlShutdown"});
  loader.required(call.error_string, {"nvmlErrorString"});
  loader.required(call.driver_version, {"nvmlSystemGetDriverVersion"});
  loader.optional(call.cuda_version,
                  {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  load_device_functions(loader, call);
  load_process_functions(loader, call);
  loader.optional(call.event_set_create, {"nvmlEventSetCreate"});
  loader.optional(call.event_set_free, {"nvmlEventSetFree"});
  loader.optional(call.register_events, {"nvmlDeviceRegisterEvents"});
  loader.optional(call.event_wait, {"nvmlEventSetWait_v2", "nvmlEventSetWait"});
  if (!loader.missing.empty()) {
    return base::fail("GpuDriverException",
                      base::format("{} lacks {}: it is not NVIDIA's management library, or its "
                                   "driver is older than 418. Install a current NVIDIA driver.",
                                   path, base::join(loader.missing, ", ")));
  }
  return NvmlLibrary{.call = call, .handle = std::move(handle)};
}

}  // namespace gpu
