#include "exec/calls.h"

#include <utility>

namespace exec {
namespace {

// Who may execute a command need not be allowed to see how sessions are logged.
auth::Caller for_the_server(auth::Caller caller) {
  caller.access = auth::FullAccess{};
  return caller;
}

}  // namespace

Calls::Calls(CoreAccess core, Relay& relay, std::string url)
    : core_(std::move(core)), relay_(relay), url_(std::move(url)) {}

void Calls::execute_command(api::ecs::ExecuteCommandRequest request, const auth::Caller& caller,
                            Answered answer) {
  api::ecs::DescribeTasksRequest look;
  look.cluster = request.cluster;
  look.tasks.push_back(request.task.value_or(""));
  Asking asking{std::move(request), caller, {}, std::move(answer)};
  core_.ask("DescribeTasks", api::Any::make(std::move(look)), caller,
            [this, asking = std::move(asking)](std::expected<api::Any, base::Error> found) mutable {
              if (!found) return asking.answer(std::move(found));
              const auto& tasks = found->as<api::ecs::DescribeTasksResponse>().tasks;
              if (tasks.empty()) {
                return asking.answer(
                    base::fail("InvalidParameterException", "The referenced task was not found."));
              }
              asking.subject.task = tasks.front();
              look_at_cluster(std::move(asking));
            });
}

void Calls::look_at_cluster(Asking asking) {
  api::ecs::DescribeClustersRequest look;
  look.clusters.push_back(asking.subject.task.cluster_arn.value_or(""));
  look.include.push_back(api::ecs::ClusterField::Configurations);
  const auth::Caller caller = for_the_server(asking.caller);
  core_.ask("DescribeClusters", api::Any::make(std::move(look)), caller,
            [this, asking = std::move(asking)](std::expected<api::Any, base::Error> found) mutable {
              if (!found) return asking.answer(std::move(found));
              const auto& clusters = found->as<api::ecs::DescribeClustersResponse>().clusters;
              if (clusters.empty()) {
                return asking.answer(base::fail("ClusterNotFoundException", "Cluster not found."));
              }
              asking.subject.configuration = clusters.front().configuration;
              if (logs_as_containers_do(asking.subject.configuration)) {
                return look_at_definition(std::move(asking));
              }
              start(std::move(asking));
            });
}

void Calls::look_at_definition(Asking asking) {
  api::ecs::DescribeTaskDefinitionRequest look;
  look.task_definition = asking.subject.task.task_definition_arn;
  const auth::Caller caller = for_the_server(asking.caller);
  core_.ask("DescribeTaskDefinition", api::Any::make(std::move(look)), caller,
            [this, asking = std::move(asking)](std::expected<api::Any, base::Error> found) mutable {
              if (!found) return asking.answer(std::move(found));
              asking.subject.definition =
                  found->as<api::ecs::DescribeTaskDefinitionResponse>().task_definition;
              start(std::move(asking));
            });
}

void Calls::start(Asking asking) {
  auto plan = plan_session(asking.request, asking.subject, asking.caller.arn, url_);
  if (!plan) return asking.answer(base::fail(plan.error()));
  if (!relay_.expect(std::move(plan->session)) || !core_.give_order(std::move(plan->order))) {
    return asking.answer(base::fail(core_.busy));
  }
  asking.answer(api::Any::make(std::move(plan->response)));
}

}  // namespace exec
