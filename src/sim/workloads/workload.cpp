#include "sim/workloads/workload.h"

#include <algorithm>
#include <iterator>

namespace sim {

std::vector<Family> usual_families() {
  return {
      {.name = "cpu"},
      {.name = "one-gpu", .image = "train", .cpu = 1024, .gpus = 1},
      {.name = "two-gpus", .image = "train", .cpu = 512, .gpus = 2, .logs = true},
      {.name = "all-gpus", .image = "train", .all_gpus = true},
      {.name = "share", .image = "serve", .cpu = 128, .shared_mib = 5000},
      {.name = "big-share", .image = "serve", .cpu = 128, .shared_mib = 9000, .logs = true},
      {.name = "port", .image = "web", .host_port = 8080},
      {.name = "pair", .image = "train", .gpus = 1, .sidecar = true},
      {.name = "missing", .image = "missing-image"},
  };
}

std::vector<std::string> some_machines(base::Random& random, size_t count) {
  static constexpr const char* types[] = {"p3.2xlarge", "p3.8xlarge", "g4dn.12xlarge", "m5.xlarge",
                                          "p2.xlarge"};
  std::vector<std::string> machines{types[random.below(3)]};
  while (machines.size() < count) machines.emplace_back(types[random.below(std::size(types))]);
  return machines;
}

std::vector<PlannedCall> some_calls(base::Random& random, const std::vector<Family>& families,
                                    size_t count, base::Milliseconds within) {
  std::vector<PlannedCall> calls;
  for (size_t i = 0; i < count; ++i) {
    PlannedCall call;
    call.at = base::Milliseconds{random.below(static_cast<uint64_t>(within.count()))};
    const uint64_t what = random.below(100);
    call.kind = what < 65   ? PlannedCall::Kind::Run
                : what < 85 ? PlannedCall::Kind::Stop
                            : PlannedCall::Kind::Describe;
    call.family = families[random.below(families.size())].name;
    call.count = random.chance(70) ? 1 : static_cast<int32_t>(1 + random.below(3));
    calls.push_back(std::move(call));
  }
  std::ranges::sort(calls, {}, &PlannedCall::at);
  return calls;
}

}  // namespace sim
