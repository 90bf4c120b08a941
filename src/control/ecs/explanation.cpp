#include "control/ecs/explanation.h"

#include <optional>

#include "api/json.h"
#include "base/format.h"
#include "control/capacity/queue_explain.h"
#include "control/capacity/waiting.h"
#include "placement/explain.h"
#include "placement/rehearsal.h"

namespace control::ecs {
namespace {

api::ecs::BerthExplanation as_answer(const placement::Explanation& explanation) {
  api::ecs::BerthExplanation made;
  made.text = placement::print_text(explanation);
  made.document = placement::print_json(explanation);
  return made;
}

// Explains task after task; `explain` does one in a given state. One alone needs no copy.
template <class Explain>
base::Result<Explanations> explain_all(Step& step, const TaskPlan& plan, size_t count,
                                       Explain explain) {
  Explanations all;
  std::optional<placement::Rehearsal> rehearsal;
  if (count > 1) rehearsal.emplace(step.engine, step.state(), plan.request.cluster);
  for (size_t i = 0; i < count; ++i) {
    const placement::Explanation one =
        TRY(explain(rehearsal ? rehearsal->state() : step.state(), i));
    all.push_back(as_answer(one));
    if (!rehearsal || !one.placement) continue;
    model::Task task = plan.task;
    task.arn =
        model::task_arn(step.settings.account, task.cluster, base::format("rehearsal-{}", i));
    rehearsal->place(std::move(task), *one.placement);
  }
  return all;
}

// What the task would be if it were planned again, from what is kept of it.
base::Result<TaskPlan> plan_again(const Step& step, const model::Task& task) {
  const model::Cluster* const cluster = model::find_cluster(step.state(), task.cluster);
  const model::TaskDefinition* const definition =
      model::find_task_definition(step.state(), task.definition);
  CHECK(cluster != nullptr);
  if (definition == nullptr) return base::fail("ClientException", "Its definition is gone.");
  TaskPlan plan = TRY(plan_task(step, *cluster, *definition,
                                {.overrides = task.overrides,
                                 .group = std::nullopt,
                                 .started_by = std::nullopt,
                                 .launch_type = task.launch_type,
                                 .tags = {}}));
  plan.request.group = task.group;
  return plan;
}

}  // namespace

base::Result<Explanations> explain_run(Step& step, const TaskPlan& plan,
                                       const std::vector<std::string>& capacity_providers) {
  placement::Request request = plan.request;
  return explain_all(step, plan, capacity_providers.size(),
                     [&](const model::ClusterState& state, size_t i) {
                       request.capacity_provider = capacity_providers[i];
                       return placement::explain(step.engine, state, request);
                     });
}

Explanations explain_start(Step& step, const TaskPlan& plan,
                           const std::vector<model::InstanceArn>& instances) {
  auto all =
      explain_all(step, plan, instances.size(), [&](const model::ClusterState& state, size_t i) {
        return base::Result<placement::Explanation>(
            placement::explain_on(step.engine, state, plan.request, instances[i]));
      });
  CHECK(all.has_value());
  return std::move(*all);
}

api::ecs::BerthExplanation explain_held(Step& step, const model::Task& task) {
  api::ecs::BerthExplanation made;
  made.task_arn = task.arn.str();
  std::string text = placement::explain_task(step.state(), task.arn);
  std::string queue = "null";
  std::string again = "null";
  if (waits_in_queue(task)) {
    text = print_queue_text(step, task);
    queue = api::print(describe_queue(step, task));
  }
  const auto plan = task.waiting ? plan_waiting_task(step, task) : plan_again(step, task);
  if (plan) {
    const auto explanation = placement::explain(step.engine, step.state(), plan->request);
    if (explanation) {
      if (waits_in_queue(task)) {
        text += "If nobody stood before it:\n";
      } else if (!task.waiting) {
        text += "If it were started again now, without the constraints of its call:\n";
      }
      text += placement::print_text(*explanation);
      again = placement::print_json(*explanation);
    }
  } else {
    text += base::format("It cannot be started again: {}\n", plan.error().message);
  }
  made.document = base::format("{{\"task\":{},\"queue\":{},\"startedAgain\":{}}}",
                               placement::explain_task_json(step.state(), task.arn), queue, again);
  made.text = std::move(text);
  return made;
}

bool RefusalDetails::is_large() const {
  const auto& all = step_.state().instances;
  if (all.size() <= most_instances_explained) return false;
  size_t count = 0;
  for (const auto& [arn, instance] : all) count += instance.cluster == plan_.request.cluster;
  return count > most_instances_explained;
}

std::string RefusalDetails::detail_of(const placement::Refusal& refusal) {
  const std::string key = refusal.instance.str() + "\n" + refusal.detail;
  if (key == refused_) return detail_;
  refused_ = key;
  if (is_large()) {
    detail_ = placement::print_brief(refusal, {}, most_detail_bytes);
    return detail_;
  }
  const auto explanation = placement::explain(step_.engine, step_.state(), plan_.request);
  detail_ = explanation ? placement::print_brief(refusal, *explanation, most_detail_bytes)
                        : refusal.detail;
  return detail_;
}

}  // namespace control::ecs
