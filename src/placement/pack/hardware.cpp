#include "placement/pack/hardware.h"

#include <algorithm>

#include "model/resources.h"

namespace placement::pack {

int32_t milli_on(const Hardware& hardware, const Kind& kind) {
  if (kind.whole_gpus > 0 || kind.all_gpus) return model::whole_gpu_milli;
  if (hardware.gpu_memory_mib <= 0) return kind.share.milli;
  // Rounded down, so that three shares of a third count as no more than one GPU.
  const int64_t by_memory =
      (kind.share.memory_mib * model::whole_gpu_milli) / hardware.gpu_memory_mib;
  return kind.share.milli + static_cast<int32_t>(std::min<int64_t>(by_memory, 2000));
}

int32_t gpus_on(const Hardware& hardware, const Kind& kind) {
  if (kind.all_gpus) return std::max(hardware.gpus, 1);
  if (kind.whole_gpus > 0) return kind.whole_gpus;
  return kind.share == Share{} ? 0 : 1;
}

bool could_run(const Hardware& hardware, const Kind& kind) {
  if (kind.cpu_units > hardware.cpu_units || kind.memory_mib > hardware.memory_mib) return false;
  if (gpus_on(hardware, kind) > hardware.gpus) return false;
  if (kind.share != Share{} && !hardware.shareable) return false;
  return milli_on(hardware, kind) <= model::whole_gpu_milli;
}

}  // namespace placement::pack
