// How long tasks wait in the queue and how well it uses the GPUs, beside a queue in which nobody
// passes anybody: a trace replayed under virtual time with its arrivals and the lengths of its
// tasks. The trace is the made-up one, or the files that the environment names: BERTH_TRACE_NODES
// and BERTH_TRACE_PODS. Prints one table for each load.
//
// As recorded such a cluster never queues. Therefore: every eighth instance of it; tasks that ran
// longer than two hours are cut to that; the first tenth of the arrivals, spread over months, and
// tasks that none of those instances could ever run are left out; and the gaps between the others
// are compressed until the work that arrives is 90 % or 110 % of what the GPUs can do meanwhile.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>

#include "placement/replay/generator.h"
#include "placement/replay/records.h"
#include "reconcile/queue/testing_world.h"

namespace reconcile::queue {
namespace {

namespace replay = placement::replay;
using testing::Job;
using testing::World;

constexpr size_t instances_taken = 8;  // Every eighth.
constexpr int32_t made_up_instances = 100;
constexpr int64_t longest_s = 7'200;
constexpr size_t left_out_percent = 10;
constexpr int64_t overstated_percent = 150;  // berth:max-seconds of the time that a task runs.

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Arrival {
  size_t pod = 0;
  int64_t at_s = 0;
  int64_t runs_s = 0;
};

struct Load {
  replay::Trace trace;
  std::vector<Arrival> arrivals;
  int64_t gpus = 0;
  double gpu_seconds = 0;
  size_t cut = 0;
  bool generated = false;
};

// Instances of all kinds: the recorded ones lie by kind, the made-up ones are as few already.
void take_part(Load& load) {
  std::vector<replay::TraceNode> kept;
  const size_t every = load.generated ? 1 : instances_taken;
  for (size_t i = 0; i < load.trace.nodes.size(); i += every) {
    kept.push_back(load.trace.nodes[i]);
    load.gpus += kept.back().gpus;
  }
  load.trace.nodes = std::move(kept);
}

bool can_run(const std::vector<replay::TraceNode>& nodes, const replay::TracePod& pod) {
  return std::ranges::any_of(nodes, [&](const replay::TraceNode& node) {
    return node.cpu_milli >= pod.cpu_milli && node.memory_mib >= pod.memory_mib &&
           node.gpus >= pod.gpus &&
           (pod.models.empty() || std::ranges::find(pod.models, node.model) != pod.models.end());
  });
}

base::Result<Load> load_trace() {
  const char* nodes = std::getenv("BERTH_TRACE_NODES");
  const char* pods = std::getenv("BERTH_TRACE_PODS");
  Load load;
  std::vector<replay::TraceTime> times;
  load.generated = nodes == nullptr || pods == nullptr;
  if (load.generated) {
    load.trace = replay::generate({.instances = made_up_instances});
    times = replay::generate_times(load.trace.pods.size(), 1);
  } else {
    const std::string text = read_file(pods);
    load.trace.nodes = TRY(replay::parse_nodes(read_file(nodes)));
    load.trace.pods = TRY(replay::parse_pods(text));
    times = TRY(replay::parse_times(text));
  }
  take_part(load);
  for (size_t i = 0; i < times.size(); ++i) {
    if (!can_run(load.trace.nodes, load.trace.pods[i])) continue;
    load.arrivals.push_back({i, times[i].arrived_s, std::max<int64_t>(times[i].ran_s, 1)});
  }
  std::ranges::sort(load.arrivals, {},
                    [](const Arrival& one) { return std::pair(one.at_s, one.pod); });
  load.arrivals.erase(load.arrivals.begin(),
                      load.arrivals.begin() + static_cast<std::ptrdiff_t>(load.arrivals.size() *
                                                                          left_out_percent / 100));
  for (Arrival& arrival : load.arrivals) {
    if (arrival.runs_s > longest_s) ++load.cut;
    arrival.runs_s = std::min(arrival.runs_s, longest_s);
    const replay::TracePod& pod = load.trace.pods[arrival.pod];
    load.gpu_seconds += pod.gpus * pod.gpu_milli / 1000.0 * static_cast<double>(arrival.runs_s);
  }
  return load;
}

constexpr std::array<std::string_view, 5> class_names = {"no GPU", "part of 1", "1 GPU", "2 to 4",
                                                         "8 GPUs"};
size_t class_of(const replay::TracePod& pod) {
  if (pod.gpus == 0) return 0;
  if (pod.gpu_milli < 1000) return 1;
  if (pod.gpus == 1) return 2;
  return pod.gpus <= 4 ? 3 : 4;
}

struct Measured {
  std::array<std::vector<double>, class_names.size()> waits_s;
  size_t starved = 0;       // Never started.
  double used_percent = 0;  // Of the GPUs, from the first arrival to the last.
  double makespan_s = 0;
  double pass_p50_us = 0;
  double pass_p99_us = 0;
  size_t longest_queue = 0;

  std::vector<double> all() const {
    std::vector<double> all;
    for (const auto& waits : waits_s) all.insert(all.end(), waits.begin(), waits.end());
    return all;
  }
};

double quantile(std::vector<double> values, size_t of_hundred) {
  if (values.empty()) return 0;
  const size_t rank = std::min(values.size() - 1, values.size() * of_hundred / 100);
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(rank));
  return values[rank];
}
double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

enum class Kind { Fifo, QueueWithoutTimes, QueueWithTimes };

// The world with what the run notes of it.
class Run {
 public:
  Run(const Load& load, double factor, Kind kind)
      : load_(load), factor_(factor), kind_(kind), world_(replay::cluster_name) {
    for (size_t i = 0; i < load.trace.nodes.size(); ++i) {
      world_.add(replay::instance_of(load.trace.nodes[i], i));
    }
    world_.settings.strict_order = kind == Kind::Fifo;
    world_.on_change = [this](const model::TaskArn& task, bool began) { note(task, began); };
    first_ = world_.now;
    last_change_ = world_.now;
  }

  Measured measure() {
    base::Time wake = base::Time::max();
    size_t next = 0;
    while (next < load_.arrivals.size() || !world_.waiting.empty() || world_.running() > 0) {
      const base::Time arrival =
          next < load_.arrivals.size() ? time_of(load_.arrivals[next]) : base::Time::max();
      const base::Time at = std::min({arrival, world_.next_end(), wake});
      if (at == base::Time::max()) break;  // What waits now waits for ever.
      world_.pass_time(at);
      for (; next < load_.arrivals.size() && time_of(load_.arrivals[next]) <= at; ++next) {
        submit(load_.arrivals[next]);
      }
      const auto began = std::chrono::steady_clock::now();
      wake = world_.pass().wake;
      passes_us_.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began)
              .count());
      measured_.longest_queue = std::max(measured_.longest_queue, world_.waiting.size());
    }
    return finish();
  }

 private:
  base::Time time_of(const Arrival& arrival) const {
    const double gap = static_cast<double>(arrival.at_s - load_.arrivals.front().at_s) / factor_;
    return first_ + base::Milliseconds(static_cast<int64_t>(1000 * gap));
  }

  void submit(const Arrival& arrival) {
    const replay::TracePod& pod = load_.trace.pods[arrival.pod];
    Job job{.request = replay::request_of(pod), .runs = std::chrono::seconds(arrival.runs_s)};
    if (kind_ == Kind::QueueWithTimes) {
      job.tags.push_back(testing::max_seconds(job.runs * overstated_percent / 100));
    }
    const model::TaskArn arn = world_.submit(job);
    known_[arn] = {world_.now, class_of(pod), pod.gpus * pod.gpu_milli / 1000.0};
  }

  void note(const model::TaskArn& task, bool began) {
    const Known& known = known_.at(task);
    account();
    used_ += began ? known.gpus : -known.gpus;
    if (!began) return;
    const auto waited = std::chrono::duration<double>(world_.now - known.arrived).count();
    measured_.waits_s[known.size_class].push_back(waited);
  }
  // Only what is used while tasks arrive counts: after that every queue runs dry.
  void account() {
    const base::Time until = std::min(world_.now, time_of(load_.arrivals.back()));
    if (until > last_change_) {
      used_seconds_ += used_ * std::chrono::duration<double>(until - last_change_).count();
    }
    last_change_ = std::max(last_change_, world_.now);
  }

  Measured finish() {
    account();
    const auto span =
        std::chrono::duration<double>(time_of(load_.arrivals.back()) - first_).count();
    measured_.used_percent = 100 * used_seconds_ / (span * static_cast<double>(load_.gpus));
    measured_.makespan_s = std::chrono::duration<double>(world_.now - first_).count();
    measured_.starved = world_.waiting.size();
    measured_.pass_p50_us = quantile(passes_us_, 50);
    measured_.pass_p99_us = quantile(passes_us_, 99);
    return std::move(measured_);
  }

  struct Known {
    base::Time arrived;
    size_t size_class = 0;
    double gpus = 0;
  };

  const Load& load_;
  const double factor_;
  const Kind kind_;
  World world_;
  std::map<model::TaskArn, Known> known_;
  base::Time first_;
  base::Time last_change_;
  double used_ = 0;
  double used_seconds_ = 0;
  std::vector<double> passes_us_;
  Measured measured_;
};

void print_row(std::string_view queue, std::string_view size_class,
               const std::vector<double>& waits) {
  std::printf("  %-28s %-10s %6zu %9.0f %8.0f %8.0f %8.0f %8.0f\n", std::string(queue).c_str(),
              std::string(size_class).c_str(), waits.size(), mean(waits), quantile(waits, 50),
              quantile(waits, 95), quantile(waits, 99), quantile(waits, 100));
}

void print_measured(std::string_view queue, const Measured& measured) {
  print_row(queue, "all", measured.all());
  for (size_t i = 0; i < class_names.size(); ++i) {
    print_row("", class_names[i], measured.waits_s[i]);
  }
  std::printf(
      "  %-28s GPUs used while tasks arrive %.1f %%, last task ended after %.0f s, starved %zu, "
      "longest queue %zu, a pass takes %.0f us (p99 %.0f us)\n",
      "", measured.used_percent, measured.makespan_s, measured.starved, measured.longest_queue,
      measured.pass_p50_us, measured.pass_p99_us);
}

void waiting_times(benchmark::State& state, const Load& load) {
  const double percent = static_cast<double>(state.range(0));
  const double recorded_s =
      static_cast<double>(load.arrivals.back().at_s - load.arrivals.front().at_s);
  const double span_s = load.gpu_seconds * 100 / (static_cast<double>(load.gpus) * percent);
  const double factor = recorded_s / span_s;
  Measured fifo;
  Measured with_times;
  for (auto _ : state) {
    std::printf(
        "\n%s trace, offered load %.0f %%: %zu tasks on %zu instances with %lld GPUs, arrival gaps "
        "divided by %.1f, %zu tasks cut to %lld s. Waiting time in seconds:\n",
        load.generated ? "Made-up" : "Recorded", percent, load.arrivals.size(),
        load.trace.nodes.size(), static_cast<long long>(load.gpus), factor, load.cut,
        static_cast<long long>(longest_s));
    std::printf("  %-28s %-10s %6s %9s %8s %8s %8s %8s\n", "", "tasks", "number", "mean", "p50",
                "p95", "p99", "max");
    fifo = Run(load, factor, Kind::Fifo).measure();
    print_measured("strict FIFO", fifo);
    print_measured("queue, lengths not known",
                   Run(load, factor, Kind::QueueWithoutTimes).measure());
    with_times = Run(load, factor, Kind::QueueWithTimes).measure();
    print_measured("queue, berth:max-seconds x1.5", with_times);
    std::fflush(stdout);
  }
  state.counters["factor"] = factor;
  state.counters["fifo_mean_s"] = mean(fifo.all());
  state.counters["queue_mean_s"] = mean(with_times.all());
  state.counters["fifo_used_%"] = fifo.used_percent;
  state.counters["queue_used_%"] = with_times.used_percent;
  state.counters["starved"] = static_cast<double>(with_times.starved);
}

// One pass over a full cluster in which nothing starts: 1,000 instances with 8 GPUs each, 8,000
// tasks on them, and so many waiting.
void pass_over_a_full_cluster(benchmark::State& state) {
  World world(replay::cluster_name);
  const replay::TraceNode node{
      .name = "n", .cpu_milli = 192'000, .memory_mib = 1 << 20, .gpus = 8, .model = "Alpha"};
  for (size_t i = 0; i < 1000; ++i) world.add(replay::instance_of(node, i));
  const auto submit = [&](int64_t i, int32_t gpus, base::Milliseconds runs) {
    const replay::TracePod pod{.name = "p",
                               .cpu_milli = 100 + i % 50,
                               .memory_mib = 1000,
                               .gpus = gpus,
                               .gpu_milli = 1000,
                               .models = {}};
    world.submit(
        {.request = replay::request_of(pod), .runs = runs, .tags = {testing::max_seconds(runs)}});
  };
  for (int64_t i = 0; i < 8000; ++i) submit(i, 1, std::chrono::seconds(3600 + i * 7919 % 3600));
  world.pass();
  for (int64_t i = 0; i < state.range(0); ++i) {
    submit(i, i % 10 == 0 ? 8 : 1 + static_cast<int32_t>(i % 2), std::chrono::seconds(7200));
  }
  world.pass();
  size_t started = 0;
  for (auto _ : state) started += world.pass().started;
  if (started > 0) state.SkipWithError("a task started");
}
BENCHMARK(pass_over_a_full_cluster)
    ->ArgName("waiting")
    ->Arg(1)
    ->Arg(100)
    ->Arg(5000)
    ->Unit(benchmark::kMillisecond);

const bool listed = [] {
  static const base::Result<Load> load = load_trace();
  const auto run = [](benchmark::State& state) {
    if (!load) return state.SkipWithError(load.error().message.c_str());
    waiting_times(state, *load);
  };
  benchmark::RegisterBenchmark("queue_waiting_times", run)
      ->ArgName("load_percent")
      ->Arg(90)
      ->Arg(110)
      ->Iterations(1)
      ->Unit(benchmark::kSecond);
  return true;
}();

}  // namespace
}  // namespace reconcile::queue
