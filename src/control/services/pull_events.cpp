#include "control/services/pull_events.h"

#include <algorithm>
#include <string>

#include "base/format.h"
#include "control/services/carry_out.h"
#include "reconcile/events.h"

namespace control {
namespace {

constexpr base::Milliseconds long_pull = std::chrono::minutes(1);
constexpr base::Milliseconds between_events = std::chrono::minutes(1);
constexpr std::string_view pulling = "PULLING";  // Task::stage.

int64_t seconds(base::Milliseconds time) {
  return std::chrono::floor<std::chrono::seconds>(time).count();
}

bool was_told_lately(const Step& step, const model::Service& service, std::string_view stem) {
  const auto kept = step.state().service_events.find(service.arn);
  if (kept == step.state().service_events.end()) return false;
  return std::ranges::any_of(kept->second.events, [&](const model::ServiceEvent& event) {
    return event.created_at + between_events > step.now && event.message.starts_with(stem);
  });
}

size_t tasks_that_pull(const Step& step, const model::Service& service) {
  const auto* const tasks = model::tasks_of(step.state(), service);
  if (tasks == nullptr) return 0;
  return static_cast<size_t>(std::ranges::count_if(*tasks, [&](const model::TaskArn& arn) {
    return model::find_task(step.state(), arn)->stage == pulling;
  }));
}

}  // namespace

void tell_of_pull(Step& step, const model::Task& task, bool pull_ended) {
  const bool goes_on = task.stage == pulling;
  if (!task.pull_started_at || model::service_of(task).empty() || (!goes_on && !pull_ended)) return;
  const model::Service* const service = model::find_service(
      step.state(),
      model::service_arn(step.settings.account, task.cluster, model::service_of(task)));
  if (service == nullptr || service->inactive_at) return;
  const base::Time until = pull_ended && task.pull_stopped_at ? *task.pull_stopped_at : step.now;
  const base::Milliseconds time = until - *task.pull_started_at;
  if (time < long_pull) return;
  const auto event = pull_ended ? reconcile::pulled_event(*service, task.arn, seconds(time))
                                : reconcile::pulling_event(
                                      *service, tasks_that_pull(step, *service),
                                      {task.arn, seconds(time), task.pull_percent.value_or(0)});
  if (was_told_lately(step, *service, event.stem)) return;
  add_service_event(step, service->arn, event.stem + event.rest);
}

}  // namespace control
