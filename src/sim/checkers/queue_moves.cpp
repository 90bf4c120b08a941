// The queue moves: who stands first in it and has room starts within seconds, while the server
// lives; and once the faults have stopped, everybody for whom the cluster is large enough starts.

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/checkers/checkers.h"
#include "sim/checkers/queue_view.h"
#include "sim/world.h"

namespace sim {
namespace {

constexpr base::Milliseconds soon = std::chrono::seconds(20);

class QueueMoves final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "queue_moves"; }

  void turned(const Turn& turn) override {
    // Between two turns nothing changes: until this one the first stood there.
    if (first_ && first_->since + soon < turn.now) {
      return fail(base::format(
          "task {} is the first in the queue and has had room for {} s",
          short_name(first_->task.str()),
          std::chrono::duration_cast<std::chrono::seconds>(turn.now - first_->since).count()));
    }
    const auto first = first_with_room(turn.state);
    if (!first) {
      first_.reset();
    } else if (!first_ || first_->task != *first) {
      first_ = {*first, turn.now};
    }
  }
  // Another process, and perhaps another clock.
  void loaded(const model::ClusterState&) override { first_.reset(); }

  std::string awaits_end() override {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return "the server does not serve";
    for (const WaitingUnit& unit : waiting_units(*state, world().expectations())) {
      if (!unit.is_complete() || !has_room_when_empty(*state, unit)) continue;
      return base::format("task {} waits in the queue, for whom the cluster is large enough",
                          short_name(unit.members.front().str()));
    }
    return {};
  }

 private:
  struct First {
    model::TaskArn task;
    base::Time since;  // On the server's clock.
  };

  // Whoever stands before all others, where the instances have room for all of its members.
  std::optional<model::TaskArn> first_with_room(const model::ClusterState& state) {
    const std::vector<WaitingUnit> units = waiting_units(state, world().expectations());
    for (const WaitingUnit& unit : units) {
      const bool is_first =
          unit.is_complete() && std::ranges::all_of(units, [&](const auto& one) {
            return !one.is_complete() || &one == &unit || stands_before(unit, one);
          });
      if (is_first && has_room_now(state, unit)) return unit.members.front();
    }
    return std::nullopt;
  }

  std::optional<First> first_;
};

}  // namespace

std::unique_ptr<Checker> make_queue_moves(World& world) {
  return std::make_unique<QueueMoves>(world);
}

}  // namespace sim
