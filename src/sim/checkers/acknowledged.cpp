// An acknowledged call is never forgotten, whatever dies afterwards.

#include <map>
#include <set>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class Acknowledged final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "acknowledged"; }

  void turned(const Turn& turn) override {
    for (const auto& [arn, task] : turn.state.tasks) {
      if (task.stopped_at) stopped_at_[arn] = *task.stopped_at;
    }
    for (const auto& [arn, instance] : turn.state.instances) {
      // Those that are INACTIVE are kept for a while only.
      if (instance.status == model::InstanceStatus::Inactive) inactive_.insert(arn);
    }
    for (const control::Reply& reply : turn.released.replies) {
      const auto call = turn.calls.find(reply.id);
      if (reply.result && call != turn.calls.end()) note(call->second, *reply.result);
    }
    check(turn.state, turn.now);
  }
  void loaded(const model::ClusterState& state) override {
    check(state, world().server().local_now());
  }
  void server_disk_lost() override {
    tasks_.clear();
    stops_.clear();
    reported_.clear();
    clusters_.clear();
    definitions_.clear();
    instances_.clear();
    stopped_at_.clear();
  }

 private:
  void note(const SeenCall& call, const api::Any& answer) {
    if (const auto* run = answer.get_if<api::ecs::RunTaskResponse>()) {
      for (const api::ecs::Task& task : run->tasks) {
        tasks_.insert(model::TaskArn(task.task_arn.value_or("")));
      }
    } else if (call.stop_task) {
      stops_.insert(model::TaskArn(call.stop_task->task.value_or("")));
    } else if (call.report && call.report->status) {
      const auto status = model::parse_task_status(*call.report->status);
      const model::TaskArn arn(call.report->task.value_or(""));
      if (status && reported_[arn] < *status) reported_[arn] = *status;
    } else if (const auto* made = answer.get_if<api::ecs::CreateClusterResponse>()) {
      clusters_.insert(model::ClusterName(made->cluster->cluster_name.value_or("")));
    } else if (const auto* defined = answer.get_if<api::ecs::RegisterTaskDefinitionResponse>()) {
      definitions_.insert(
          model::TaskDefinitionArn(defined->task_definition->task_definition_arn.value_or("")));
    } else if (const auto* joined = answer.get_if<api::ecs::RegisterContainerInstanceResponse>()) {
      instances_.insert(
          model::InstanceArn(joined->container_instance->container_instance_arn.value_or("")));
    }
  }

  void check(const model::ClusterState& state, base::Time now) {
    // Once a task was forgotten in due time it stays so, whatever becomes of the clock.
    std::erase_if(tasks_, [&](const model::TaskArn& arn) {
      return model::find_task(state, arn) == nullptr && is_expired(arn, now);
    });
    for (const model::TaskArn& arn : tasks_) {
      if (model::find_task(state, arn) != nullptr) continue;
      fail(base::format("task {} was acknowledged by RunTask and is forgotten",
                        short_name(arn.str())));
    }
    for (const model::TaskArn& arn : stops_) {
      const model::Task* const task = model::find_task(state, arn);
      if (task == nullptr || task->desired_status == model::TaskStatus::Stopped) continue;
      fail(base::format("StopTask of task {} was acknowledged and is forgotten",
                        short_name(arn.str())));
    }
    for (const auto& [arn, status] : reported_) {
      const model::Task* const task = model::find_task(state, arn);
      if (task == nullptr || task->last_status >= status) continue;
      fail(base::format("the report {} of task {} was acknowledged and is forgotten",
                        model::to_string(status), short_name(arn.str())));
    }
    for (const model::ClusterName& name : clusters_) {
      if (model::find_cluster(state, name) == nullptr) {
        fail(base::format("cluster {} was acknowledged and is forgotten", name.str()));
      }
    }
    for (const model::TaskDefinitionArn& arn : definitions_) {
      if (model::find_task_definition(state, arn) == nullptr) {
        fail(base::format("task definition {} was acknowledged and is forgotten", arn.str()));
      }
    }
    for (const model::InstanceArn& arn : instances_) {
      const model::ContainerInstance* const instance = model::find_instance(state, arn);
      if (instance != nullptr || inactive_.contains(arn)) continue;
      fail(base::format("instance {} was acknowledged and is forgotten", short_name(arn.str())));
    }
  }

  // Stopped tasks are kept for a while only.
  bool is_expired(const model::TaskArn& arn, base::Time now) {
    const auto stopped = stopped_at_.find(arn);
    if (stopped == stopped_at_.end()) return false;
    return stopped->second + world().server().settings().stopped_task_kept <= now;
  }

  std::set<model::TaskArn> tasks_;
  std::set<model::TaskArn> stops_;
  std::map<model::TaskArn, model::TaskStatus> reported_;
  std::set<model::ClusterName> clusters_;
  std::set<model::TaskDefinitionArn> definitions_;
  std::set<model::InstanceArn> instances_;
  std::set<model::InstanceArn> inactive_;
  std::map<model::TaskArn, base::Time> stopped_at_;
};

}  // namespace

std::unique_ptr<Checker> make_acknowledged(World& world) {
  return std::make_unique<Acknowledged>(world);
}

}  // namespace sim
