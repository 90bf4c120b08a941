#include "reconcile/queue/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "reconcile/queue/tags.h"

namespace reconcile::queue {
namespace {

// What the whole cluster has; at least 1 of each, to divide by.
struct Whole {
  int64_t gpu_milli = 1;
  int64_t cpu_units = 1;
  int64_t memory_mib = 1;
  int64_t gpu_memory_mib = 1;  // Of its largest GPU.
  int32_t most_gpus = 0;       // Of its largest instance.
};

Whole whole_of(const model::ClusterState& state, const model::ClusterName& cluster) {
  Whole whole;
  for (const auto& [arn, instance] : state.instances) {
    if (instance.cluster != cluster) continue;
    const auto gpus = static_cast<int32_t>(instance.gpus.size());
    whole.gpu_milli += int64_t{model::whole_gpu_milli} * gpus;
    whole.cpu_units += instance.cpu_units;
    whole.memory_mib += instance.memory_mib;
    whole.most_gpus = std::max(whole.most_gpus, gpus);
    for (const model::GpuSlot& slot : instance.gpus) {
      whole.gpu_memory_mib = std::max(whole.gpu_memory_mib, slot.device.memory_mib);
    }
  }
  return whole;
}

constexpr int64_t million = 1'000'000;

int64_t shared_milli(int32_t milli, int64_t memory_mib, const Whole& whole) {
  return milli > 0 ? milli : memory_mib * model::whole_gpu_milli / whole.gpu_memory_mib;
}

Holding holding_of(const model::HeldResources& held, const Whole& whole) {
  int64_t milli = 0;
  for (const model::GpuAssignment& gpu : held.gpus) {
    milli += gpu.shared ? shared_milli(gpu.milli, gpu.memory_mib, whole) : model::whole_gpu_milli;
  }
  return {milli * million / whole.gpu_milli, held.cpu_units * million / whole.cpu_units,
          held.memory_mib * million / whole.memory_mib};
}

Holding holding_of(const placement::Demand& demand, const Whole& whole) {
  int64_t milli =
      int64_t{model::whole_gpu_milli} * (demand.all_gpus ? whole.most_gpus : demand.whole_gpus);
  milli += model::whole_gpu_milli * static_cast<int64_t>(demand.mig_profiles.size());
  for (const placement::Share& share : demand.shares) {
    milli += shared_milli(share.milli, share.memory_mib, whole);
  }
  return {milli * million / whole.gpu_milli, demand.cpu_units * million / whole.cpu_units,
          demand.memory_mib * million / whole.memory_mib};
}

void add(Holding& sum, const Holding& more) {
  sum.gpu += more.gpu;
  sum.cpu += more.cpu;
  sum.memory += more.memory;
}

std::pair<int64_t, int64_t> weight_of(const Holding& holding) {
  return {holding.gpu, std::max(holding.cpu, holding.memory)};
}

std::string share_of(const model::Task& task) {
  for (const api::ecs::Tag& tag : task.tags) {
    if (tag.key == share_tag && tag.value && !tag.value->empty()) return *tag.value;
  }
  return task.group;
}

std::map<std::string, Holding> held_by_groups(const model::ClusterState& state,
                                              const model::ClusterName& cluster,
                                              const Whole& whole) {
  std::map<std::string, Holding> held;
  for (const auto& [arn, task] : state.tasks) {
    if (task.cluster != cluster || task.waiting || task.last_status == model::TaskStatus::Stopped) {
      continue;
    }
    add(held[share_of(task)], holding_of(task.held, whole));
  }
  return held;
}

// One group's units of one priority, the oldest first, and what comes before them.
struct Line {
  std::vector<size_t> units;
  size_t next = 0;
};

// Appends the units, all of one priority and the oldest first.
class Turns {
 public:
  Turns(const std::vector<Unit>& units, const Whole& whole, std::map<std::string, Holding>& held)
      : units_(units), whole_(whole), held_(held) {}

  void append(const std::vector<size_t>& list, bool first_is_overdue, std::vector<size_t>& order) {
    std::map<std::string, Line> lines;
    for (const size_t index : list) lines[units_[index].share].units.push_back(index);
    if (first_is_overdue) {
      Line& line = lines[units_[list.front()].share];
      take(line, order);
      if (line.next == line.units.size()) lines.erase(units_[list.front()].share);
    }
    std::set<std::tuple<std::pair<int64_t, int64_t>, base::Time, std::string>> turns;
    const auto enter = [&](const std::string& share, const Line& line) {
      const Unit& head = units_[line.units[line.next]];
      turns.emplace(weight_of(held_[share]), head.queued_at, share);
    };
    for (const auto& [share, line] : lines) enter(share, line);
    while (!turns.empty()) {
      const std::string share = std::get<2>(*turns.begin());
      turns.erase(turns.begin());
      Line& line = lines[share];
      take(line, order);
      if (line.next < line.units.size()) enter(share, line);
    }
  }

 private:
  void take(Line& line, std::vector<size_t>& order) {
    const Unit& unit = units_[line.units[line.next]];
    Holding& held = held_[unit.share];
    for (const WaitingTask* const member : unit.members) {
      add(held, holding_of(member->need->demand, whole_));
    }
    order.push_back(line.units[line.next++]);
  }

  const std::vector<Unit>& units_;
  const Whole& whole_;
  std::map<std::string, Holding>& held_;
};

}  // namespace

std::vector<size_t> order_of(const std::vector<Unit>& units, const model::ClusterState& state,
                             const model::ClusterName& cluster, base::Time now,
                             base::Milliseconds patience) {
  std::map<int32_t, std::vector<size_t>, std::greater<>> by_priority;
  bool one_group = true;
  const Unit* first = nullptr;
  for (size_t i = 0; i < units.size(); ++i) {
    if (!units[i].complete) continue;
    by_priority[units[i].priority].push_back(i);
    if (first == nullptr) first = &units[i];
    one_group &= units[i].share == first->share;
  }
  std::vector<size_t> order;
  if (one_group) {
    for (const auto& [priority, list] : by_priority) {
      order.insert(order.end(), list.begin(), list.end());
    }
    return order;
  }
  const Whole whole = whole_of(state, cluster);
  std::map<std::string, Holding> held = held_by_groups(state, cluster, whole);
  Turns turns(units, whole, held);
  for (const auto& [priority, list] : by_priority) {
    turns.append(list, units[list.front()].queued_at + patience <= now, order);
  }
  return order;
}

}  // namespace reconcile::queue
