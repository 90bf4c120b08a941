// The longest step on the core thread that each operation makes with its largest legal input, and
// in the second after it, in a cluster of 500 instances; and those of the moments in which all that
// waits for capacity is looked at. No step may be longer than the target: all agents and clients
// wait for it.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>

#include "control/testing_largest_inputs.h"

namespace control {
namespace {

constexpr double target_ms = 20;
constexpr int64_t rounds = 5;

testing::LargeWorld& world() {
  static testing::LargeWorld made(
      {.instances = 500, .tasks = 4'000, .services = 200, .families = 1'000, .groups = 20});
  return made;
}

testing::LargeWorld::AroundStep timed(double& worst_ms) {
  using Clock = std::chrono::steady_clock;
  return [&worst_ms](const std::function<void()>& run) {
    const auto start = Clock::now();
    run();
    const std::chrono::duration<double, std::milli> took = Clock::now() - start;
    worst_ms = std::max(worst_ms, took.count());
  };
}

void tell(benchmark::State& state, double worst_ms, bool taken) {
  state.counters["longest_step_ms"] = worst_ms;
  state.counters["target_ms"] = target_ms;
  state.SetLabel(std::string(worst_ms > target_ms ? "ABOVE THE TARGET" : "") +
                 (taken ? "" : " (answered by name)"));
}

void measure(benchmark::State& state, const testing::LargestInput& one) {
  double worst_ms = 0;
  size_t n = 0;
  bool taken = false;
  for (auto _ : state) {
    const std::string input = one.input(world(), n++);
    world().around_step = timed(worst_ms);
    taken = world().call(one.service, one.operation, input).answer.has_value();
    world().around_step = [](const std::function<void()>& run) { run(); };
  }
  tell(state, worst_ms, taken);
}

// With so many services, or tasks in the queue, that ask for more GPUs than any instance has.
std::unique_ptr<testing::LargeWorld> world_that_waits(int64_t services, int64_t tasks) {
  auto made = std::make_unique<testing::LargeWorld>(testing::LargeWorldSize{
      .instances = 500, .tasks = 400, .services = 0, .families = 0, .groups = 0});
  made->must("ecs", "RegisterTaskDefinition",
             R"({"family":"huge","containerDefinitions":[{"name":"main","image":"i","memory":8,
                 "resourceRequirements":[{"type":"GPU","value":"9"}]}]})");
  for (int64_t i = 0; i < services; ++i) {
    made->must(
        "ecs", "CreateService",
        base::format(R"({{"serviceName":"w{}","taskDefinition":"huge","desiredCount":1}})", i));
  }
  for (int64_t i = 0; i < tasks; i += 10) {
    made->must("ecs", "RunTask",
               R"({"taskDefinition":"huge","count":10,
                   "capacityProviderStrategy":[{"capacityProvider":"BERTH_QUEUE"}]})");
  }
  return made;
}

// A task ends, and something may have room.
void look_at_all(benchmark::State& state) {
  const auto waits = world_that_waits(state.range(0), state.range(1));
  double worst_ms = 0;
  size_t n = 0;
  for (auto _ : state) {
    waits->around_step = timed(worst_ms);
    waits->must("ecs", "SubmitTaskStateChange",
                base::format(R"({{"task":"{}","status":"STOPPED"}})", waits->task(n++)));
    waits->around_step = [](const std::function<void()>& run) { run(); };
  }
  tell(state, worst_ms, true);
}
BENCHMARK(look_at_all)
    ->ArgNames({"services", "tasks"})
    ->Args({2'000, 0})
    ->Args({0, 5'000})
    ->Iterations(rounds)
    ->Unit(benchmark::kMillisecond);

const bool registered = [] {
  for (const testing::LargestInput& one : testing::largest_inputs()) {
    benchmark::RegisterBenchmark(
        (std::string("longest_step/") + std::string(one.operation)).c_str(),
        [one](benchmark::State& state) { measure(state, one); })
        ->Iterations(rounds)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace control
