// A cluster with a queue under virtual time: tasks arrive, wait, start where the queue says, run
// for just as long as they were made to, and end. For tests and benchmarks.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "model/change.h"
#include "placement/place.h"
#include "reconcile/queue/queue.h"

namespace reconcile::queue::testing {

struct Job {
  placement::Request request;
  base::Milliseconds runs{};
  api::List<api::ecs::Tag> tags = {};
  std::string gang = {};
  int32_t gang_size = 0;
};

inline api::ecs::Tag tag(std::string_view key, std::string value) {
  api::ecs::Tag made;
  made.key = std::string(key);
  made.value = std::move(value);
  return made;
}
inline api::ecs::Tag max_seconds(base::Milliseconds time) {
  return tag(max_seconds_tag, base::format("{}", (time.count() + 999) / 1000));
}

inline placement::Request asks(uint32_t gpus, std::string group = "family:train") {
  placement::Request request;
  request.cluster = model::ClusterName("default");
  request.group = std::move(group);
  request.resources.cpu_units = 100;
  request.resources.memory_mib = 100;
  if (gpus > 0) {
    model::GpuRequest& gpu = request.resources.gpus.emplace_back();
    gpu.container = "main";
    gpu.count = gpus;
  }
  return request;
}

class World {
 public:
  explicit World(model::ClusterName name = model::ClusterName("default"), uint64_t seed = 1)
      : cluster(std::move(name)), random(seed) {
    model::Cluster made;
    made.name = cluster;
    apply(model::ClusterPut{made});
  }

  void add(model::ContainerInstance instance) {
    instance.cluster = cluster;
    instance.agent_connected = true;
    apply(model::InstanceRegistered{std::move(instance)});
  }
  model::InstanceArn add(const std::string& id, int gpus, int64_t cpu = 100'000,
                         int64_t memory = 100'000) {
    model::ContainerInstance instance;
    instance.arn = model::instance_arn({}, cluster, id);
    instance.cpu_units = cpu;
    instance.memory_mib = memory;
    for (int i = 0; i < gpus; ++i) {
      model::GpuSlot& slot = instance.gpus.emplace_back();
      slot.device.uuid = base::format("GPU-{}-{}", id, i);
      slot.device.memory_mib = 16'384;
      slot.device.mps_capable = true;
    }
    add(instance);
    return instance.arn;
  }

  model::TaskArn submit(const Job& job) {
    model::Task task;
    task.arn = model::task_arn({}, cluster, base::format("{:08}", ++submitted));
    task.cluster = cluster;
    task.last_status = model::TaskStatus::Provisioning;
    task.waiting.emplace();
    task.group = job.request.group;
    task.tags = job.tags;
    task.created_at = now;
    const model::TaskArn arn = task.arn;
    WaitingTask entry;
    entry.arn = arn;
    entry.need = need(job.request);
    entry.queued_at = now;
    entry.tags = read_tags(job.tags).value();
    entry.share = entry.tags.share.empty() ? task.group : entry.tags.share;
    entry.gang = job.gang;
    entry.gang_size = job.gang_size;
    waiting.push_back(std::move(entry));
    runs_[arn] = job.runs;
    apply(model::TaskQueued{std::move(task)});
    return arn;
  }

  Outcome pass() {
    const std::function<void(const std::vector<Start>&)> commit =
        [this](const std::vector<Start>& starts) {
          for (const Start& start : starts) begin(start);
          last_starts.push_back(starts);
        };
    const Input input{state, cluster, engine, random, commit};
    last_starts.clear();
    Outcome outcome = run(input, waiting, now, settings);
    std::erase_if(waiting, [&](const WaitingTask& task) { return started.contains(task.arn); });
    for (const Expired& expired : outcome.expired) {
      std::erase_if(waiting, [&](const WaitingTask& one) { return one.arn == expired.task; });
      end(expired.task);
    }
    return outcome;
  }

  // The tasks that end until then end, and time goes there.
  bool pass_time(base::Time until) {
    bool any = false;
    while (!ends_.empty() && ends_.begin()->first <= until) {
      now = ends_.begin()->first;
      const model::TaskArn arn = ends_.begin()->second;
      ends_.erase(ends_.begin());
      end(arn);
      any = true;
    }
    now = std::max(now, until);
    return any;
  }
  base::Time next_end() const { return ends_.empty() ? base::Time::max() : ends_.begin()->first; }
  size_t running() const { return ends_.size(); }

  // Passes at each end and each time that the queue wants to look again, until nothing runs any
  // more or that time has come.
  void settle(base::Time until = base::Time::max()) {
    base::Time wake = pass().wake;
    while (std::min(next_end(), wake) <= until && std::min(next_end(), wake) != base::Time::max()) {
      pass_time(std::min(next_end(), wake));
      wake = pass().wake;
    }
  }

  void apply(const model::Change& change) {
    std::vector<model::InstanceArn> touched;
    model::touched_instances(state, change, touched);
    model::apply(state, change);
    for (const model::InstanceArn& one : touched) engine.instance_changed(state, one);
  }

  const Requirements* need(const placement::Request& request) {
    std::string key =
        base::format("{}/{}/{}/{}", request.resources.cpu_units, request.resources.memory_mib,
                     request.group, request.strategies.size());
    for (const auto& gpu : request.resources.gpus) {
      key += base::format("/{}:{}:{}:{}", static_cast<int>(gpu.kind), gpu.count, gpu.milli,
                          gpu.memory_mib);
    }
    for (const auto& constraint : request.constraints) {
      key += "/" + std::string(constraint.type ? api::to_string(*constraint.type) : "") +
             constraint.expression.value_or("");
    }
    const auto found = needs_.find(key);
    if (found != needs_.end()) return &found->second;
    return &needs_.emplace(key, requirements_of(request)).first->second;
  }

  model::ClusterName cluster;
  model::ClusterState state;
  placement::Engine engine;
  base::Random random;
  Settings settings;
  base::Time now{std::chrono::seconds(1'000'000)};
  std::vector<WaitingTask> waiting;
  std::map<model::TaskArn, base::Time> started;
  std::vector<std::vector<Start>> last_starts;  // Of the last pass: what was committed together.
  std::function<void(const model::TaskArn&, bool began)> on_change;
  int submitted = 0;

 private:
  void begin(const Start& start) {
    model::Task task = *model::find_task(state, start.task);
    task.waiting.reset();
    task.instance = start.placement.instance;
    task.held = start.placement.held;
    task.last_status = model::TaskStatus::Running;
    task.started_at = now;
    apply(model::TaskPlaced{std::move(task)});
    started[start.task] = now;
    ends_.emplace(now + runs_.at(start.task), start.task);
    if (on_change) on_change(start.task, true);
  }
  void end(const model::TaskArn& arn) {
    if (on_change && started.contains(arn)) on_change(arn, false);
    model::TaskReported report;
    report.arn = arn;
    report.last_status = model::TaskStatus::Stopped;
    report.stopped_at = now;
    apply(report);
    model::apply(state, model::TaskExpired{arn});
  }

  std::map<std::string, Requirements> needs_;
  std::map<model::TaskArn, base::Milliseconds> runs_;
  std::set<std::pair<base::Time, model::TaskArn>> ends_;
};

}  // namespace reconcile::queue::testing
