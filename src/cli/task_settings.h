// How an agent treats images, containers and files of tasks: the options that `berth up` and
// `berth agent` have in common. Each is also read from the variable of the official agent.
// Source: ECS Developer Guide, "Amazon ECS container agent configuration".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent.h"
#include "base/result.h"
#include "base/time.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name.
class App;
}

namespace cli {

// As given; empty: the default.
struct TaskSettings {
  std::string pull_behavior;
  std::string cleanup_wait;
  std::string stop_timeout;
  std::string gpu_release_timeout;
  std::string metrics_interval;
  int64_t pids_limit = agent::AgentOptions{}.pids_limit;
  std::string image_cleanup_interval;
  std::string image_minimum_age;
  int images_per_cleanup = 5;
  int disk_pressure_percent = 85;
  bool no_image_cleanup = false;
  std::string s3_endpoint;
  std::string ecr_endpoint;
  bool adopt_data = false;
  std::string profile;
  std::string container_log_size = agent::AgentOptions{}.container_log_size;
  std::vector<std::string> allow;
  bool allow_instance_metadata = false;
};

// `settings` outlives the parsing.
void add_task_settings(CLI::App& command, TaskSettings& settings);

// Errors: InvalidParameterException naming the option.
base::Result<void> apply_task_settings(const TaskSettings& settings, agent::AgentOptions& options);

// "90s", "10m", "1h30m", "1.5h", "500ms". Errors: InvalidParameterException.
base::Result<base::Milliseconds> parse_duration(std::string_view text);

}  // namespace cli
