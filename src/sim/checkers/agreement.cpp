// In the end the server, each agent, its journal and its machine say the same of every task.

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class Agreement final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "agreement"; }

  void at_rest() override {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return;
    for (const auto& agent : world().agents()) {
      if (agent->has_ended()) continue;
      if (agent->core() == nullptr) {
        fail(base::format("the agent of {} is down", agent->name()));
        continue;
      }
      check_tasks(*agent, *state);
      check_journal(*agent);
    }
  }

 private:
  void check_tasks(const Agent& agent, const model::ClusterState& state) {
    for (const auto& [arn, task] : agent.core()->tasks()) {
      const model::Task* const known = model::find_task(state, model::TaskArn(arn));
      if (known == nullptr) continue;  // Forgotten by the server in due time.
      const bool stopped = known->last_status == model::TaskStatus::Stopped;
      if (stopped == task.all_stopped()) continue;
      fail(base::format("task {} is {} for the server and {} for the agent of {}", short_name(arn),
                        model::to_string(known->last_status),
                        task.all_stopped() ? "stopped" : "alive", agent.name()));
    }
    for (const auto& [id, container] : agent.machine().containers()) {
      if (container.status != agent::core::RuntimeStatus::Running) continue;
      fail(base::format("container {} of task {} still runs on {}", container.container_name,
                        short_name(container.task_arn), agent.name()));
    }
  }

  void check_journal(const Agent& agent) {
    size_t tasks = 0;
    for (const auto& [key, value] : agent.journal()) {
      if (!key.starts_with("task/")) continue;
      ++tasks;
      if (agent.core()->tasks().contains(key.substr(5))) continue;
      fail(base::format("the journal of {} has {}, its agent does not", agent.name(), key));
    }
    if (tasks == agent.core()->tasks().size()) return;
    fail(base::format("the agent of {} has {} task(s), its journal {}", agent.name(),
                      agent.core()->tasks().size(), tasks));
  }
};

}  // namespace

std::unique_ptr<Checker> make_agreement(World& world) {
  return std::make_unique<Agreement>(world);
}

}  // namespace sim
