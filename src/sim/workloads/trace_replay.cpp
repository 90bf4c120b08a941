#include <algorithm>

#include "base/format.h"
#include "placement/replay/generator.h"
#include "sim/workloads/workloads.h"

namespace sim {
namespace {

constexpr int64_t memory_of_a_gpu_mib = 16'000;

Family family_of(const placement::replay::TracePod& pod, size_t number) {
  Family family;
  family.name = base::format("pod-{}", number);
  family.cpu = static_cast<int32_t>(std::clamp<int64_t>(pod.cpu_milli * 1024 / 1000, 128, 4096));
  family.memory_mib = static_cast<int32_t>(std::clamp<int64_t>(pod.memory_mib, 64, 8192));
  if (pod.gpus == 1 && pod.gpu_milli < 1000) {
    family.shared_mib = std::max<int64_t>(1, memory_of_a_gpu_mib * pod.gpu_milli / 1000);
  } else {
    family.gpus = std::min(pod.gpus, 4);
  }
  return family;
}

}  // namespace

void trace_replay(base::Random& random, Rates& rates, WorkPlan& plan) {
  constexpr int32_t pods = 60;
  const auto trace =
      placement::replay::generate({.instances = 20, .tasks = pods, .seed = random.next()});
  plan.machines = {"p3.8xlarge", "p3.2xlarge", "g4dn.12xlarge"};
  plan.faults_for = std::chrono::minutes(5);
  for (size_t i = 0; i < trace.pods.size(); ++i) {
    plan.families.push_back(family_of(trace.pods[i], i));
    PlannedCall call;
    call.at = plan.faults_for * static_cast<int64_t>(i) / pods;
    call.family = plan.families.back().name;
    plan.calls.push_back(std::move(call));
  }
  rates.longest_life = std::chrono::minutes(2);
}

}  // namespace sim
