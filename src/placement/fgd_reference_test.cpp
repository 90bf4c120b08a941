// Policy `fgd` against the formulas of its paper, written down plainly.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/format.h"
#include "placement/testing.h"

namespace placement::test {
namespace {

struct PlainKind {
  int64_t cpu = 0;
  int32_t milli = 0;
  int32_t gpus = 0;
  double weight = 0;
};

double plain_fragments(int64_t cpu, const std::vector<int32_t>& free,
                       const std::vector<PlainKind>& mix) {
  double sum = 0;
  double idle = 0;
  for (const int32_t each : free) idle += each;
  for (const PlainKind& kind : mix) {
    const auto enough =
        std::ranges::count_if(free, [&](int32_t each) { return each >= kind.milli; });
    if (kind.gpus == 0 || cpu < kind.cpu || enough < kind.gpus) {
      sum += kind.weight * idle;
      continue;
    }
    for (const int32_t each : free) sum += each < kind.milli ? kind.weight * each : 0;
  }
  return sum;
}

struct PlainInstance {
  int64_t cpu = 0;
  std::vector<int32_t> free;
};

int plain_level(double before, double after) {
  return static_cast<int>(100 / (1 + std::exp(-(before - after) / 1000)) + 1e-7);
}

// The instance and the level; -1: none.
std::pair<int, int> plain_choice(const std::vector<PlainInstance>& instances, const PlainKind& task,
                                 const std::vector<PlainKind>& mix, int& card) {
  std::pair<int, int> best{-1, -1};
  for (size_t n = 0; n < instances.size(); ++n) {
    const PlainInstance& instance = instances[n];
    if (instance.cpu < task.cpu) continue;
    const double before = plain_fragments(instance.cpu, instance.free, mix);
    const auto consider = [&](const std::vector<int32_t>& free, int used) {
      const int level = plain_level(before, plain_fragments(instance.cpu - task.cpu, free, mix));
      if (level <= best.second) return;
      best = {static_cast<int>(n), level};
      card = used;
    };
    if (task.gpus == 0) {
      consider(instance.free, -1);
    } else if (task.milli < 1000) {
      for (size_t i = 0; i < instance.free.size(); ++i) {
        if (instance.free[i] < task.milli) continue;
        std::vector<int32_t> free = instance.free;
        free[i] -= task.milli;
        consider(free, static_cast<int>(i));
      }
    } else {
      std::vector<int32_t> free = instance.free;
      int missing = task.gpus;
      for (int32_t& each : free) {
        if (missing == 0 || each != 1000) continue;
        each = 0;
        --missing;
      }
      if (missing == 0) consider(free, -1);
    }
  }
  return best;
}

Request request_of_kind(const PlainKind& kind) {
  Request request = kind.gpus == 0       ? gpu_request(0)
                    : kind.milli == 1000 ? gpu_request(static_cast<uint32_t>(kind.gpus))
                                         : fraction_request(kind.milli);
  request.resources.cpu_units = kind.cpu;
  request.resources.memory_mib = 0;
  return request;
}

TEST(Reference, fgd_chooses_by_the_formulas_of_its_paper) {
  RC_ASSERT(rc::check("any cluster and tasks", [](uint64_t seed) {
    base::Random dice(seed);
    TestCluster cluster;
    cluster.engine.set_policy(cluster.state, cluster_name, Policy::Fgd);
    std::vector<PlainInstance> plain;
    for (int n = 0; n < 8; ++n) {
      const auto gpus = static_cast<int32_t>(dice.below(9));
      const auto cpu = static_cast<int64_t>(4000 * (1 + dice.below(8)));
      cluster.add(
          {.id = base::format("{}", n), .cpu_units = cpu, .gpus = gpus, .gpu_memory_mib = 10000});
      plain.push_back({cpu, std::vector<int32_t>(static_cast<size_t>(gpus), 1000)});
    }
    // Each kind once: 95 % of twenty is all but one of equals, so the mix is all of ten.
    std::vector<PlainKind> mix;
    std::set<std::tuple<int64_t, int32_t, int32_t>> seen;
    while (mix.size() < 10) {
      PlainKind kind{.cpu = static_cast<int64_t>(1000 * dice.below(9))};
      kind.gpus = dice.chance(20)   ? 0
                  : dice.chance(70) ? 1
                                    : static_cast<int32_t>(1 << dice.below(4));
      if (kind.gpus > 0) {
        kind.milli = kind.gpus > 1 || dice.chance(40)
                         ? 1000
                         : static_cast<int32_t>(50 * (1 + dice.below(19)));
      }
      if (!seen.insert({kind.cpu, kind.milli, kind.gpus}).second) continue;
      kind.weight = 0.1;
      mix.push_back(kind);
    }
    std::vector<Request> workload;
    for (const PlainKind& kind : mix) workload.push_back(request_of_kind(kind));
    cluster.engine.set_workload(cluster_name, workload);
    for (int i = 0; i < 60; ++i) {
      const PlainKind& kind = mix[dice.below(mix.size())];
      int card = -1;
      const auto [chosen, level] = plain_choice(plain, kind, mix, card);
      const auto task = cluster.run(request_of_kind(kind));
      RC_ASSERT(task.has_value() == (chosen >= 0));
      if (!task) continue;
      RC_ASSERT(model::short_id(task->instance.str()) == base::format("{}", chosen));
      PlainInstance& instance = plain[static_cast<size_t>(chosen)];
      instance.cpu -= kind.cpu;
      if (card >= 0) {
        RC_ASSERT(held_gpus(task->held) == base::format("GPU-{}", card));
        instance.free[static_cast<size_t>(card)] -= kind.milli;
        continue;
      }
      int missing = kind.gpus;
      for (int32_t& each : instance.free) {
        if (missing == 0 || each != 1000) continue;
        each = 0;
        --missing;
      }
    }
  }));
}

}  // namespace
}  // namespace placement::test
