#include "gpu/mps/mps_support.h"

#include <unistd.h>

namespace gpu {

MpsSupport find_mps_control(std::span<const std::filesystem::path> directories) {
  for (const std::filesystem::path& directory : directories) {
    const std::filesystem::path program = directory / "nvidia-cuda-mps-control";
    if (::access(program.c_str(), X_OK) == 0) return {.control_program = program.string()};
  }
  return {.missing =
              "nvidia-cuda-mps-control is not on this machine. It comes with the NVIDIA driver: "
              "install the driver's compute utilities (nvidia-compute-utils, nvidia-cuda-mps)."};
}

}  // namespace gpu
