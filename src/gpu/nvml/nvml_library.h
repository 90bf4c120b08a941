// The loaded NVML library: its functions, and the handle that keeps them valid.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "gpu/nvml/nvml_api.h"

namespace gpu {

struct NvmlLibrary {
  NvmlFunctions call;
  // Closes the library with its last copy. Shared because copies of `call` are only as good as it;
  // empty when the functions are a test's own.
  std::shared_ptr<void> handle = {};
};

inline constexpr const char* nvml_library_name = "libnvidia-ml.so.1";

// Loads by the dynamic linker's rules, each function in its newest version that the library has.
// Errors, code GpuDriverException: the library is not found or not loadable (with the linker's own
// words), or lacks a function that every driver since 418 has.
base::Result<NvmlLibrary> load_nvml(const std::string& path = nvml_library_name);

}  // namespace gpu
