// The programs of emulated GPUs: small static ones of ours, built from C and carried inside this
// binary.
#pragma once

#include <string_view>

namespace gpu {

// The nvidia-smi of emulated containers (gpu/smi/nvidia_smi.c): the ELF file's bytes, alive as long
// as the process.
std::string_view embedded_nvidia_smi();

// The nvidia-cuda-mps-control of emulated GPUs (gpu/mps/emulated_mps_control.c): the same of it.
std::string_view embedded_mps_control();

}  // namespace gpu
