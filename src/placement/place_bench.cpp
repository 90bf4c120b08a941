// How fast the engine decides, the choice of GPUs and cores included, on a cluster that stays 90 %
// full while tasks leave and arrive. One decision = place(), taking note of what it changed, and
// taking note of the tasks that left for it. One core.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "base/format.h"
#include "model/change.h"
#include "placement/place.h"
#include "placement/replay/generator.h"
#include "placement/replay/records.h"
#include "placement/testing_clock.h"

namespace placement {
namespace {

constexpr int64_t full_percent = 90;
const model::ClusterName cluster_name("bench");

// A machine with GPUs behind one NVSwitch, half of them near each of two NUMA nodes.
model::ContainerInstance dense_instance(const replay::TraceNode& node, int64_t number) {
  model::ContainerInstance instance;
  instance.arn = model::instance_arn({}, cluster_name, base::format("{:032x}", number));
  instance.cluster = cluster_name;
  instance.agent_connected = true;
  instance.cpu_units = node.cpu_milli * 1024 / 1000;
  instance.memory_mib = node.memory_mib;
  instance.attributes = {{"berth.gpu-model", node.model}};
  const int64_t cores = node.cpu_milli / 1000;
  const auto uuid = [&](int32_t gpu) { return base::format("GPU-{:08x}-{:04x}", number, gpu); };
  for (int32_t i = 0; i < node.gpus; ++i) {
    model::GpuDevice& device = instance.gpus.emplace_back().device;
    const bool second = i >= (node.gpus + 1) / 2;
    device.uuid = uuid(i);
    device.model = node.model;
    device.memory_mib = 81559;
    device.mps_capable = true;
    device.numa_node = second ? 1 : 0;
    device.cpu_list =
        second ? base::format("{}-{}", cores / 2, cores - 1) : base::format("0-{}", cores / 2 - 1);
    for (int32_t peer = 0; peer < node.gpus; ++peer) {
      if (peer != i) device.nvlinks.push_back({.peer = uuid(peer), .lanes = 18});
    }
  }
  return instance;
}

Request bench_request(const replay::TracePod& pod) {
  Request request;
  request.cluster = cluster_name;
  request.group = "family:bench";
  request.resources.cpu_units = pod.cpu_milli * 1024 / 1000;
  request.resources.memory_mib = pod.memory_mib;
  request.resources.gpus = replay::gpu_requests_of(pod);
  return request;
}

int64_t milli_of(const Request& request) {
  int64_t milli = 0;
  for (const model::GpuRequest& gpu : request.resources.gpus) {
    milli += gpu.kind == model::GpuRequestKind::Fraction ? gpu.milli : 1000 * int64_t{gpu.count};
  }
  return milli;
}

// The cluster and who runs on it.
class Bed {
 public:
  Bed(Policy policy, const replay::Trace& trace) : engine_(policy) {
    for (const replay::TraceNode& node : trace.nodes) {
      model::ContainerInstance instance = dense_instance(node, int64_t(state_.instances.size()));
      most_milli_ += 10 * full_percent * node.gpus;
      state_.instances.emplace(instance.arn, std::move(instance));
    }
    for (const replay::TracePod& pod : trace.pods) requests_.push_back(bench_request(pod));
    engine_.reset(state_);
    if (policy == Policy::Fgd) engine_.set_workload(cluster_name, requests_);
    int refused = 0;
    while (used_milli_ < most_milli_ && refused < 1000) refused = turn() ? 0 : refused + 1;
  }

  // One arrival, and those who leave to make room for the next; whether it was placed.
  bool turn() {
    const Request& request = requests_[random_.below(requests_.size())];
    const int64_t started = clock_.now_ns();
    auto placed = engine_.place(state_, request, random_);
    spent_ = clock_.now_ns() - started;
    if (placed) start(request, std::move(*placed));
    while (used_milli_ > most_milli_) stop(random_.below(running_.size()));
    return placed.has_value();
  }

  int64_t spent_ns() const { return spent_; }
  double used_percent() const {
    return double(full_percent) * double(used_milli_) / double(most_milli_);
  }

 private:
  struct Running {
    model::TaskArn task;
    int64_t milli = 0;
  };

  void start(const Request& request, Placement placed) {
    model::Task task;
    task.arn = model::task_arn({}, cluster_name, base::format("{:032x}", ++tasks_made_));
    task.cluster = cluster_name;
    task.instance = placed.instance;
    task.group = request.group;
    task.last_status = model::TaskStatus::Running;
    task.held = std::move(placed.held);
    running_.push_back({task.arn, milli_of(request)});
    used_milli_ += running_.back().milli;
    model::apply(state_, model::TaskPlaced{std::move(task)});
    note(placed.instance);
  }

  void stop(size_t which) {
    std::swap(running_[which], running_.back());
    const Running leaving = running_.back();
    running_.pop_back();
    used_milli_ -= leaving.milli;
    const model::InstanceArn instance = state_.tasks.at(leaving.task).instance;
    model::TaskReported report;
    report.arn = leaving.task;
    report.last_status = model::TaskStatus::Stopped;
    report.stopped_at = base::Time{};
    model::apply(state_, report);
    model::apply(state_, model::TaskExpired{leaving.task});
    note(instance);
  }

  void note(const model::InstanceArn& instance) {
    const int64_t started = clock_.now_ns();
    engine_.instance_changed(state_, instance);
    spent_ += clock_.now_ns() - started;
  }

  model::ClusterState state_;
  Engine engine_;
  test::CoreClock clock_;
  base::Random random_{1};
  std::vector<Request> requests_;
  std::vector<Running> running_;
  int64_t most_milli_ = 0;
  int64_t used_milli_ = 0;
  int64_t tasks_made_ = 0;
  int64_t spent_ = 0;
};

void measure(benchmark::State& state, Policy policy, const replay::Trace& trace) {
  Bed bed(policy, trace);
  std::vector<int64_t> spent;
  int64_t sum = 0;
  double placed = 0;
  for (auto _ : state) {
    placed += bed.turn();
    spent.push_back(bed.spent_ns());
    sum += spent.back();
    state.SetIterationTime(double(spent.back()) / 1e9);
  }
  const auto quantile_us = [&](size_t of_thousand) {
    const size_t rank = spent.size() * of_thousand / 1000;
    std::ranges::nth_element(spent, spent.begin() + static_cast<std::ptrdiff_t>(rank));
    return double(spent[rank]) / 1000;
  };
  state.counters["decisions/s"] = 1e9 * double(spent.size()) / double(sum);
  state.counters["p50_us"] = quantile_us(500);
  state.counters["p99_us"] = quantile_us(990);
  state.counters["p999_us"] = quantile_us(999);
  state.counters["placed_%"] = 100 * placed / double(spent.size());
  state.counters["full_%"] = bed.used_percent();
}

// Instances in the proportions of the published trace.
void churn_on_published_shape(benchmark::State& state) {
  measure(state, static_cast<Policy>(state.range(0)),
          replay::generate({.instances = 1213, .tasks = 8152}));
}
BENCHMARK(churn_on_published_shape)
    ->ArgName("policy")
    ->Arg(int64_t(Policy::Berth))
    ->Arg(int64_t(Policy::Fgd))
    ->Iterations(50'000)
    ->UseManualTime();

// Instances of 8 GPUs with 192 cores and 2 TiB each: the growth with their number.
void churn_on_8_gpus(benchmark::State& state) {
  replay::Trace trace = replay::generate({.instances = 1, .tasks = 8152});
  trace.nodes.assign(
      static_cast<size_t>(state.range(1)),
      {.name = {}, .cpu_milli = 192'000, .memory_mib = 2 << 20, .gpus = 8, .model = "Alpha"});
  measure(state, static_cast<Policy>(state.range(0)), trace);
}
BENCHMARK(churn_on_8_gpus)
    ->ArgNames({"policy", "instances"})
    ->ArgsProduct({{int64_t(Policy::Berth), int64_t(Policy::Fgd)}, {1'000, 5'000, 20'000}})
    ->Iterations(50'000)
    ->UseManualTime();

}  // namespace
}  // namespace placement
