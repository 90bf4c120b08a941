#include "api/json.h"
#include "base/format.h"
#include "control/actions/actions.h"
#include "control/client_tokens.h"
#include "control/describe.h"
#include "control/errors.h"
#include "control/explanation.h"
#include "control/lookup.h"
#include "control/task_plan.h"

namespace control {
namespace {

using Request = api::ecs::RunTaskRequest;
using Response = api::ecs::RunTaskResponse;

base::Result<std::string> launch_type(const Request& request) {
  if (!request.capacity_provider_strategy.empty()) {
    return client_error(
        "capacityProviderStrategy is not offered by this version of Berth: leave it out, or name a "
        "launchType.");
  }
  if (!request.launch_type) return std::string();
  if (request.launch_type == api::ecs::LaunchType::Ec2 ||
      request.launch_type == api::ecs::LaunchType::External) {
    return std::string(api::to_string(*request.launch_type));
  }
  return client_error(base::format(
      "launchType {} runs on machines of AWS; Berth runs tasks on your own with EC2 or EXTERNAL.",
      api::to_string(*request.launch_type)));
}

base::Result<void> check_unsupported(const Request& request) {
  if (!request.volume_configurations.empty()) {
    return client_error("volumeConfigurations needs Amazon EBS, which Berth does not offer.");
  }
  if (request.platform_version && !request.platform_version->empty()) {
    return client_error("platformVersion is for launchType FARGATE, which Berth does not offer.");
  }
  return {};
}

std::string fingerprint(Request request) {
  request.client_token.reset();
  return request_fingerprint(api::print(request));
}

Response answer_again(const Step& step, const model::ClientToken& token) {
  Response response;
  response.tasks.set_present();
  for (const model::TaskArn& arn : token.tasks) {
    const model::Task* const task = model::find_task(step.state(), arn);
    if (task != nullptr) response.tasks.push_back(describe_task(step, *task, true));
  }
  response.failures = token.failures;
  response.failures.set_present();
  return response;
}

base::Result<TaskPlan> plan(const Step& step, const model::Cluster& cluster,
                            const Request& request) {
  TRY_VOID(check_unsupported(request));
  const std::string launch = TRY(launch_type(request));
  const model::TaskDefinition* const definition =
      TRY(require_task_definition(step, request.task_definition.value_or("")));
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
  for (const auto& constraint : request.placement_constraints) {
    made.request.constraints.push_back(constraint);
  }
  made.request.strategies = request.placement_strategy;
  TRY_VOID(placement::validate(made.request.constraints, made.request.strategies));
  return made;
}

void add_refusals(const std::vector<placement::Refusal>& refusals, RefusalDetails& details,
                  Response& response) {
  for (const placement::Refusal& refusal : refusals) {
    response.failures.push_back(
        failure(refusal.instance.str(), refusal.reason, details.detail_of(refusal)));
  }
}

// berthExplain: what would become of each task. None is started, and no clientToken is used up.
base::Result<Response> explain(Step& step, const model::Cluster& cluster, const Request& request,
                               int32_t count) {
  const TaskPlan task_plan = TRY(plan(step, cluster, request));
  Response response;
  response.tasks.set_present();
  response.failures.set_present();
  response.berth_explanation = TRY(explain_run(step, task_plan, count));
  return response;
}

}  // namespace

Answer<Response> run_task(Step& step, const Request& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "RunTask", cluster->name));
  const int32_t count = request.count.value_or(1);
  if (count < 1 || count > 10) {
    return invalid_parameter(
        base::format("count is {}; one call runs between 1 and 10 tasks.", count));
  }
  if (request.berth_explain.value_or(false)) return explain(step, *cluster, request, count);
  const bool has_token = request.client_token && !request.client_token->empty();
  const std::string hash = has_token ? fingerprint(request) : std::string();
  const model::ClientToken* const used =
      TRY(find_client_token(step, cluster->name, request.client_token, hash));
  if (used != nullptr) return answer_again(step, *used);
  const TaskPlan task_plan = TRY(plan(step, *cluster, request));

  Response response;
  response.tasks.set_present();
  response.failures.set_present();
  model::ClientToken token;
  RefusalDetails details(step, task_plan);
  for (int32_t i = 0; i < count; ++i) {
    auto placed = step.engine.place(step.state(), task_plan.request, step.random);
    if (!placed) {
      add_refusals(placed.error(), details, response);
      continue;
    }
    const model::Task& task = start_planned_task(step, task_plan, std::move(*placed));
    token.tasks.push_back(task.arn);
    response.tasks.push_back(describe_task(step, task, true));
  }
  if (has_token) {
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

}  // namespace control
