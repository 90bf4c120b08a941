// A task whose protection was acknowledged is not stopped by its service before that ends, unless
// its instance is lost or the service is deleted.

#include <map>

#include "sim/checkers/checkers.h"
#include "sim/checkers/service_view.h"
#include "sim/world.h"

namespace sim {
namespace {

class ServicesProtected final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "services_protected"; }

  void called(const SeenCall& call) override {
    if (!call.protection || call.protection->protection_enabled.value_or(false)) return;
    for (const std::string& task : call.protection->tasks) until_.erase(model::TaskArn(task));
  }
  void turned(const Turn& turn) override {
    check(turn.state, turn.now);
    for (const control::Reply& reply : turn.released.replies) {
      const auto call = turn.calls.find(reply.id);
      if (call == turn.calls.end() || !call->second.protection) continue;
      // What is open, and what is taken away, is expected no more.
      for (const std::string& task : call->second.protection->tasks) {
        until_.erase(model::TaskArn(task));
      }
      const auto* const answer =
          reply.result ? reply.result->get_if<api::ecs::UpdateTaskProtectionResponse>() : nullptr;
      if (answer != nullptr && call->second.protection->protection_enabled.value_or(false)) {
        for (const api::ecs::ProtectedTask& task : answer->protected_tasks) note(turn.state, task);
      }
    }
  }
  void loaded(const model::ClusterState& state) override {
    check(state, world().server().local_now());
  }
  void server_disk_lost() override { until_.clear(); }

 private:
  void note(const model::ClusterState& state, const api::ecs::ProtectedTask& answer) {
    const model::TaskArn arn(answer.task_arn.value_or(""));
    const model::Task* const task = model::find_task(state, arn);
    // In the same turn others may have stopped it.
    if (task == nullptr || task->desired_status == model::TaskStatus::Stopped) return;
    if (answer.expiration_date) until_[arn] = *answer.expiration_date;
  }

  void check(const model::ClusterState& state, base::Time now) {
    std::erase_if(until_, [&](const auto& entry) {
      const auto& [arn, until] = entry;
      const model::Task* const task = model::find_task(state, arn);
      if (task == nullptr || until <= now) return true;
      if (task->desired_status != model::TaskStatus::Stopped) return false;
      if (task->stop_code == "ServiceSchedulerInitiated" && !may_stop(state, *task, now)) {
        fail(base::format("task {} is protected for {} s more, and its service has stopped it ({})",
                          short_name(arn.str()), (until - now).count() / 1000,
                          task->stopped_reason));
      }
      return true;
    });
  }

  bool may_stop(const model::ClusterState& state, const model::Task& task, base::Time now) {
    const auto& settings = world().server().settings();
    const model::Service* const service = model::find_service(
        state, model::service_arn(settings.account, task.cluster, model::service_of(task)));
    return service == nullptr || service->status != model::ServiceStatus::Active ||
           ServiceView{state, *service, settings, now}.is_lost(task);
  }

  std::map<model::TaskArn, base::Time> until_;  // On the server's clock.
};

}  // namespace

std::unique_ptr<Checker> make_services_protected(World& world) {
  return std::make_unique<ServicesProtected>(world);
}

}  // namespace sim
