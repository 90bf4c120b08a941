#include "sim/workloads/workload.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/format.h"

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

std::vector<Family> service_families() {
  return {
      {.name = "web-1", .image = "server-1", .cpu = 128},
      {.name = "web-2", .image = "server-2", .cpu = 128},
      {.name = "model-1", .image = "server-1", .cpu = 128, .gpus = 1},
      {.name = "model-2", .image = "server-2", .cpu = 128, .gpus = 1},
      {.name = "shared-model", .image = "server-1", .cpu = 128, .shared_mib = 4000},
      {.name = "gateway", .image = "server-1", .cpu = 128, .host_port = 9090},
      {.name = "broken", .image = "crash", .cpu = 128},
      {.name = "unbuilt", .image = "missing-server", .cpu = 128},
  };
}

bool is_fit_to_run(const Family& family) {
  return !family.image.starts_with("missing") && !family.image.starts_with("crash");
}

void add_services(base::Random& random, size_t count, WorkPlan& plan) {
  // Minimum and maximum. Those of one task that leave no room at all are among what is drawn.
  static constexpr std::pair<int32_t, int32_t> limits[] = {{100, 200}, {50, 100}, {100, 150},
                                                           {0, 100},   {50, 200}, {75, 125}};
  std::vector<Family> families = service_families();
  for (size_t i = 0; i < count; ++i) {
    PlannedService made;
    made.name = base::format("service-{}", i + 1);
    do {
      made.family = families[random.below(families.size())].name;
    } while (!is_fit_to_run(*std::ranges::find(families, made.family, &Family::name)));
    made.desired = static_cast<int32_t>(1 + random.below(6));
    made.daemon = random.chance(15);
    const auto& [minimum, maximum] = limits[random.below(std::size(limits))];
    made.minimum_healthy_percent = made.daemon ? std::min(minimum, 50) : minimum;
    made.maximum_percent = made.daemon ? 100 : maximum;
    made.circuit_breaker = random.chance(60);
    made.rollback = made.circuit_breaker && random.chance(60);
    made.replaces_gpu_tasks = random.chance(30);
    if (random.chance(50)) made.placement = "binpack";
    plan.services.push_back(std::move(made));
  }
  std::ranges::move(families, std::back_inserter(plan.families));
}

void add_service_calls(base::Random& random, std::span<const PlannedServiceCall::Kind> kinds,
                       size_t count, WorkPlan& plan) {
  const std::vector<Family> families = service_families();
  for (size_t i = 0; i < count; ++i) {
    PlannedServiceCall call;
    call.at = base::Milliseconds{random.below(static_cast<uint64_t>(plan.faults_for.count()))};
    call.kind = kinds[random.below(kinds.size())];
    call.service = plan.services[random.below(plan.services.size())].name;
    call.family = families[random.below(families.size())].name;
    call.desired = static_cast<int32_t>(random.below(8));
    plan.service_calls.push_back(std::move(call));
  }
  std::ranges::sort(plan.service_calls, {}, &PlannedServiceCall::at);
}

}  // namespace sim
