// How well each policy packs, and how fast it decides, over several shapes of load: the mean of ten
// replays by the paper's protocol. The trace is the made-up one, or the files that the environment
// names: BERTH_TRACE_NODES and BERTH_TRACE_PODS.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "placement/replay/generator.h"
#include "placement/replay/loads.h"
#include "placement/replay/replay.h"
#include "placement/testing_clock.h"

namespace placement::replay {
namespace {

constexpr uint64_t first_seed = 42;  // The paper's are 42 to 51.
constexpr uint64_t seeds = 10;

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

base::Result<Trace> load_trace() {
  const char* nodes = std::getenv("BERTH_TRACE_NODES");
  const char* pods = std::getenv("BERTH_TRACE_PODS");
  if (nodes == nullptr || pods == nullptr) return generate({.instances = 1213, .tasks = 8152});
  Trace trace;
  trace.nodes = TRY(parse_nodes(read_file(nodes)));
  trace.pods = TRY(parse_pods(read_file(pods)));
  return trace;
}

struct Figures {
  double sum = 0;
  double squares = 0;
  double count = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(std::max(squares / count - mean() * mean(), 0.0)); }
};

struct Measured {
  Figures at_100;
  Figures at_130;
  Figures per_second;
  Figures p50_us;
  Figures p99_us;

  void add(const Result& result) {
    if (const Point* point = point_at(result, 100)) at_100.add(point->allocation_percent);
    if (const Point* point = point_at(result, 130)) at_130.add(point->allocation_percent);
    per_second.add(result.decisions_per_second);
    p50_us.add(result.p50_us);
    p99_us.add(result.p99_us);
  }
  void report(benchmark::State& state) const {
    state.counters["alloc_100"] = at_100.mean();
    state.counters["alloc_130"] = at_130.mean();
    state.counters["deviation"] = at_100.deviation();
    state.counters["decisions/s"] = per_second.mean();
    state.counters["p50_us"] = p50_us.mean();
    state.counters["p99_us"] = p99_us.mean();
  }
};

// The rows of a file that asks for 130 % of the cluster, in a random order.
std::vector<TracePod> shuffled(const Trace& trace, uint64_t seed) {
  base::Random random(seed);
  std::vector<TracePod> rows;
  for (const size_t pod : arrivals(trace.nodes, trace.pods, Order::Seed, random)) {
    rows.push_back(trace.pods[pod]);
  }
  return rows;
}

void packing(benchmark::State& state, const Trace& trace, const Load& load, Options options) {
  Measured measured;
  test::CoreClock clock;
  options.now_ns = [&clock] { return clock.now_ns(); };
  for (auto _ : state) {
    for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      options.seed = seed;
      std::vector<TracePod> pods = with_load(trace.nodes, trace.pods, load, seed);
      if (options.order == Order::Given) pods = shuffled({trace.nodes, std::move(pods)}, seed);
      const base::Result<Result> result = run(trace.nodes, pods, options);
      if (!result) return state.SkipWithError(result.error().message.c_str());
      measured.add(*result);
    }
  }
  measured.report(state);
}

void list_benchmarks(const Trace& trace) {
  const auto list = [&](const Load& load, Policy policy, Order order) {
    Options options;
    options.policy = policy;
    options.order = order;
    const std::string name = "packing/" + std::string(load.name) + "/" +
                             std::string(to_string(policy)) +
                             (order == Order::Given ? "/given" : "");
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&trace, &load, options](benchmark::State& state) { packing(state, trace, load, options); })
        ->Iterations(1)
        ->Unit(benchmark::kSecond);
  };
  for (const Policy policy : {Policy::Random, Policy::BestFit}) {
    list(loads().front(), policy, Order::Seed);
  }
  for (const Load& load : loads()) {
    for (const Policy policy : {Policy::Fgd, Policy::Berth}) list(load, policy, Order::Seed);
  }
  for (const Policy policy : {Policy::Fgd, Policy::Berth}) {
    list(loads().front(), policy, Order::Given);
  }
}

const bool listed = [] {
  static const base::Result<Trace> trace = load_trace();
  if (!trace) {
    benchmark::RegisterBenchmark("packing", [](benchmark::State& state) {
      state.SkipWithError(trace.error().message.c_str());
    });
    return false;
  }
  list_benchmarks(*trace);
  return true;
}();

}  // namespace
}  // namespace placement::replay
