#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "base/time.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/output.h"
#include "cli/table.h"
#include "model/ids.h"

namespace cli {
namespace {

struct TasksCommand {
  std::string data = default_data_dir().string();
  std::string cluster = "default";
  std::string service;
  bool all = false;
  bool json = false;
};

using Tasks = api::List<api::ecs::Task>;

std::string id_of(const std::optional<std::string>& arn) {
  return arn ? std::string(model::short_id(*arn)) : "-";
}

base::Result<void> list_tasks(const TasksCommand& options, const Credentials& credentials,
                              api::ecs::DesiredStatus desired, std::vector<std::string>& arns) {
  std::optional<std::string> token;
  do {
    api::ecs::ListTasksRequest request;
    request.cluster = options.cluster;
    if (!options.service.empty()) request.service_name = options.service;
    request.desired_status = desired;
    request.next_token = token;
    const auto page = TRY(
        call<api::ecs::ListTasksResponse>(credentials, api::ecs_service(), "ListTasks", request));
    arns.insert(arns.end(), page.task_arns.begin(), page.task_arns.end());
    token = page.next_token;
  } while (token && !token->empty());
  return {};
}

// Those that were there when they were listed and still are, oldest first. The others are told as
// failures by the API, and are nothing to tell of here.
base::Result<Tasks> read_tasks(const TasksCommand& options, const Credentials& credentials) {
  std::vector<std::string> arns;
  TRY_VOID(list_tasks(options, credentials, api::ecs::DesiredStatus::Running, arns));
  TRY_VOID(list_tasks(options, credentials, api::ecs::DesiredStatus::Stopped, arns));
  Tasks tasks = {};
  for (size_t begin = 0; begin < arns.size(); begin += most_described) {
    api::ecs::DescribeTasksRequest request;
    request.cluster = options.cluster;
    for (size_t i = begin; i < std::min(arns.size(), begin + most_described); ++i) {
      request.tasks.push_back(arns[i]);
    }
    auto page = TRY(call<api::ecs::DescribeTasksResponse>(credentials, api::ecs_service(),
                                                          "DescribeTasks", request));
    for (api::ecs::Task& task : page.tasks) {
      if (options.all || task.last_status != "STOPPED") tasks.push_back(std::move(task));
    }
  }
  std::ranges::sort(tasks, {}, [](const api::ecs::Task& one) {
    return std::make_pair(one.created_at, one.task_arn);
  });
  return tasks;
}

std::string status_of(const api::ecs::Task& task) {
  std::string status = task.last_status.value_or("");
  if (task.desired_status == "STOPPED" && status != "STOPPED") status += " (to stop)";
  if (task.berth_stage) status += ", " + *task.berth_stage;
  if (task.berth_pull_percent) status += base::format(" {} %", *task.berth_pull_percent);
  return status;
}

std::string gpus_of(const api::ecs::Task& task) {
  size_t whole = 0;
  int64_t shared_mib = 0;
  for (const api::ecs::Container& container : task.containers) {
    if (!container.gpu_sharing_strategy) {
      whole += container.gpu_ids.size();
      continue;
    }
    for (const auto& gpu : container.berth_gpus) shared_mib += gpu.memory_mib.value_or(0);
  }
  std::string text = whole > 0 ? base::format("{}", whole) : std::string();
  if (shared_mib > 0) {
    text += base::format("{}{} MiB", text.empty() ? "" : " and ", shared_mib);
  }
  return text.empty() ? "-" : text;
}

std::string age_of(const api::ecs::Task& task, base::Time now) {
  if (!task.created_at) return "-";
  using namespace std::chrono;
  const auto age = std::max(floor<seconds>(now - *task.created_at), seconds(0));
  if (age < minutes(2)) return base::format("{} s", age.count());
  if (age < hours(2)) return base::format("{} min", floor<minutes>(age).count());
  return age < days(2) ? base::format("{} h", floor<hours>(age).count())
                       : base::format("{} days", floor<days>(age).count());
}

// Exit codes and reasons of containers that have ended, after the task's own.
std::string end_of(const api::ecs::Task& task) {
  std::string text = task.stopped_reason.value_or("");
  for (const api::ecs::Container& container : task.containers) {
    if (!container.exit_code && !container.reason) continue;
    text += text.empty() ? "" : "; ";
    text += container.name.value_or("");
    if (container.exit_code) text += base::format(" ended with {}", *container.exit_code);
    if (container.reason) text += ": " + *container.reason;
  }
  return text;
}

std::string why(const api::ecs::Task& task) {
  std::string text;
  if (task.berth_queue) {
    const api::ecs::BerthQueue& queue = *task.berth_queue;
    if (queue.position) {
      text = base::format("position {} of {}: ", *queue.position, queue.length.value_or(0));
    }
    text += queue.reason.value_or("");
    if (queue.detail && !queue.detail->empty()) text += ". " + *queue.detail;
  } else {
    text = end_of(task);
  }
  return text.empty() ? "-" : text;
}

Line task_line(const api::ecs::Task& task, base::Time now) {
  return {id_of(task.task_arn),
          id_of(task.task_definition_arn),
          task.group.value_or("-"),
          status_of(task),
          gpus_of(task),
          id_of(task.container_instance_arn),
          age_of(task, now),
          why(task)};
}

base::Result<int> show_tasks(const TasksCommand& options) {
  const Credentials credentials = TRY(read_credentials(options.data));
  Tasks tasks = TRY(read_tasks(options, credentials));
  if (options.json) {
    api::ecs::DescribeTasksResponse all;
    all.tasks = std::move(tasks);
    all.tasks.set_present();
    print_line(api::print(all));
    return 0;
  }
  if (tasks.empty()) {
    std::puts(base::format("No task {} the cluster {}{}.", options.all ? "is known in" : "runs in",
                           options.cluster,
                           options.all ? "" : "; --all shows those that have stopped, too")
                  .c_str());
    return 0;
  }
  std::vector<Line> lines{
      {"TASK", "DEFINITION", "GROUP", "STATUS", "GPUS", "INSTANCE", "AGE", "WHY"}};
  const base::Time now = base::SystemClock().now();
  for (const api::ecs::Task& task : tasks) lines.push_back(task_line(task, now));
  print_table(lines);
  return 0;
}

}  // namespace

void add_tasks(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "tasks", "List a cluster's tasks: stage, GPUs, and why one waits or has ended.");
  const auto options = std::make_shared<TasksCommand>();  // Shared by the parser and the action.
  command->add_option("--cluster", options->cluster, "The cluster.")->capture_default_str();
  command->add_option("--service", options->service, "Only this service's tasks.");
  command->add_flag("--all", options->all,
                    "Tasks that have stopped, too: they are kept for an hour.");
  command->add_option("--data", options->data, "The server's directory.")->capture_default_str();
  command->add_flag("--json", options->json,
                    "For programs: as DescribeTasks answers, with Berth's own members.");
  command->callback([&action, options] { action = [options] { return show_tasks(*options); }; });
}

}  // namespace cli
