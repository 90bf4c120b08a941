// The longest step on the core thread that each operation makes with its largest legal input, and
// in the second after it, in a cluster of 500 instances. No step may be longer than the target: all
// agents and clients wait for it.
#include <benchmark/benchmark.h>

#include <chrono>
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

void measure(benchmark::State& state, const testing::LargestInput& one) {
  using Clock = std::chrono::steady_clock;
  double worst_ms = 0;
  size_t n = 0;
  bool taken = false;
  for (auto _ : state) {
    const std::string input = one.input(world(), n++);
    world().around_step = [&](const std::function<void()>& run) {
      const auto start = Clock::now();
      run();
      const std::chrono::duration<double, std::milli> took = Clock::now() - start;
      worst_ms = std::max(worst_ms, took.count());
    };
    taken = world().call(one.service, one.operation, input).answer.has_value();
    world().around_step = [](const std::function<void()>& run) { run(); };
  }
  state.counters["longest_step_ms"] = worst_ms;
  state.counters["target_ms"] = target_ms;
  state.SetLabel(std::string(worst_ms > target_ms ? "ABOVE THE TARGET" : "") +
                 (taken ? "" : " (answered by name)"));
}

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
