#include "cli/task_settings.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(TaskSettings, durations_are_read_as_the_official_agent_reads_them) {
  const std::vector<std::pair<std::string, int64_t>> table{
      {"90s", 90'000}, {"10m", 600'000}, {"1h30m", 5'400'000}, {"1.5h", 5'400'000}, {"500ms", 500}};
  for (const auto& [text, milliseconds] : table) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->count(), milliseconds) << text;
  }
  for (const std::string text : {"", "10", "s", "1d", "-5s", "1h30", "1e99h"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(TaskSettings, without_settings_the_defaults_of_the_agent_stand) {
  agent::AgentOptions options;
  const agent::AgentOptions before;
  ASSERT_TRUE(apply_task_settings({}, options));
  EXPECT_EQ(options.pull_behavior, before.pull_behavior);
  EXPECT_EQ(options.cleanup_wait, before.cleanup_wait);
  EXPECT_EQ(options.stop_timeout, before.stop_timeout);
  EXPECT_EQ(options.gpu_release_timeout, before.gpu_release_timeout);
  EXPECT_EQ(options.metrics_interval, before.metrics_interval);
  EXPECT_EQ(options.cleanup.most_images, before.cleanup.most_images);
  EXPECT_EQ(options.cleanup.disk_percent, before.cleanup.disk_percent);
  EXPECT_EQ(options.pids_limit, before.pids_limit);
}

TEST(TaskSettings, the_size_of_a_containers_log_is_read_as_docker_reads_it) {
  for (const char* text : {"500k", "100m", "1g"}) {
    agent::AgentOptions options;
    TaskSettings settings;
    settings.container_log_size = text;
    ASSERT_TRUE(apply_task_settings(settings, options)) << text;
    EXPECT_EQ(options.container_log_size, text);
  }
  agent::AgentOptions options;
  TaskSettings settings;
  settings.container_log_size = "0";
  ASSERT_TRUE(apply_task_settings(settings, options));
  EXPECT_EQ(options.container_log_size, "");
  for (const char* wrong : {"", "m", "100", "0m", "1.5g", "-1m", "100mb"}) {
    settings.container_log_size = wrong;
    EXPECT_FALSE(apply_task_settings(settings, options)) << wrong;
  }
}

TEST(TaskSettings, what_is_given_is_taken_and_what_is_wrong_is_named) {
  agent::AgentOptions options;
  TaskSettings settings;
  settings.pull_behavior = "once";
  settings.cleanup_wait = "1m";
  settings.no_image_cleanup = true;
  settings.gpu_release_timeout = "2m";
  settings.metrics_interval = "5s";
  ASSERT_TRUE(apply_task_settings(settings, options));
  EXPECT_EQ(options.pull_behavior, agent::core::PullBehavior::Once);
  EXPECT_EQ(options.cleanup_wait, std::chrono::minutes(1));
  EXPECT_FALSE(options.cleanup.images);
  EXPECT_EQ(options.gpu_release_timeout, std::chrono::minutes(2));
  EXPECT_EQ(options.metrics_interval, std::chrono::seconds(5));

  settings.pull_behavior = "never";
  EXPECT_NE(apply_task_settings(settings, options).error().message.find("--image-pull-behavior"),
            std::string::npos);
  settings.pull_behavior.clear();
  settings.stop_timeout = "soon";
  EXPECT_NE(apply_task_settings(settings, options).error().message.find("--container-stop-timeout"),
            std::string::npos);
  settings.stop_timeout.clear();
  settings.metrics_interval = "200ms";
  EXPECT_NE(apply_task_settings(settings, options).error().message.find("at least 1 s"),
            std::string::npos);
  settings.metrics_interval.clear();
  settings.s3_endpoint = "not a url";
  EXPECT_FALSE(apply_task_settings(settings, options));
}

}  // namespace
}  // namespace cli
