// What NVML's codes mean to whoever runs the machine: cause and fix in one or two sentences.
// Sources: NVIDIA "NVML API Reference Guide", "XID Errors". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/nvml/nvml_api.h"

namespace gpu {

// What to do when a call on one GPU failed this way; ends with a full stop.
std::string_view fix_for(NvmlReturn code);

// Why nvmlInit failed. `library_words` is NVML's own text for the code; `kernel_driver` is the
// version of the loaded kernel module, empty when none is loaded.
std::string init_failure(NvmlReturn code, std::string_view library_words,
                         std::string_view kernel_driver);

struct XidMeaning {
  bool usable;  // The GPU itself is fine: a program did something wrong, or it was contained.
  std::string_view text;
};

// An Xid that is not in NVIDIA's table counts as a fault of the GPU, the safe side.
XidMeaning meaning_of_xid(uint64_t xid);

}  // namespace gpu
