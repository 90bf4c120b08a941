#include "placement/replay/generator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/format.h"
#include "base/random.h"

namespace placement::replay {
namespace {

struct NodeKind {
  std::string_view model;
  int32_t cores;
  int32_t memory_gib;
  int32_t gpus;
  int32_t of_twenty;
};
constexpr std::array<NodeKind, 5> node_kinds = {{
    {"Alpha", 96, 384, 8, 8},
    {"Beta", 104, 512, 2, 7},
    {"Gamma", 16, 128, 1, 2},
    {"Delta", 48, 384, 4, 2},
    {"Omega", 128, 768, 8, 1},
}};

// What a task may ask, with how often in a hundred.
struct Choice {
  int64_t cpu_milli;
  int64_t memory_mib;
  int32_t gpu_milli;
  int32_t of_hundred;
};
constexpr std::array<Choice, 5> cpu_only = {{
    {12000, 16384, 0, 36},
    {32000, 65536, 0, 26},
    {8000, 8192, 0, 18},
    {16000, 30720, 0, 15},
    {2000, 4096, 0, 5},
}};
constexpr std::array<Choice, 10> sharing = {{
    {3000, 6144, 800, 36},
    {12000, 30720, 480, 15},
    {8000, 16384, 480, 11},
    {12000, 30720, 660, 9},
    {4000, 12288, 310, 12},
    {6000, 12288, 450, 5},
    {4000, 8192, 240, 5},
    {3000, 8192, 600, 3},
    {4000, 6144, 150, 3},
    {2000, 4096, 100, 1},
}};
constexpr std::array<Choice, 7> whole = {{
    {11000, 49152, 1000, 40},
    {3000, 6144, 1000, 13},
    {12000, 32768, 1000, 14},
    {19000, 65536, 1000, 7},
    {10000, 30720, 1000, 10},
    {8000, 16384, 1000, 10},
    {4000, 12288, 1000, 6},
}};
struct SeveralChoice {
  int32_t gpus;
  int64_t cpu_milli;
  int64_t memory_mib;
  int32_t of_hundred;
};
constexpr std::array<SeveralChoice, 5> several = {{
    {8, 88000, 327680, 45},
    {8, 64000, 262144, 12},
    {8, 118000, 655360, 3},
    {4, 32000, 131072, 20},
    {2, 16000, 65536, 20},
}};
constexpr std::array<std::string_view, 4> model_lists = {{"Alpha", "Beta", "Delta|Omega", "Gamma"}};

template <class Choices>
const auto& pick(const Choices& choices, base::Random& random) {
  int32_t left = static_cast<int32_t>(random.below(100));
  for (const auto& choice : choices) {
    if (left < choice.of_hundred) return choice;
    left -= choice.of_hundred;
  }
  return choices.back();
}

void constrain(TracePod& pod, base::Random& random) {
  std::string_view list = model_lists[random.below(model_lists.size())];
  if (pod.gpus > 2) list = "Alpha|Omega";
  if (pod.gpus == 2) list = "Alpha|Beta";
  while (true) {
    const size_t end = list.find('|');
    pod.models.emplace_back(list.substr(0, end));
    if (end == std::string_view::npos) return;
    list.remove_prefix(end + 1);
  }
}

TracePod make_pod(const Shape& shape, int32_t number, base::Random& random) {
  TracePod pod;
  pod.name = base::format("task-{:06}", number);
  auto dice = static_cast<int32_t>(random.below(100));
  const auto take = [&](const Choice& choice) {
    pod.cpu_milli = choice.cpu_milli;
    pod.memory_mib = choice.memory_mib;
    pod.gpu_milli = choice.gpu_milli;
    pod.gpus = choice.gpu_milli > 0 ? 1 : 0;
  };
  if (dice < shape.cpu_only_percent) {
    take(pick(cpu_only, random));
    return pod;
  }
  dice -= shape.cpu_only_percent;
  if (dice < shape.sharing_percent) {
    take(pick(sharing, random));
  } else if (dice < shape.sharing_percent + shape.several_gpus_percent) {
    const SeveralChoice& choice = pick(several, random);
    pod.gpus = choice.gpus;
    pod.gpu_milli = 1000;
    pod.cpu_milli = choice.cpu_milli;
    pod.memory_mib = choice.memory_mib;
  } else {
    take(pick(whole, random));
  }
  if (random.below(100) < static_cast<uint64_t>(shape.constrained_percent)) constrain(pod, random);
  return pod;
}

}  // namespace

Trace generate(const Shape& shape) {
  base::Random random(shape.seed);
  Trace trace;
  for (int32_t i = 0; i < shape.instances; ++i) {
    int32_t of_twenty = i % 20;
    for (const NodeKind& kind : node_kinds) {
      of_twenty -= kind.of_twenty;
      if (of_twenty >= 0) continue;
      trace.nodes.push_back({base::format("instance-{:05}", i), kind.cores * 1000,
                             kind.memory_gib * 1024, kind.gpus, std::string(kind.model)});
      break;
    }
  }
  for (int32_t i = 0; i < shape.tasks; ++i) trace.pods.push_back(make_pod(shape, i, random));
  return trace;
}

std::vector<TraceTime> generate_times(size_t tasks, uint64_t seed) {
  constexpr double mean_gap_s = 100;
  constexpr double shortest_s = 200;
  // Of a Pareto distribution; below 1: the few long ones are most of the load.
  constexpr double tail = 0.5;
  constexpr double longest_s = 200'000;
  base::Random random(seed);
  const auto uniform = [&] { return (static_cast<double>(random.below(1'000'000)) + 1) / 1e6; };
  std::vector<TraceTime> times;
  double now = 0;
  for (size_t i = 0; i < tasks; ++i) {
    now += -mean_gap_s * std::log(uniform());
    const double ran = std::min(longest_s, shortest_s * std::pow(uniform(), -1 / tail));
    times.push_back({static_cast<int64_t>(now), static_cast<int64_t>(ran)});
  }
  return times;
}

}  // namespace placement::replay
