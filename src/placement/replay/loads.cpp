#include "placement/replay/loads.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/format.h"
#include "base/random.h"
#include "model/resources.h"

namespace placement::replay {
namespace {

enum Class : size_t { CpuOnly, Sharing, One, Several };
using Parts = std::array<double, 4>;  // Of each class, in percent of all tasks.

Class class_of(const TracePod& pod) {
  if (pod.gpus == 0) return CpuOnly;
  if (pod.gpus > 1) return Several;
  return pod.gpu_milli < model::whole_gpu_milli ? Sharing : One;
}

Parts parts_of(const std::array<std::vector<size_t>, 4>& members, const Load& load) {
  Parts parts{};
  double all = 0;
  for (size_t c = 0; c < parts.size(); ++c) all += parts[c] = double(members[c].size());
  const auto percent_of = [](int32_t asked, double given) {
    return asked == as_in_trace ? given : asked;
  };
  const double with_gpus = all - parts[CpuOnly];
  if (with_gpus <= 0) return parts;
  const double sharing_percent = percent_of(load.sharing_percent, 100 * parts[Sharing] / with_gpus);
  const double several_percent = percent_of(load.several_percent, 100 * parts[Several] / with_gpus);
  double one = 100 * parts[One] / with_gpus;
  // What is not asked for gives way in proportion.
  const double free_before = (load.sharing_percent == as_in_trace ? sharing_percent : 0) +
                             (load.several_percent == as_in_trace ? several_percent : 0) + one;
  const double free_now = 100 - (load.sharing_percent == as_in_trace ? 0 : sharing_percent) -
                          (load.several_percent == as_in_trace ? 0 : several_percent);
  const double shrink = free_before > 0 ? std::max(free_now, 0.0) / free_before : 0;
  one *= shrink;
  const double cpu_only_percent = percent_of(load.cpu_only_percent, 100 * parts[CpuOnly] / all);
  const double gpu_part = (100 - cpu_only_percent) / 100;
  parts[CpuOnly] = cpu_only_percent;
  parts[Sharing] = gpu_part * sharing_percent * (load.sharing_percent == as_in_trace ? shrink : 1);
  parts[Several] = gpu_part * several_percent * (load.several_percent == as_in_trace ? shrink : 1);
  parts[One] = gpu_part * one;
  return parts;
}

Class draw_class(const Parts& parts, const std::array<std::vector<size_t>, 4>& members,
                 base::Random& random) {
  double sum = 0;
  for (size_t c = 0; c < parts.size(); ++c) sum += members[c].empty() ? 0 : parts[c];
  double dice = sum * static_cast<double>(random.below(1U << 30)) / (1U << 30);
  size_t last = One;
  for (size_t c = 0; c < parts.size(); ++c) {
    if (members[c].empty() || parts[c] <= 0) continue;
    last = c;
    if (dice < parts[c]) break;
    dice -= parts[c];
  }
  return static_cast<Class>(last);
}

// One model that could run the task, by its number of GPUs; none when no instance could.
std::vector<std::string> draw_model(const std::vector<TraceNode>& nodes, const TracePod& pod,
                                    base::Random& random) {
  std::map<std::string, int64_t> gpus;
  int64_t all = 0;
  for (const TraceNode& node : nodes) {
    if (node.gpus < pod.gpus || node.cpu_milli < pod.cpu_milli ||
        node.memory_mib < pod.memory_mib) {
      continue;
    }
    gpus[node.model] += node.gpus;
    all += node.gpus;
  }
  if (all == 0) return {};
  auto dice = static_cast<int64_t>(random.below(static_cast<uint64_t>(all)));
  for (const auto& [model, count] : gpus) {
    if (dice < count) return {model};
    dice -= count;
  }
  return {};
}

}  // namespace

const std::vector<Load>& loads() {
  static const std::vector<Load> list = {
      {.name = "default"},
      {.name = "sharing-70", .sharing_percent = 70},
      {.name = "sharing-100", .sharing_percent = 100},
      {.name = "several-gpus-5", .several_percent = 5},
      {.name = "several-gpus-20", .several_percent = 20},
      {.name = "several-gpus-50", .several_percent = 50},
      {.name = "constrained-10", .constrained_percent = 10},
      {.name = "constrained-33", .constrained_percent = 33},
      {.name = "constrained-66", .constrained_percent = 66},
      {.name = "cpu-only-40", .cpu_only_percent = 40},
  };
  return list;
}

std::vector<TracePod> with_load(const std::vector<TraceNode>& nodes,
                                const std::vector<TracePod>& pods, const Load& load,
                                uint64_t seed) {
  base::Random random(seed);
  std::vector<TracePod> drawn = pods;
  if (load.cpu_only_percent != as_in_trace || load.sharing_percent != as_in_trace ||
      load.several_percent != as_in_trace) {
    std::array<std::vector<size_t>, 4> members;
    for (size_t i = 0; i < pods.size(); ++i) members[class_of(pods[i])].push_back(i);
    const Parts parts = parts_of(members, load);
    for (size_t i = 0; i < pods.size(); ++i) {
      const std::vector<size_t>& from = members[draw_class(parts, members, random)];
      drawn[i] = pods[from[random.below(from.size())]];
      drawn[i].name = base::format("task-{:06}", i);
    }
  }
  if (load.constrained_percent == as_in_trace) return drawn;
  for (TracePod& pod : drawn) {
    if (pod.gpus == 0) continue;
    pod.models.clear();
    if (random.chance(static_cast<uint32_t>(load.constrained_percent))) {
      pod.models = draw_model(nodes, pod, random);
    }
  }
  return drawn;
}

}  // namespace placement::replay
