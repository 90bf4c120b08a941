// A standalone task runs at most once, where it was placed; a call runs no more tasks than it asked
// for, however often it was sent.

#include <map>
#include <set>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class OneRun final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "one_run"; }

  void turned(const Turn& turn) override { look(turn.state); }
  void loaded(const model::ClusterState& state) override { look(state); }
  void server_disk_lost() override {
    // What a client insists on runs again: the server has forgotten its token.
    tasks_of_.clear();
  }

  void container_started(const Machine& machine, const SimContainer& container) override {
    const auto placed = placed_.find(model::TaskArn(container.task_arn));
    if (placed == placed_.end()) {
      return fail(base::format("{} runs task {}, which was never placed", machine.name(),
                               short_name(container.task_arn)));
    }
    if (placed->second != machine.name()) {
      fail(base::format("{} runs task {}, which was placed on {}", machine.name(),
                        short_name(container.task_arn), placed->second));
    }
    const auto& runs = world().fates().at({container.task_arn, container.container_name});
    if (runs.size() > 1) {
      fail(base::format("container {} of task {} runs for the {}. time", container.container_name,
                        short_name(container.task_arn), runs.size()));
    }
  }

 private:
  void look(const model::ClusterState& state) {
    for (const auto& [arn, task] : state.tasks) {
      if (seen_.insert(arn).second) count(task);
      // One that waits has no place yet.
      if (task.instance.empty() || placed_.contains(arn)) continue;
      const auto* const instance = model::find_instance(state, task.instance);
      const Machine* const machine = instance == nullptr ? nullptr : world().machine_of(*instance);
      placed_[arn] = machine == nullptr ? "" : machine->name();
    }
  }

  void count(const model::Task& task) {
    const int32_t tasks = ++tasks_of_[task.started_by];
    const auto wish = world().expectations().wishes.find(task.started_by);
    if (wish == world().expectations().wishes.end() || tasks <= wish->second.count) return;
    fail(base::format("{} asked for {} task(s) and has got {}", task.started_by, wish->second.count,
                      tasks));
  }

  std::set<model::TaskArn> seen_;
  std::map<model::TaskArn, std::string> placed_;  // To the machine's name.
  std::map<std::string, int32_t> tasks_of_;       // By startedBy.
};

}  // namespace

std::unique_ptr<Checker> make_one_run(World& world) {
  return std::make_unique<OneRun>(world);
}

}  // namespace sim
