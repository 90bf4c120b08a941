// Of the task sets of a service one at most is PRIMARY, and none that is being deleted.

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class TaskSetsPrimary final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "task_sets_primary"; }

  void turned(const Turn& turn) override { look(turn.state); }
  void loaded(const model::ClusterState& state) override { look(state); }

 private:
  void look(const model::ClusterState& state) {
    for (const auto& [arn, service] : state.services) {
      const model::TaskSet* primary = nullptr;
      for (const model::TaskSet& set : service.task_sets) {
        if (!set.primary) continue;
        if (set.draining) {
          fail(base::format("task set {} of {} is deleted and PRIMARY", short_name(set.id),
                            service.name));
        }
        if (primary != nullptr) {
          fail(base::format("task sets {} and {} of {} are both PRIMARY", short_name(primary->id),
                            short_name(set.id), service.name));
        }
        primary = &set;
      }
    }
  }
};

}  // namespace

std::unique_ptr<Checker> make_task_sets_primary(World& world) {
  return std::make_unique<TaskSetsPrimary>(world);
}

}  // namespace sim
