#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "base/time.h"
#include "cli/access.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/instances.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/task_lists.h"
#include "cli/task_rows.h"
#include "cli/terminal.h"

namespace cli {
namespace {

constexpr const char* clear_screen = "\033[H\033[2J";

struct TasksCommand {
  std::string data;
  std::string cluster = "default";
  std::string service;
  bool all = false;
  bool json = false;
  bool watch = false;
  int32_t interval_seconds = 2;
};

// Those that were there when they were listed and still are. The others are told as failures by
// the API, and are nothing to tell of here.
base::Result<Tasks> read_tasks(const TasksCommand& options, const Credentials& credentials) {
  const std::vector<std::string> arns =
      TRY(list_task_arns(credentials, options.cluster, options.service));
  Tasks tasks = {};
  for (size_t begin = 0; begin < arns.size(); begin += most_described) {
    api::ecs::DescribeTasksRequest request;
    request.cluster = options.cluster;
    request.include = {api::ecs::TaskField::Tags};
    for (size_t i = begin; i < std::min(arns.size(), begin + most_described); ++i) {
      request.tasks.push_back(arns[i]);
    }
    auto page = TRY(call<api::ecs::DescribeTasksResponse>(credentials, api::ecs_service(),
                                                          "DescribeTasks", request));
    for (api::ecs::Task& task : page.tasks) {
      if (options.all || task.last_status != "STOPPED") tasks.push_back(std::move(task));
    }
  }
  sort_tasks(tasks);
  return tasks;
}

void print_tasks(const TasksCommand& options, const Tasks& tasks, const Instances& instances) {
  if (tasks.empty()) {
    std::puts(base::format("No task {} the cluster {}{}.", options.all ? "is known in" : "runs in",
                           options.cluster,
                           options.all ? "" : "; --all shows those that have stopped, too")
                  .c_str());
    return;
  }
  print_table(task_lines(tasks, instances, base::SystemClock().now()), terminal_width());
}

base::Result<void> show_once(const TasksCommand& options, const Credentials& credentials) {
  Tasks tasks = TRY(read_tasks(options, credentials));
  if (options.json) {
    api::ecs::DescribeTasksResponse all;
    all.tasks = std::move(tasks);
    all.tasks.set_present();
    print_line(api::print(all));
    return {};
  }
  const Instances instances = TRY(read_instances(credentials, options.cluster));
  if (options.watch && ::isatty(STDOUT_FILENO) == 1) std::fputs(clear_screen, stdout);
  print_tasks(options, tasks, instances);
  std::fflush(stdout);
  return {};
}

base::Result<int> show_tasks(const TasksCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  TRY_VOID(show_once(options, credentials));
  while (options.watch) {
    std::this_thread::sleep_for(std::chrono::seconds(options.interval_seconds));
    TRY_VOID(show_once(options, credentials));
  }
  return 0;
}

}  // namespace

void add_tasks(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "tasks",
      "List a cluster's tasks: stage, GPUs, host, and why one waits or has ended. Those that wait "
      "stand in the order of the queue.");
  const auto options = std::make_shared<TasksCommand>();  // Shared by the parser and the action.
  command->add_option("--cluster", options->cluster, "The cluster.")->capture_default_str();
  command->add_option("--service", options->service, "Only this service's tasks.");
  command->add_flag("--all", options->all,
                    "Tasks that have stopped, too: they are kept for an hour.");
  add_access_option(*command, options->data);
  CLI::Option* const json = command->add_flag(
      "--json", options->json, "For programs: as DescribeTasks answers, with Berth's own members.");
  command->add_flag("--watch", options->watch, "Again and again, until Ctrl-C.")->excludes(json);
  command
      ->add_option("--interval", options->interval_seconds, "Seconds between two looks of --watch.")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command->callback([&action, options] { action = [options] { return show_tasks(*options); }; });
}

}  // namespace cli
