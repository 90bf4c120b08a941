// Nobody in the queue is passed by one that stands behind it and asks for the same, no shorter: not
// by one of a lower priority, nor by a younger one of its share, nor by one of a share that
// plainly holds more.
//
// Source: src/reconcile/queue/queue.h. What asks for something else, or tells that it runs shorter,
// may pass where that delays nobody.

#include <algorithm>
#include <set>
#include <vector>

#include "sim/checkers/checkers.h"
#include "sim/checkers/queue_view.h"
#include "sim/world.h"

namespace sim {
namespace {

// GPUs that tasks of a share have for certain, or may have at most, within one turn.
struct GpuCounts {
  size_t least = 0;
  size_t most = 0;
};

class QueueFair final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "queue_fair"; }

  void turned(const Turn& turn) override {
    for (const WaitingUnit& unit : before_) {
      if (unit.is_complete() && was_started(turn.state, unit)) check(turn, unit);
    }
    remember(turn.state);
  }
  void loaded(const model::ClusterState& state) override { remember(state); }

 private:
  using Holders = std::map<model::TaskArn, std::pair<std::string, size_t>>;  // Share and GPUs.

  void remember(const model::ClusterState& state) {
    before_ = waiting_units(state, world().expectations());
    holders_ = holders_of(state);
  }

  // Shares of a GPU count as nothing in what is held for certain, and as one at most.
  Holders holders_of(const model::ClusterState& state) {
    Holders holders;
    if (before_.empty()) return holders;
    for (const auto& [arn, task] : state.tasks) {
      if (task.last_status == model::TaskStatus::Stopped || task.held.gpus.empty()) continue;
      const auto wish = world().expectations().wishes.find(task.started_by);
      const bool has_share = wish != world().expectations().wishes.end() && wish->second.queueing &&
                             !wish->second.queueing->share.empty();
      holders[arn] = {has_share ? wish->second.queueing->share : task.group, task.held.gpus.size()};
    }
    return holders;
  }

  static bool was_started(const model::ClusterState& state, const WaitingUnit& unit) {
    return std::ranges::all_of(unit.members, [&](const model::TaskArn& arn) {
      const model::Task* const task = model::find_task(state, arn);
      return task != nullptr && !task->instance.empty();
    });
  }
  static bool still_waits(const model::ClusterState& state, const WaitingUnit& unit) {
    const model::Task* const task = model::find_task(state, unit.members.front());
    return task != nullptr && task->instance.empty() &&
           task->last_status == model::TaskStatus::Provisioning;
  }

  void check(const Turn& turn, const WaitingUnit& started) {
    for (const WaitingUnit& other : before_) {
      const bool asks_the_same = other.size == 1 && other.members.size() == 1 &&
                                 other.definition == started.definition &&
                                 !other.definition.empty() && !is_shorter(started, other);
      if (!asks_the_same || !still_waits(turn.state, other)) continue;
      const bool passed = stands_before(other, started) || has_less(turn, other, started);
      if (!passed) continue;
      return fail(base::format(
          "task {} (priority {}, share {}, waiting since {} s) was started while task {} (priority "
          "{}, share {}, since {} s), which asks for the same, waits on",
          short_name(started.members.front().str()), started.priority, started.share,
          seconds_since(turn.now, started), short_name(other.members.front().str()), other.priority,
          other.share, seconds_since(turn.now, other)));
    }
  }

  static int64_t seconds_since(base::Time now, const WaitingUnit& unit) {
    return std::chrono::duration_cast<std::chrono::seconds>(now - unit.queued_at).count();
  }
  static bool is_shorter(const WaitingUnit& one, const WaitingUnit& other) {
    if (!one.told_seconds) return false;
    return !other.told_seconds || *one.told_seconds < *other.told_seconds;
  }

  // Whether `one`, alone in its share's line, has its turn before `other` because its share holds
  // less, whatever else has happened in the turn.
  bool has_less(const Turn& turn, const WaitingUnit& one, const WaitingUnit& other) {
    if (one.share == other.share || one.priority != other.priority) return false;
    // One that has waited for too long goes first.
    if (other.queued_at + world().server().settings().queue.patience <= turn.now) return false;
    const auto competes = [&](const WaitingUnit& unit) {
      return unit.share == one.share && unit.priority >= one.priority &&
             unit.members != one.members;
    };
    const auto after = waiting_units(turn.state, world().expectations());
    if (std::ranges::any_of(before_, competes) || std::ranges::any_of(after, competes)) {
      return false;
    }
    const Holders holders = holders_of(turn.state);
    return gpus_of(one.share, holders).most < gpus_of(other.share, holders).least;
  }

  GpuCounts gpus_of(const std::string& share, const Holders& after) {
    GpuCounts gpus;
    for (const auto& [arn, held] : holders_) {
      if (held.first != share) continue;
      gpus.most += held.second;
      const model::Task* const task = model::find_task(*world().server().state(), arn);
      const bool holds_whole =
          after.contains(arn) && task != nullptr &&
          std::ranges::none_of(task->held.gpus, [](const auto& gpu) { return gpu.shared; });
      if (holds_whole) gpus.least += held.second;
    }
    for (const auto& [arn, held] : after) {
      if (held.first == share && !holders_.contains(arn)) gpus.most += held.second;
    }
    return gpus;
  }

  std::vector<WaitingUnit> before_;  // After the last turn.
  Holders holders_;                  // Likewise; empty while nobody waits.
};

}  // namespace

std::unique_ptr<Checker> make_queue_fair(World& world) {
  return std::make_unique<QueueFair>(world);
}

}  // namespace sim
