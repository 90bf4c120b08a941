#include "control/explanation.h"

#include <optional>

#include "base/format.h"
#include "placement/explain.h"

namespace control {
namespace {

// A copy of one cluster in which planned tasks take their places. The step's engine follows it, so
// that what it has learned counts, and is brought back to the real state at the end.
class Rehearsal {
 public:
  Rehearsal(Step& step, const model::ClusterName& cluster) : step_(step) {
    const model::ClusterState& real = step.state();
    for (const auto& [arn, instance] : real.instances) {
      if (instance.cluster == cluster) state_.instances.emplace(arn, instance);
    }
    for (const auto& [arn, task] : real.tasks) {
      if (task.cluster == cluster) state_.tasks.emplace(arn, task);
    }
    for (const auto& [group, tasks] : real.tasks_by_group) {
      if (group.first == cluster) state_.tasks_by_group.emplace(group, tasks);
    }
  }
  ~Rehearsal() {
    for (const model::InstanceArn& arn : touched_)
      step_.engine.instance_changed(step_.state(), arn);
  }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  const model::ClusterState& state() const { return state_; }

  void place(const TaskPlan& plan, const placement::Placement& placement) {
    model::Task task = plan.task;
    task.arn = model::task_arn(step_.settings.account, task.cluster,
                               base::format("rehearsal-{}", touched_.size()));
    task.instance = placement.instance;
    task.held = placement.held;
    model::apply(state_, model::TaskPlaced{std::move(task)});
    touched_.push_back(placement.instance);
    step_.engine.instance_changed(state_, placement.instance);
  }

 private:
  Step& step_;
  model::ClusterState state_;
  std::vector<model::InstanceArn> touched_;
};

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
  std::optional<Rehearsal> rehearsal;
  if (count > 1) rehearsal.emplace(step, plan.request.cluster);
  for (size_t i = 0; i < count; ++i) {
    const placement::Explanation one =
        TRY(explain(rehearsal ? rehearsal->state() : step.state(), i));
    all.push_back(as_answer(one));
    if (rehearsal && one.placement) rehearsal->place(plan, *one.placement);
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

base::Result<Explanations> explain_run(Step& step, const TaskPlan& plan, int32_t count) {
  return explain_all(step, plan, static_cast<size_t>(count),
                     [&](const model::ClusterState& state, size_t) {
                       return placement::explain(step.engine, state, plan.request);
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
  std::string again = "null";
  const auto plan = plan_again(step, task);
  if (plan) {
    const auto explanation = placement::explain(step.engine, step.state(), plan->request);
    if (explanation) {
      text += "If it were started again now, without the constraints of its call:\n" +
              placement::print_text(*explanation);
      again = placement::print_json(*explanation);
    }
  } else {
    text += base::format("It cannot be started again: {}\n", plan.error().message);
  }
  made.document = base::format("{{\"task\":{},\"startedAgain\":{}}}",
                               placement::explain_task_json(step.state(), task.arn), again);
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

}  // namespace control
