// A status is true: RUNNING of a task whose containers were started, STOPPED of one of which no
// container runs any more. Tasks that an operator gave up are known by hearsay only.

#include <set>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class TrueStatus final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "true_status"; }

  void turned(const Turn& turn) override { look(turn.state); }
  void loaded(const model::ClusterState& state) override { look(state); }

 private:
  void look(const model::ClusterState& state) {
    for (const auto& [arn, task] : state.tasks) {
      if (task.last_status == model::TaskStatus::Stopped) {
        if (stopped_.insert(arn).second) look_at_stopped(task);
      } else if (task.last_status == model::TaskStatus::Running && running_.insert(arn).second) {
        look_at_running(task);
      }
    }
  }

  void look_at_stopped(const model::Task& task) {
    if (task.stop_code == "TerminationNotice" ||
        world().expectations().deregistered.contains(task.instance.str())) {
      return;
    }
    for (const model::TaskContainer& container : task.containers) {
      const auto fates = world().fates().find({task.arn.str(), container.name});
      if (fates == world().fates().end()) continue;
      for (const ContainerFate& fate : fates->second) {
        if (!fate.running) continue;
        fail(base::format("task {} is STOPPED, and its container {} runs on {}",
                          short_name(task.arn.str()), container.name, fate.machine));
      }
    }
  }

  void look_at_running(const model::Task& task) {
    for (const model::TaskContainer& container : task.containers) {
      if (world().fates().contains({task.arn.str(), container.name})) continue;
      fail(base::format("task {} is RUNNING, and its container {} was never started",
                        short_name(task.arn.str()), container.name));
    }
  }

  std::set<model::TaskArn> stopped_;
  std::set<model::TaskArn> running_;
};

}  // namespace

std::unique_ptr<Checker> make_true_status(World& world) {
  return std::make_unique<TrueStatus>(world);
}

}  // namespace sim
