#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "cli/access.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/task_lists.h"
#include "json/value.h"

namespace cli {
namespace {

struct ExplainCommand {
  std::string data;
  std::string target;
  std::string cluster;
  std::vector<std::string> constraints;
  std::vector<std::string> strategies;
  std::string launch_type;
  int32_t count = 1;
  bool json = false;
};

// The task that is meant: an ARN, an id, or the beginning of one. Everything else names a task
// definition, also what could begin an id where no task has it.
base::Result<std::optional<std::string>> task_meant(const ExplainCommand& options,
                                                    const Credentials& credentials) {
  if (is_whole_task_name(options.target)) return options.target;
  if (!may_begin_task_id(options.target)) return std::nullopt;
  auto found = named_task(credentials, options.cluster.empty() ? "default" : options.cluster,
                          options.target);
  if (found) return *found;
  if (found.error().code == "NotFound") return std::nullopt;
  return std::unexpected(found.error());
}

api::ecs::PlacementConstraint constraint_of(const std::string& text) {
  api::ecs::PlacementConstraint made;
  if (text == "distinctInstance") {
    made.type = api::ecs::PlacementConstraintType::DistinctInstance;
  } else {
    made.type = api::ecs::PlacementConstraintType::MemberOf;
    made.expression = text;
  }
  return made;
}

// "random", "binpack:memory", "spread:attribute:ecs.availability-zone".
base::Result<api::ecs::PlacementStrategy> strategy_of(const std::string& text) {
  const size_t colon = text.find(':');
  api::ecs::PlacementStrategy made;
  made.type = api::parse_enum<api::ecs::PlacementStrategyType>(text.substr(0, colon));
  if (!made.type) {
    return base::fail(
        "InvalidParameterException",
        base::format("--strategy {}: it is random, binpack:FIELD or spread:FIELD", text));
  }
  if (colon != std::string::npos) made.field = text.substr(colon + 1);
  return made;
}

base::Result<api::List<api::ecs::BerthExplanation>> ask_of_task(const ExplainCommand& options,
                                                                const std::string& target,
                                                                const Credentials& credentials) {
  api::ecs::DescribeTasksRequest request;
  if (!options.cluster.empty()) {
    request.cluster = options.cluster;
  } else if (target.starts_with("arn:")) {
    // "...:task/<cluster>/<id>".
    const std::string_view path =
        std::string_view(target).substr(target.find(":task/") + std::string_view(":task/").size());
    request.cluster = std::string(path.substr(0, path.find('/')));
  }
  request.tasks = {target};
  request.berth_explain = true;
  auto response = TRY(call<api::ecs::DescribeTasksResponse>(credentials, api::ecs_service(),
                                                            "DescribeTasks", request));
  if (response.tasks.empty()) {
    return base::fail("NotFound",
                      base::format("there is no task {} in the cluster {}; a stopped task is kept "
                                   "for an hour. Name the cluster with --cluster",
                                   target, request.cluster.value_or("default")));
  }
  return std::move(response.berth_explanation);
}

base::Result<api::List<api::ecs::BerthExplanation>> ask_of_definition(
    const ExplainCommand& options, const Credentials& credentials) {
  api::ecs::RunTaskRequest request;
  if (!options.cluster.empty()) request.cluster = options.cluster;
  request.task_definition = options.target;
  request.count = options.count;
  request.berth_explain = true;
  if (!options.launch_type.empty()) {
    request.launch_type = api::parse_enum<api::ecs::LaunchType>(options.launch_type);
  }
  for (const std::string& text : options.constraints) {
    request.placement_constraints.push_back(constraint_of(text));
  }
  for (const std::string& text : options.strategies) {
    request.placement_strategy.push_back(TRY(strategy_of(text)));
  }
  auto response =
      TRY(call<api::ecs::RunTaskResponse>(credentials, api::ecs_service(), "RunTask", request));
  return std::move(response.berth_explanation);
}

// 0 where every task would be placed, or is there.
base::Result<int> exit_code_of(const api::List<api::ecs::BerthExplanation>& explanations) {
  for (const api::ecs::BerthExplanation& one : explanations) {
    const json::Value document = TRY(json::parse(one.document.value_or("")));
    if (!document["placeable"].as_bool().value_or(true)) return 1;
  }
  return 0;
}

void print_explanations(const ExplainCommand& options,
                        const api::List<api::ecs::BerthExplanation>& explanations) {
  std::string text;
  for (size_t i = 0; i < explanations.size(); ++i) {
    const api::ecs::BerthExplanation& one = explanations[i];
    if (i > 0) text += options.json ? "," : "\n";
    if (!options.json && explanations.size() > 1) {
      text += base::format("Task {} of {}\n", i + 1, explanations.size());
    }
    text += options.json ? one.document.value_or("null") : one.text.value_or("");
  }
  if (options.json && explanations.size() > 1) {
    text = base::format("{{\"explanations\":[{}]}}", text);
  }
  if (options.json) text += '\n';
  print_lines(text);
}

base::Result<int> explain(const ExplainCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  const std::optional<std::string> task = TRY(task_meant(options, credentials));
  const auto explanations = task ? TRY(ask_of_task(options, *task, credentials))
                                 : TRY(ask_of_definition(options, credentials));
  if (explanations.empty()) {
    return base::fail(
        "UnsupportedFeatureException",
        base::format("{} does not explain; its server is of another version", credentials.url));
  }
  print_explanations(options, explanations);
  return exit_code_of(explanations);
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "explain",
      "Say where a task would be placed and why, or why it finds no place and the smallest change "
      "that would give it one. Starts nothing. Exit code 1 when it finds no place.");
  const auto options = std::make_shared<ExplainCommand>();  // Shared by the parser and the action.
  command
      ->add_option("target", options->target,
                   "A task definition (family, family:revision or ARN), or a task (id, how it "
                   "begins, or ARN).")
      ->required();
  command->add_option("--cluster", options->cluster, "By default \"default\".");
  command
      ->add_option("--constraint", options->constraints,
                   "A memberOf expression, or distinctInstance. Can be given again.")
      ->allow_extra_args(false);
  command
      ->add_option("--strategy", options->strategies,
                   "random, binpack:FIELD or spread:FIELD. Can be given again; the order counts.")
      ->allow_extra_args(false);
  command->add_option("--launch-type", options->launch_type, "EC2 or EXTERNAL.")
      ->check(CLI::IsMember({"EC2", "EXTERNAL"}));
  command->add_option("--count", options->count, "How many tasks, each after those before it.")
      ->check(CLI::Range(1, 10))
      ->capture_default_str();
  add_access_option(*command, options->data);
  command->add_flag("--json", options->json,
                    "As JSON; with several tasks in a list \"explanations\".");
  command->callback([&action, options] { action = [options] { return explain(*options); }; });
}

}  // namespace cli
