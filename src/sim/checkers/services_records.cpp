// The tasks of a service are what its records say: made from the revision of a deployment that the
// service has; and DescribeServices counts just those.

#include <algorithm>

#include "sim/checkers/checkers.h"
#include "sim/checkers/service_view.h"
#include "sim/world.h"

namespace sim {
namespace {

class ServicesRecords final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "services_records"; }

  void turned(const Turn& turn) override {
    check(turn.state, turn.now);
    if (!turn.alone) return;
    for (const control::Reply& reply : turn.released.replies) {
      if (!reply.result) continue;
      const auto* const answer = reply.result->get_if<api::ecs::DescribeServicesResponse>();
      if (answer == nullptr) continue;
      for (const api::ecs::Service& service : answer->services) check_counts(turn.state, service);
    }
  }
  void loaded(const model::ClusterState& state) override {
    check(state, world().server().local_now());
  }

 private:
  void check(const model::ClusterState& state, base::Time now) {
    for (const auto& [arn, service] : state.services) {
      if (service.status != model::ServiceStatus::Active) continue;
      const ServiceView view{state, service, world().server().settings(), now};
      for (const model::Task* const task : view.live()) check_source(view, *task);
    }
    for (const auto& [key, tasks] : state.tasks_by_group) {
      if (!key.second.starts_with("service:")) continue;
      const auto& settings = world().server().settings();
      const std::string name = key.second.substr(std::string_view("service:").size());
      const model::Service* const service =
          model::find_service(state, model::service_arn(settings.account, key.first, name));
      if (service != nullptr && service->status != model::ServiceStatus::Inactive) continue;
      for (const model::TaskArn& arn : tasks) {
        const model::Task& task = state.tasks.at(arn);
        if (task.desired_status == model::TaskStatus::Stopped) continue;
        fail(base::format("{} is gone, and its task {} is to run", name, short_name(arn.str())));
      }
    }
  }

  void check_task_set(const ServiceView& view, const model::Task& task) {
    const auto& sets = view.service.task_sets;
    const auto own = std::ranges::find(sets, task.started_by, &model::TaskSet::id);
    if (own == sets.end()) {
      return fail(base::format("task {} of {} was started by {}, which is no task set of it",
                               short_name(task.arn.str()), view.service.name, task.started_by));
    }
    if (task.definition == own->source.task_definition) return;
    fail(base::format("task {} of {} is made from {}, its task set is of {}",
                      short_name(task.arn.str()), view.service.name, task.definition.str(),
                      own->source.task_definition.str()));
  }

  void check_source(const ServiceView& view, const model::Task& task) {
    if (is_external(view.service)) return check_task_set(view, task);
    const auto& deployments = view.service.deployments;
    const auto own = std::ranges::find(deployments, task.started_by, &model::Deployment::id);
    if (own == deployments.end()) {
      return fail(base::format("task {} of {} was started by {}, which the service does not have",
                               short_name(task.arn.str()), view.service.name, task.started_by));
    }
    const auto* const revision = model::find_service_revision(view.state, own->revision);
    if (revision == nullptr) {
      return fail(base::format("deployment {} of {} is of a revision that is not there", own->id,
                               view.service.name));
    }
    if (task.definition == revision->source.task_definition) return;
    fail(base::format("task {} of {} is made from {}, its deployment is of {}",
                      short_name(task.arn.str()), view.service.name, task.definition.str(),
                      revision->source.task_definition.str()));
  }

  void check_counts(const model::ClusterState& state, const api::ecs::Service& told) {
    int32_t running = 0;
    int32_t pending = 0;
    for (const auto& [arn, task] : state.tasks) {
      if (model::service_of(task) != told.service_name ||
          task.last_status == model::TaskStatus::Stopped ||
          task.desired_status == model::TaskStatus::Stopped) {
        continue;
      }
      ++(task.last_status == model::TaskStatus::Running ? running : pending);
    }
    if (told.running_count == running && told.pending_count == pending) return;
    fail(base::format("{} is described with {} running and {} pending task(s), and has {} and {}",
                      told.service_name.value_or(""), told.running_count.value_or(-1),
                      told.pending_count.value_or(-1), running, pending));
  }
};

}  // namespace

std::unique_ptr<Checker> make_services_records(World& world) {
  return std::make_unique<ServicesRecords>(world);
}

}  // namespace sim
