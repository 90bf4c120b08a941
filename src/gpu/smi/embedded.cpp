#include "gpu/smi/embedded.h"

// BERTH_NVIDIA_SMI is the path of the built program: cmake/nvidia_smi.cmake. The assembler copies
// the file's bytes in, between two labels.
__asm__(
    ".pushsection .rodata\n"
    ".globl berth_nvidia_smi_begin\n"
    ".globl berth_nvidia_smi_end\n"
    ".balign 16\n"
    "berth_nvidia_smi_begin:\n"
    ".incbin \"" BERTH_NVIDIA_SMI
    "\"\n"
    "berth_nvidia_smi_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char berth_nvidia_smi_begin[];
extern const char berth_nvidia_smi_end[];
}

namespace gpu {

std::string_view embedded_nvidia_smi() {
  return {berth_nvidia_smi_begin,
          static_cast<size_t>(berth_nvidia_smi_end - berth_nvidia_smi_begin)};
}

}  // namespace gpu
