// What was acknowledged about a task set is never forgotten: that it is there, its scale, that it
// is PRIMARY, that it was deleted.

#include <algorithm>
#include <map>
#include <optional>

#include "sim/checkers/checkers.h"
#include "sim/checkers/open_calls.h"
#include "sim/world.h"

namespace sim {
namespace {

struct TaskSetPromise {
  bool deleted = false;
  std::optional<double> percent;
};

// Of one service.
struct Promises {
  base::Time made_at;                          // The service: one of the same name is another one.
  std::map<std::string, TaskSetPromise> sets;  // By ARN.
  std::string primary;                         // ARN.
};

class TaskSetsKept final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "task_sets_kept"; }

  void called(const SeenCall& call) override { open_.called(call.id, call.task_sets_of); }
  void turned(const Turn& turn) override {
    for (const control::Reply& reply : turn.released.replies) {
      open_.answered(reply.id);
      const auto call = turn.calls.find(reply.id);
      if (call == turn.calls.end() || call->second.task_sets_of.empty()) continue;
      if (reply.result) {
        note(turn.state, call->second, *reply.result);
      } else if (reply.result.error().code == "ServerException") {
        promises_.erase(call->second.task_sets_of);  // It may have taken effect.
      }
    }
    check(turn.state);
  }
  void loaded(const model::ClusterState& state) override {
    open_.release(promises_);
    check(state);
  }
  void server_disk_lost() override { promises_.clear(); }

 private:
  const model::Service* find(const model::ClusterState& state, const std::string& name) {
    const model::Service* const service =
        model::find_service(state, model::service_arn(world().server().settings().account,
                                                      model::ClusterName("default"), name));
    const bool active = service != nullptr && service->status == model::ServiceStatus::Active;
    return active ? service : nullptr;
  }

  void note(const model::ClusterState& state, const SeenCall& call, const api::Any& answer) {
    const model::Service* const service = find(state, call.task_sets_of);
    if (service == nullptr) return;  // Deleted in the same turn.
    Promises& promises = promises_[call.task_sets_of];
    if (promises.made_at != service->created_at) {
      promises = {};
      promises.made_at = service->created_at;
    }
    if (const auto* made = answer.get_if<api::ecs::CreateTaskSetResponse>()) {
      TaskSetPromise& promise = promises.sets[made->task_set->task_set_arn.value_or("")];
      promise.percent = made->task_set->scale->value;
    } else if (const auto* scaled = answer.get_if<api::ecs::UpdateTaskSetResponse>()) {
      promises.sets[scaled->task_set->task_set_arn.value_or("")].percent =
          call.update_task_set->scale->value;
    } else if (const auto* first = answer.get_if<api::ecs::UpdateServicePrimaryTaskSetResponse>()) {
      promises.primary = first->task_set->task_set_arn.value_or("");
    } else if (const auto* gone = answer.get_if<api::ecs::DeleteTaskSetResponse>()) {
      const std::string arn = gone->task_set->task_set_arn.value_or("");
      promises.sets[arn].deleted = true;
      if (promises.primary == arn) promises.primary.clear();
    }
  }

  void check(const model::ClusterState& state) {
    std::erase_if(promises_, [&](const auto& entry) {
      const model::Service* const service = find(state, entry.first);
      return service == nullptr || service->created_at != entry.second.made_at;
    });
    for (const auto& [name, promises] : promises_) {
      const model::Service& service = *find(state, name);
      for (const auto& [arn, promise] : promises.sets) check(service, arn, promise);
      const model::TaskSet* const primary = find_set(service, promises.primary);
      if (promises.primary.empty() || (primary != nullptr && primary->primary)) continue;
      fail(base::format("task set {} of {} was made the PRIMARY one, which is forgotten",
                        short_name(promises.primary), name));
    }
  }

  static const model::TaskSet* find_set(const model::Service& service, const std::string& arn) {
    const auto found = std::ranges::find_if(service.task_sets, [&](const model::TaskSet& set) {
      return model::task_set_arn(service.arn, set.id) == arn;
    });
    return found == service.task_sets.end() ? nullptr : &*found;
  }

  void check(const model::Service& service, const std::string& arn, const TaskSetPromise& promise) {
    const model::TaskSet* const set = find_set(service, arn);
    const bool is_there = set != nullptr && !set->draining;
    if (promise.deleted) {
      if (!is_there) return;
      return fail(base::format("that task set {} of {} was deleted is forgotten", short_name(arn),
                               service.name));
    }
    if (!is_there) {
      return fail(base::format("task set {} of {} was acknowledged and is {}", short_name(arn),
                               service.name, set == nullptr ? "forgotten" : "being deleted"));
    }
    if (!promise.percent || set->scale_percent == *promise.percent) return;
    fail(base::format("task set {} of {} was told to have {} %, which was acknowledged, and has {}",
                      short_name(arn), service.name, *promise.percent, set->scale_percent));
  }

  std::map<std::string, Promises> promises_;  // By the service's name.
  OpenCalls open_;
};

}  // namespace

std::unique_ptr<Checker> make_task_sets_kept(World& world) {
  return std::make_unique<TaskSetsKept>(world);
}

}  // namespace sim
