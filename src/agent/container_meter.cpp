#include "agent/container_meter.h"

#include <optional>
#include <utility>

#include "base/units.h"

namespace agent {
namespace {

acs::StatsSet one_sample(double value) {
  return {.min = value, .max = value, .sample_count = 1, .sum = value};
}

std::optional<ContainerFigures> figures_between(const ContainerSample& before,
                                                const ContainerSample& now) {
  if (now.read_at <= before.read_at || now.cpu_total_ns < before.cpu_total_ns || now.cores == 0) {
    return std::nullopt;
  }
  const auto passed_ms = static_cast<double>((now.read_at - before.read_at).count());
  const auto used_ns = static_cast<double>(now.cpu_total_ns - before.cpu_total_ns);
  return ContainerFigures{
      .cpu = one_sample(used_ns / (passed_ms * base::ns_per_ms) / now.cores * 100),
      .memory = one_sample(static_cast<double>(now.memory_bytes) / base::bytes_per_mib)};
}

}  // namespace

void ContainerMeter::take(std::vector<ContainerSample> samples) {
  figures_.clear();
  std::map<std::string, ContainerSample> before = std::exchange(last_, {});
  for (ContainerSample& sample : samples) {
    const auto known = before.find(sample.runtime_id);
    if (known != before.end()) {
      if (auto figures = figures_between(known->second, sample)) {
        figures_.emplace(sample.runtime_id, *figures);
      }
    }
    std::string id = sample.runtime_id;
    last_.insert_or_assign(std::move(id), std::move(sample));
  }
}

}  // namespace agent
