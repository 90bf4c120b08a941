// The machine's own word on whether a device that a task asks for by its path is a GPU: links and
// nodes of other names are looked through, which model/gpu_doors.h cannot.
#pragma once

#include <filesystem>

#include "agent/core/runtime.h"
#include "json/value.h"

namespace agent {

// The character devices of NVIDIA's driver. Source: Linux, Documentation/admin-guide/devices.txt.
inline constexpr unsigned nvidia_major = 195;

// Whether the path leads to the device of a GPU, or to a directory with one in it, which Docker
// would hand over with all that it holds. A path that is not there leads nowhere. Blocks.
bool leads_to_gpu(const std::filesystem::path& path);

// Of the "Devices" of a create request that has no GPUs in it yet.
// Errors: "DockerClientConfigError" with the path and what to do instead.
std::expected<void, core::OperationError> check_devices_are_no_gpus(const json::Value& body);

}  // namespace agent
