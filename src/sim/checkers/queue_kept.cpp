// A task that waits is never lost, whatever dies: it waits on, is placed, or ends for a reason that
// is true. Its deadline is honoured: it does not wait beyond, and never ends before.

#include <algorithm>
#include <optional>
#include <set>

#include "sim/checkers/checkers.h"
#include "sim/checkers/queue_view.h"
#include "sim/world.h"

namespace sim {
namespace {

// From a deadline to the turn that sees to it.
constexpr base::Milliseconds deadline_slack = std::chrono::seconds(2);

class QueueKept final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "queue_kept"; }

  void turned(const Turn& turn) override {
    look(turn.state);
    // Who has just loaded the state has not looked at the queue yet.
    if (!turn.released.reloaded) check_deadlines(turn);
  }
  void loaded(const model::ClusterState& state) override { look(state); }
  void server_disk_lost() override { waiting_.clear(); }

 private:
  void look(const model::ClusterState& state) {
    for (const model::TaskArn& arn : waiting_) {
      const model::Task* const task = model::find_task(state, arn);
      if (task == nullptr) {
        fail(base::format("task {} waited in the queue and is forgotten", short_name(arn.str())));
      } else if (task->last_status == model::TaskStatus::Stopped && task->instance.empty()) {
        check_end(state, *task);
      }
    }
    waiting_.clear();
    for (const auto& [arn, task] : state.tasks) {
      const bool waits = task.instance.empty() && task.last_status != model::TaskStatus::Stopped &&
                         task.capacity_provider == model::berth_queue;
      if (waits) waiting_.insert(arn);
    }
  }

  void check_end(const model::ClusterState& state, const model::Task& task) {
    const std::string id = short_name(task.arn.str());
    if (task.stop_code == "UserInitiated" || task.stop_code == "ServiceSchedulerInitiated") return;
    if (task.stopped_reason.find("TIMEOUT") != std::string::npos) {
      const auto deadline = earliest_deadline(state, task);
      if (!deadline) return fail(base::format("task {} has no deadline, and ended at one", id));
      if (*deadline <= *task.stopped_at) return;
      return fail(base::format("task {} ended {} ms before its deadline in the queue", id,
                               (*deadline - *task.stopped_at).count()));
    }
    if (task.stopped_reason.find("GANG") != std::string::npos) {
      if (is_gang_broken(state, task)) return;
      return fail(base::format("task {} ended because its gang is broken, which it is not", id));
    }
    fail(base::format("task {} waited in the queue and has ended: {} ({})", id, task.stopped_reason,
                      task.stop_code));
  }

  // Of the task, or of another member of its gang: all end together.
  std::optional<base::Time> earliest_deadline(const model::ClusterState& state,
                                              const model::Task& task) {
    std::optional<base::Time> earliest;
    for (const auto& [arn, other] : state.tasks) {
      if (arn != task.arn && !are_of_one_gang(task, other)) continue;
      const auto deadline = deadline_of(other, world().expectations());
      if (deadline) earliest = std::min(earliest.value_or(*deadline), *deadline);
    }
    return earliest;
  }

  bool are_of_one_gang(const model::Task& one, const model::Task& other) {
    const auto& wishes = world().expectations().wishes;
    const auto first = wishes.find(one.started_by);
    const auto second = wishes.find(other.started_by);
    if (first == wishes.end() || second == wishes.end()) return false;
    if (!first->second.queueing || !second->second.queueing) return false;
    const Queueing& asked = *first->second.queueing;
    if (asked.gang.empty() || asked.gang != second->second.queueing->gang) return false;
    return asked.gang != "all" || first->first == second->first;
  }

  // A member was stopped while it waited, or is forgotten since.
  bool is_gang_broken(const model::ClusterState& state, const model::Task& task) {
    int32_t members = 0;
    bool one_was_stopped = false;
    for (const auto& [arn, other] : state.tasks) {
      if (other.started_by != task.started_by) continue;
      ++members;
      one_was_stopped = one_was_stopped || world().expectations().stops.contains(arn.str());
    }
    return one_was_stopped || members < world().expectations().wishes.at(task.started_by).count;
  }

  void check_deadlines(const Turn& turn) {
    for (const WaitingUnit& unit : waiting_units(turn.state, world().expectations())) {
      if (!unit.deadline || *unit.deadline + deadline_slack > turn.now) continue;
      return fail(base::format("task {} waits in the queue {} ms after its deadline",
                               short_name(unit.members.front().str()),
                               (turn.now - *unit.deadline).count()));
    }
  }

  std::set<model::TaskArn> waiting_;
};

}  // namespace

std::unique_ptr<Checker> make_queue_kept(World& world) {
  return std::make_unique<QueueKept>(world);
}

}  // namespace sim
