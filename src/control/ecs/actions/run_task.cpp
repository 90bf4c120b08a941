#include "base/format.h"
#include "control/capacity/admission.h"
#include "control/capacity/gang.h"
#include "control/capacity/strategy_rules.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/ecs/explanation.h"
#include "control/request/client_tokens.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/tasks/task_plan.h"
#include "reconcile/queue/tags.h"

namespace control::ecs {
namespace {

base::Result<std::string> launch_type(const api::ecs::RunTaskRequest& request) {
  if (!request.launch_type) return std::string();
  if (request.launch_type == api::ecs::LaunchType::Ec2 ||
      request.launch_type == api::ecs::LaunchType::External) {
    return std::string(api::to_string(*request.launch_type));
  }
  return client_error(base::format(
      "launchType {} runs on machines of AWS; Berth runs tasks on your own with EC2 or EXTERNAL.",
      api::to_string(*request.launch_type)));
}

base::Result<void> check_unsupported(const api::ecs::RunTaskRequest& request) {
  if (!request.volume_configurations.empty()) {
    return client_error("volumeConfigurations needs Amazon EBS, which Berth does not offer.");
  }
  if (request.platform_version && !request.platform_version->empty()) {
    return client_error("platformVersion is for launchType FARGATE, which Berth does not offer.");
  }
  return {};
}

api::ecs::RunTaskResponse answer_again(const Step& step, const model::ClientToken& token) {
  api::ecs::RunTaskResponse response;
  response.tasks.set_present();
  for (const model::TaskArn& arn : token.tasks) {
    const model::Task* const task = model::find_task(step.state(), arn);
    if (task != nullptr) response.tasks.push_back(describe_task(step, *task, true));
  }
  response.failures = token.failures;
  response.failures.set_present();
  return response;
}

struct Plan {
  TaskPlan task;
  Strategy strategy;  // Empty: the tasks go by their launch type.
};

base::Result<Plan> plan(const Step& step, const model::Cluster& cluster,
                        const api::ecs::RunTaskRequest& request) {
  TRY_VOID(check_unsupported(request));
  Plan whole;
  whole.strategy = TRY(strategy_for(step, cluster, request.capacity_provider_strategy,
                                    request.launch_type.has_value()));
  const std::string launch = TRY(launch_type(request));
  const model::TaskDefinition* const definition =
      TRY(require_definition_to_run(step, request.task_definition.value_or("")));
  TaskPlan made =
      TRY(plan_task(step, cluster, *definition,
                    {.overrides = request.overrides,
                     .group = request.group,
                     .started_by = request.started_by,
                     .launch_type = launch,
                     .tags = request.tags,
                     .propagate_definition_tags =
                         request.propagate_tags == api::ecs::PropagateTags::TaskDefinition,
                     .enable_execute_command = request.enable_execute_command.value_or(false),
                     .network_configuration = request.network_configuration}));
  ask_placement(made, request.placement_constraints, request.placement_strategy);
  TRY_VOID(check_placement(made));
  if (names_provider(whole.strategy, model::berth_queue)) {
    (void)TRY(reconcile::queue::read_tags(made.task.tags));
  }
  whole.task = std::move(made);
  return whole;
}

void add_refusals(const std::vector<placement::Refusal>& refusals, RefusalDetails& details,
                  api::ecs::RunTaskResponse& response) {
  for (const placement::Refusal& refusal : refusals) {
    response.failures.push_back(
        failure(refusal.instance.str(), refusal.reason, details.detail_of(refusal)));
  }
}

// berthExplain: what would become of each task. None is started, and no clientToken is used up.
base::Result<api::ecs::RunTaskResponse> explain(Step& step, const model::Cluster& cluster,
                                                const api::ecs::RunTaskRequest& request,
                                                int32_t count) {
  const Plan planned = TRY(plan(step, cluster, request));
  api::ecs::RunTaskResponse response;
  response.tasks.set_present();
  response.failures.set_present();
  std::vector<std::string> providers(static_cast<size_t>(count));
  ProviderCounts counts;
  for (std::string& provider : providers) {
    if (planned.strategy.empty()) continue;
    provider = next_provider(planned.strategy, counts);
    ++counts[provider];
  }
  response.berth_explanation = TRY(explain_run(step, planned.task, providers));
  return response;
}

// A cluster that nothing has joined yet, which is no failure of one task.
base::Result<void> require_instances(const Step& step, const model::Cluster& cluster) {
  const bool any = std::ranges::any_of(step.state().instances, [&](const auto& entry) {
    return entry.second.cluster == cluster.name &&
           entry.second.status != model::InstanceStatus::Inactive;
  });
  if (any) return {};
  return invalid_parameter(base::format(
      "No Container Instances were found in your cluster. Let a machine join {}: `berth token "
      "create` says how.",
      cluster.name.str()));
}

// By launch type: a task that fits nowhere is a failure, and the retry is the caller's job.
void start_tasks(Step& step, const TaskPlan& task_plan, int32_t count,
                 api::ecs::RunTaskResponse& response) {
  RefusalDetails details(step, task_plan);
  for (int32_t i = 0; i < count; ++i) {
    auto placed = step.engine.place(step.state(), task_plan.request, step.random);
    if (!placed) {
      add_refusals(placed.error(), details, response);
      continue;
    }
    const model::Task& task = start_planned_task(step, task_plan, std::move(*placed));
    response.tasks.push_back(describe_task(step, task, true));
  }
}

// All of them at once, or a failure for each.
void start_whole_gang(Step& step, const TaskPlan& task_plan, int32_t count,
                      api::ecs::RunTaskResponse& response) {
  const auto started = start_gang(step, task_plan, count);
  if (started) {
    for (const model::TaskArn& arn : *started) {
      response.tasks.push_back(describe_task(step, *model::find_task(step.state(), arn), true));
    }
    return;
  }
  RefusalDetails details(step, task_plan);
  for (int32_t i = 0; i < count; ++i) add_refusals(started.error(), details, response);
}

// By capacity providers: one that does not fit now is accepted, and waits.
void admit_tasks(Step& step, Plan& planned, int32_t count, api::ecs::RunTaskResponse& response) {
  ProviderCounts counts;
  for (int32_t i = 0; i < count; ++i) {
    const std::string provider = next_provider(planned.strategy, counts);
    ++counts[provider];
    const model::Task& task = admit_task(step, planned.task, provider);
    response.tasks.push_back(describe_task(step, task, true));
  }
}

}  // namespace

Answer<api::ecs::RunTaskResponse> run_task(Step& step, const api::ecs::RunTaskRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "RunTask", cluster->name));
  const int32_t count = request.count.value_or(1);
  if (count < 1 || count > 10) {
    return invalid_parameter(
        base::format("count is {}; one call runs between 1 and 10 tasks.", count));
  }
  if (request.berth_explain.value_or(false)) return explain(step, *cluster, request, count);
  const bool has_token = request.client_token && !request.client_token->empty();
  const std::string hash = has_token ? call_fingerprint(request) : std::string();
  const model::ClientToken* const used =
      TRY(find_client_token(step, cluster->name, request.client_token, hash));
  if (used != nullptr) return answer_again(step, *used);
  Plan planned = TRY(plan(step, *cluster, request));
  if (planned.strategy.empty()) TRY_VOID(require_instances(step, *cluster));
  TRY_VOID(prepare_gang(step, planned.strategy, count, planned.task));
  TRY_VOID(
      check_provisioning_quota(step, cluster->name, planned.strategy, static_cast<size_t>(count)));

  api::ecs::RunTaskResponse response;
  response.tasks.set_present();
  response.failures.set_present();
  if (planned.strategy.empty() && !gang_of(planned.task.task).empty()) {
    start_whole_gang(step, planned.task, count, response);
  } else if (planned.strategy.empty()) {
    start_tasks(step, planned.task, count, response);
  } else {
    admit_tasks(step, planned, count, response);
  }
  if (has_token) {
    model::ClientToken token;
    for (const api::ecs::Task& task : response.tasks) {
      token.tasks.emplace_back(task.task_arn.value_or(""));
    }
    token.cluster = cluster->name;
    token.token = *request.client_token;
    token.operation = "RunTask";
    token.request_hash = hash;
    token.failures = response.failures;
    token.used_at = step.now;
    step.change(model::ClientTokenUsed{std::move(token)});
  }
  return response;
}

}  // namespace control::ecs
