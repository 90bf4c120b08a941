#include "placement/demand.h"

#include <algorithm>

namespace placement {

Demand demand_of(const model::ResourceRequest& request) {
  Demand demand;
  demand.cpu_units = request.cpu_units;
  demand.memory_mib = request.memory_mib;
  demand.host_ports = request.host_ports;
  std::ranges::sort(demand.host_ports);
  const auto repeated = std::ranges::unique(demand.host_ports);
  if (!repeated.empty()) {
    demand.contradiction = "two containers of the task ask for the same host port";
    demand.host_ports.erase(repeated.begin(), repeated.end());
  }
  int whole_requests = 0;
  for (const model::GpuRequest& gpu : request.gpus) {
    switch (gpu.kind) {
      case model::GpuRequestKind::Count:
        demand.whole_gpus += static_cast<int32_t>(gpu.count);
        ++whole_requests;
        break;
      case model::GpuRequestKind::All:
        if (demand.all_gpus) demand.contradiction = "two containers of the task ask for ALL GPUs";
        demand.all_gpus = true;
        break;
      case model::GpuRequestKind::Memory:
        demand.shares.push_back({.memory_mib = gpu.memory_mib});
        break;
      case model::GpuRequestKind::Fraction:
        demand.shares.push_back({.milli = gpu.milli});
        break;
      case model::GpuRequestKind::Profile:
        demand.mig_profiles.push_back(gpu.mig_profile);
        break;
    }
  }
  if (demand.all_gpus && (whole_requests > 0 || !demand.shares.empty())) {
    demand.contradiction = "one container asks for ALL GPUs and leaves none for another";
  }
  std::ranges::sort(demand.mig_profiles);
  return demand;
}

int64_t pinned_memory_mib(const Share& share, int64_t gpu_memory_mib) {
  return share.milli > 0 ? gpu_memory_mib * share.milli / model::whole_gpu_milli : share.memory_mib;
}

ShareSum sum_of(const std::vector<Share>& shares, int64_t gpu_memory_mib) {
  ShareSum sum;
  for (const Share& share : shares) {
    sum.memory_mib += pinned_memory_mib(share, gpu_memory_mib);
    sum.milli += share.milli;
  }
  return sum;
}

int64_t milli_of(const ShareSum& sum, int64_t gpu_memory_mib) {
  if (gpu_memory_mib <= 0) return sum.milli;
  const int64_t by_memory =
      (sum.memory_mib * model::whole_gpu_milli + gpu_memory_mib - 1) / gpu_memory_mib;
  return std::max<int64_t>(by_memory, sum.milli);
}

}  // namespace placement
