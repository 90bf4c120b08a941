// Whether this machine can share GPUs through NVIDIA MPS: its control program has to be there.
#pragma once

#include <filesystem>
#include <span>

#include "gpu/devices.h"

namespace gpu {

// Looks for nvidia-cuda-mps-control in the directories, in their order.
MpsSupport find_mps_control(std::span<const std::filesystem::path> directories);

}  // namespace gpu
