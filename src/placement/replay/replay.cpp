#include "placement/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/format.h"
#include "model/change.h"
#include "placement/pack/objective.h"
#include "placement/place.h"
#include "placement/replay/records.h"

namespace placement::replay {
namespace {

constexpr double target_load = 1.3;
constexpr double typical_coverage = 0.95;
constexpr size_t progress_step = 64;

int64_t milli_of(const TracePod& pod) {
  return int64_t{pod.gpus} * pod.gpu_milli;
}

int64_t capacity_milli(const std::vector<TraceNode>& nodes) {
  int64_t gpus = 0;
  for (const TraceNode& node : nodes) gpus += node.gpus;
  return gpus * model::whole_gpu_milli;
}

void shuffle(std::vector<size_t>& list, base::Random& random) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

// Fragmentation by the mix of the whole file, whatever the policy knows: the paper's measure.
class FragmentMeter {
 public:
  FragmentMeter(const std::vector<TraceNode>& nodes, const std::vector<TracePod>& pods)
      : fragments_(nodes.size()) {
    pack::Mix mix(0);
    std::map<std::vector<std::string>, uint32_t> rules = {{{}, 0}};
    std::vector<std::vector<std::string>> models = {{}};
    for (const TracePod& pod : pods) {
      const auto [rule, added] = rules.try_emplace(pod.models, static_cast<uint32_t>(rules.size()));
      if (added) models.push_back(pod.models);
      mix.observe(pack::kind_of(demand_of(request_of(pod).resources), rule->second));
    }
    const std::vector<pack::Weighted> typical = mix.typical(typical_coverage);
    for (const TraceNode& node : nodes) {
      const pack::Hardware hardware{.cpu_units = node.cpu_milli,
                                    .memory_mib = node.memory_mib,
                                    .gpus = node.gpus,
                                    .gpu_memory_mib = unknown_gpu_memory_mib,
                                    .shareable = true};
      const auto [found, added] =
          number_of_.try_emplace(std::pair(hardware, node.model), tables_.size());
      if (added) {
        std::vector<pack::Weighted> eligible;
        for (const pack::Weighted& each : typical) {
          const std::vector<std::string>& wanted = models[each.kind.rule];
          if (wanted.empty() || std::ranges::find(wanted, node.model) != wanted.end()) {
            eligible.push_back(each);
          }
        }
        tables_.emplace_back(hardware, eligible);
      }
      table_of_.push_back(found->second);
    }
  }

  void update(size_t node, const model::ContainerInstance& instance) {
    const Offer offer = offer_of(instance);
    const pack::InstanceSummary summary = pack::summary_of(offer);
    const pack::Fragmentation& table = tables_[table_of_[node]];
    pack::Reach reach;
    for (size_t i = 0; i < summary.cards; ++i) table.add(reach, summary.milli[i]);
    const double now = summary.idle_milli - table.useful(reach, summary.cpu_free);
    sum_ += now - fragments_[node];
    fragments_[node] = now;
  }

  double sum() const { return sum_; }

 private:
  std::map<std::pair<pack::Hardware, std::string>, size_t> number_of_;
  std::vector<pack::Fragmentation> tables_;
  std::vector<size_t> table_of_;
  std::vector<double> fragments_;
  double sum_ = 0;
};

// Means per whole percent of arrived load.
class Bins {
 public:
  void add(double arrived_percent, double allocation, double fragmentation) {
    Bin& bin = bins_[static_cast<int32_t>(std::lround(arrived_percent))];
    bin.allocation += allocation;
    bin.fragmentation += fragmentation;
    ++bin.count;
  }

  std::vector<Point> points() const {
    std::vector<Point> points;
    for (const auto& [percent, bin] : bins_) {
      points.push_back({percent, bin.allocation / bin.count, bin.fragmentation / bin.count});
    }
    return points;
  }

 private:
  struct Bin {
    double allocation = 0;
    double fragmentation = 0;
    double count = 0;
  };
  std::map<int32_t, Bin> bins_;
};

// The time that the engine takes.
class Stopwatch {
 public:
  explicit Stopwatch(const std::function<int64_t()>& now_ns) : now_ns_(now_ns) {}

  void start() {
    if (now_ns_) started_ = now_ns_();
  }
  void stop() {
    if (now_ns_) spent_.push_back(now_ns_() - started_);
  }
  void resume_last() { start(); }
  void stop_last() {
    if (now_ns_) spent_.back() += now_ns_() - started_;
  }

  void report(Result& result) {
    if (spent_.empty()) return;
    double sum = 0;
    for (const int64_t each : spent_) sum += static_cast<double>(each);
    result.decisions_per_second = static_cast<double>(spent_.size()) / std::max(sum, 1.0) * 1e9;
    std::ranges::sort(spent_);
    result.p50_us = static_cast<double>(spent_[spent_.size() / 2]) / 1000;
    result.p99_us = static_cast<double>(spent_[spent_.size() * 99 / 100]) / 1000;
  }

 private:
  const std::function<int64_t()>& now_ns_;
  int64_t started_ = 0;
  std::vector<int64_t> spent_;
};

class Run {
 public:
  Run(const std::vector<TraceNode>& nodes, const std::vector<TracePod>& pods,
      const Options& options)
      : pods_(pods),
        random_(options.seed),
        engine_(options.policy),
        meter_(nodes, pods),
        capacity_(static_cast<double>(capacity_milli(nodes))),
        watch_(options.now_ns),
        on_progress_(options.on_progress) {
    order_ = arrivals(nodes, pods, options.order, random_);
    std::vector<size_t> places(nodes.size());
    std::iota(places.begin(), places.end(), 0);
    if (options.order == Order::Seed) shuffle(places, random_);
    for (size_t i = 0; i < nodes.size(); ++i) {
      model::ContainerInstance instance = instance_of(nodes[i], places[i]);
      node_of_[instance.arn] = i;
      meter_.update(i, instance);
      state_.instances.emplace(instance.arn, std::move(instance));
    }
    engine_.reset(state_);
    for (const TracePod& pod : pods) requests_.push_back(request_of(pod));
    if (options.policy == Policy::Fgd) engine_.set_workload(cluster_name, requests_);
    result_ = {.generated = false,
               .policy = options.policy,
               .order = options.order,
               .seed = options.seed,
               .instances = static_cast<int64_t>(nodes.size()),
               .gpus = static_cast<int64_t>(capacity_ / model::whole_gpu_milli),
               .tasks = static_cast<int64_t>(order_.size()),
               .unplaced = {},
               .points = {}};
  }

  Result run() {
    int64_t arrived = 0;
    int64_t allocated = 0;
    Bins bins;
    size_t done = 0;
    for (const size_t pod : order_) {
      if (done++ % progress_step == 0 && on_progress_) on_progress_(done - 1, order_.size());
      arrived += milli_of(pods_[pod]);
      if (place(pod)) allocated += milli_of(pods_[pod]);
      bins.add(percent(static_cast<double>(arrived)), percent(static_cast<double>(allocated)),
               percent(meter_.sum()));
    }
    result_.points = bins.points();
    watch_.report(result_);
    return std::move(result_);
  }

 private:
  double percent(double milli) const { return 100 * milli / capacity_; }

  bool place(size_t pod) {
    watch_.start();
    auto placed = engine_.place(state_, requests_[pod], random_);
    watch_.stop();
    if (!placed) {
      ++result_.unplaced[placed.error().at(0).reason];
      return false;
    }
    model::Task task;
    task.arn = model::task_arn({}, cluster_name, base::format("{:08}", result_.placed));
    task.cluster = cluster_name;
    task.instance = placed->instance;
    task.group = requests_[pod].group;
    task.last_status = model::TaskStatus::Running;
    task.held = std::move(placed->held);
    model::apply(state_, model::TaskPlaced{std::move(task)});
    watch_.resume_last();
    engine_.instance_changed(state_, placed->instance);
    watch_.stop_last();
    meter_.update(node_of_.at(placed->instance), state_.instances.at(placed->instance));
    ++result_.placed;
    return true;
  }

  const std::vector<TracePod>& pods_;
  base::Random random_;
  model::ClusterState state_;
  Engine engine_;
  FragmentMeter meter_;
  double capacity_;
  Stopwatch watch_;
  const std::function<void(size_t, size_t)>& on_progress_;
  std::vector<size_t> order_;
  std::vector<Request> requests_;
  std::map<model::InstanceArn, size_t> node_of_;
  Result result_;
};

// How many arrivals it takes to come to the target load.
double expected_arrivals(const std::vector<TraceNode>& nodes, const std::vector<TracePod>& pods) {
  double sum = 0;
  for (const TracePod& pod : pods) sum += static_cast<double>(milli_of(pod));
  if (sum <= 0) return 0;
  return target_load * static_cast<double>(capacity_milli(nodes)) / sum *
         static_cast<double>(pods.size());
}

}  // namespace

std::vector<size_t> arrivals(const std::vector<TraceNode>& nodes, const std::vector<TracePod>& pods,
                             Order order, base::Random& random) {
  std::vector<size_t> list(pods.size());
  std::iota(list.begin(), list.end(), 0);
  if (order == Order::Given) return list;
  std::ranges::sort(list, {}, [&](size_t pod) -> const std::string& { return pods[pod].name; });
  shuffle(list, random);
  const double target = target_load * static_cast<double>(capacity_milli(nodes));
  double sum = 0;
  for (const TracePod& pod : pods) sum += static_cast<double>(milli_of(pod));
  while (sum > target) {
    sum -= static_cast<double>(milli_of(pods[list.back()]));
    list.pop_back();
  }
  if (sum <= 0) return list;
  while (true) {
    const auto drawn = static_cast<size_t>(random.below(pods.size()));
    if (sum + pods[drawn].gpu_milli > target) return list;
    sum += static_cast<double>(milli_of(pods[drawn]));
    list.push_back(drawn);
  }
}

base::Result<Result> run(const std::vector<TraceNode>& nodes, const std::vector<TracePod>& pods,
                         const Options& options) {
  if (capacity_milli(nodes) == 0) {
    return base::fail("InvalidParameterException", "The nodes file names no GPU.");
  }
  if (pods.empty()) {
    return base::fail("InvalidParameterException", "The pods file names no task.");
  }
  if (options.order == Order::Seed) {
    const double expected = expected_arrivals(nodes, pods);
    if (expected > static_cast<double>(most_arrivals)) {
      return base::fail("InvalidParameterException",
                        base::format("The tasks ask for so little GPU that about {:.0f} of them "
                                     "make 130 % of the cluster; at most {} are replayed. Replay "
                                     "the file as it stands with the order 'given'.",
                                     expected, most_arrivals));
    }
  }
  return Run(nodes, pods, options).run();
}

const Point* point_at(const Result& result, int32_t arrived_percent) {
  const auto beyond =
      std::ranges::upper_bound(result.points, arrived_percent, {}, &Point::arrived_percent);
  if (beyond == result.points.begin()) return nullptr;
  const Point& last = *std::prev(beyond);
  const bool reached = beyond != result.points.end() || last.arrived_percent == arrived_percent;
  const bool inflated = result.order == Order::Seed && last.arrived_percent > 100 &&
                        arrived_percent <= std::lround(100 * target_load);
  return reached || inflated ? &last : nullptr;
}

}  // namespace placement::replay
