// lastStatus only goes forward: in the state from turn to turn and over reloads, and in what
// clients are told.

#include <map>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class ForwardOnly final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "forward_only"; }

  void loaded(const model::ClusterState& state) override { look(state); }
  void server_disk_lost() override { last_.clear(); }

  void turned(const Turn& turn) override {
    for (const control::Reply& reply : turn.released.replies) {
      // What was answered before a reload is older than what the reload has shown.
      if (!reply.result || turn.released.reloaded) continue;
      if (const auto* described = reply.result->get_if<api::ecs::DescribeTasksResponse>()) {
        for (const api::ecs::Task& task : described->tasks) heard(task);
      } else if (const auto* run = reply.result->get_if<api::ecs::RunTaskResponse>()) {
        for (const api::ecs::Task& task : run->tasks) heard(task);
      }
    }
    look(turn.state);
  }

 private:
  void look(const model::ClusterState& state) {
    for (const auto& [arn, task] : state.tasks) forward(arn, task.last_status, "is");
  }
  void heard(const api::ecs::Task& task) {
    const auto status = model::parse_task_status(task.last_status.value_or(""));
    if (status) forward(model::TaskArn(task.task_arn.value_or("")), *status, "is shown as");
  }
  void forward(const model::TaskArn& arn, model::TaskStatus status, std::string_view how) {
    const auto [last, first] = last_.emplace(arn, status);
    if (status < last->second) {
      fail(base::format("task {} was {} and {} {}", short_name(arn.str()),
                        model::to_string(last->second), how, model::to_string(status)));
    }
    last->second = status;
  }

  std::map<model::TaskArn, model::TaskStatus> last_;
};

}  // namespace

std::unique_ptr<Checker> make_forward_only(World& world) {
  return std::make_unique<ForwardOnly>(world);
}

}  // namespace sim
