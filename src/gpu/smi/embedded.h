// The nvidia-smi of emulated containers: a static program, built from nvidia_smi.c and carried
// inside this binary.
#pragma once

#include <string_view>

namespace gpu {

// The ELF file's bytes; alive as long as the process.
std::string_view embedded_nvidia_smi();

}  // namespace gpu
