#include "gpu/embedded.h"

#include <cstddef>

// The assembler copies the bytes of the file at `path` in, between two labels. The paths are those
// of the built programs: cmake/nvidia_smi.cmake, cmake/emulated_mps.cmake.
#define EMBED(name, path)            \
  __asm__(                           \
      ".pushsection .rodata\n"       \
      ".globl " #name                \
      "_begin\n"                     \
      ".globl " #name                \
      "_end\n"                       \
      ".balign 16\n" #name           \
      "_begin:\n"                    \
      ".incbin \"" path "\"\n" #name \
      "_end:\n"                      \
      ".byte 0\n"                    \
      ".popsection\n");              \
  extern "C" {                       \
  extern const char name##_begin[];  \
  extern const char name##_end[];    \
  }

EMBED(berth_nvidia_smi, BERTH_NVIDIA_SMI)
EMBED(berth_mps_control, BERTH_EMULATED_MPS)

namespace gpu {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view embedded_nvidia_smi() {
  return between(berth_nvidia_smi_begin, berth_nvidia_smi_end);
}

std::string_view embedded_mps_control() {
  return between(berth_mps_control_begin, berth_mps_control_end);
}

}  // namespace gpu
