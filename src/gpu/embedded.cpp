#include "gpu/embedded.h"

#include "base/embed.h"

namespace gpu {

EMBED(embedded_nvidia_smi, BERTH_NVIDIA_SMI)
EMBED(embedded_mps_control, BERTH_EMULATED_MPS)

}  // namespace gpu
