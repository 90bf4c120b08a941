#include "sim/checkers/service_view.h"

#include <algorithm>

namespace sim {

bool is_on_lost_instance(const model::ClusterState& state, const control::Settings& settings,
                         const model::Task& task, base::Time now) {
  const auto* const instance = model::find_instance(state, task.instance);
  if (instance == nullptr) return false;  // It waits for one.
  if (instance->status == model::InstanceStatus::Inactive) return true;
  return !instance->agent_connected &&
         instance->connected_changed_at + settings.instance_lost_after <= now;
}

bool is_external(const model::Service& service) {
  return service.controller == api::ecs::DeploymentControllerType::External;
}

const Family* family_of(const Expectations& expectations,
                        const model::TaskDefinitionArn& definition) {
  const std::string& arn = definition.str();  // ".../<family>:<revision>"
  const size_t slash = arn.rfind('/');
  const auto found = expectations.families.find(arn.substr(slash + 1, arn.rfind(':') - slash - 1));
  return found == expectations.families.end() ? nullptr : &found->second;
}

std::vector<const model::Task*> ServiceView::live() const {
  std::vector<const model::Task*> found;
  for (const auto& [arn, task] : state.tasks) {
    if (task.last_status != model::TaskStatus::Stopped &&
        task.desired_status != model::TaskStatus::Stopped && task.cluster == service.cluster &&
        model::service_of(task) == service.name && !is_lost(task)) {
      found.push_back(&task);
    }
  }
  return found;
}

bool ServiceView::is_current(const model::Task& task) const {
  const auto* const instance = model::find_instance(state, task.instance);
  return !service.deployments.empty() && task.started_by == service.deployments.front().id &&
         (instance == nullptr || instance->status == model::InstanceStatus::Active);
}

bool ServiceView::serves(const model::Task& task) const {
  if (task.last_status != model::TaskStatus::Running || !task.started_at || is_lost(task)) {
    return false;
  }
  return !is_current(task) || *task.started_at + settings.service_settle <= now;
}

int32_t ServiceView::serving() const {
  return static_cast<int32_t>(
      std::ranges::count_if(live(), [this](const model::Task* task) { return serves(*task); }));
}

int32_t ServiceView::least() const {
  const int64_t percent =
      service.deployment_configuration.minimum_healthy_percent.value_or(is_daemon() ? 0 : 100);
  return static_cast<int32_t>((service.desired_count * percent + 99) / 100);
}

int32_t ServiceView::most() const {
  const int64_t percent =
      service.deployment_configuration.maximum_percent.value_or(is_daemon() ? 100 : 200);
  return static_cast<int32_t>(service.desired_count * percent / 100);
}

}  // namespace sim
