#include "cli/task_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace cli {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr base::Time now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
constexpr const char* instance_arn = "arn:aws:ecs:us-east-1:1:container-instance/default/abc";

api::ecs::Task task(const std::string& id, const std::string& status) {
  api::ecs::Task made;
  made.task_arn = "arn:aws:ecs:us-east-1:1:task/default/" + id;
  made.task_definition_arn = "arn:aws:ecs:us-east-1:1:task-definition/train:1";
  made.group = "family:train";
  made.last_status = status;
  made.desired_status = status == "STOPPED" ? "STOPPED" : "RUNNING";
  made.created_at = now - 3min;
  return made;
}

api::ecs::Task running(const std::string& id) {
  api::ecs::Task made = task(id, "RUNNING");
  made.container_instance_arn = instance_arn;
  api::ecs::Container container;
  container.name = "main";
  container.last_status = "RUNNING";
  container.gpu_ids = {"GPU-0", "GPU-1"};
  made.containers.push_back(container);
  return made;
}

api::ecs::Task waiting(const std::string& id, int32_t position) {
  api::ecs::Task made = task(id, "PROVISIONING");
  api::ecs::BerthQueue& queue = made.berth_queue.emplace();
  queue.position = position;
  queue.length = 3;
  queue.priority = 10;
  queue.share = "team-a";
  queue.gpus = "4 GPUs";
  queue.reason = "RESOURCE:GPU";
  queue.detail = "The task needs 4 GPUs.";
  queue.estimated_start_at = now + 5min;
  api::ecs::Tag priority;
  priority.key = "berth:priority";
  priority.value = "10";
  made.tags.push_back(priority);
  return made;
}

Instances one_instance() {
  api::ecs::ContainerInstance made;
  made.container_instance_arn = instance_arn;
  made.status = "ACTIVE";
  made.agent_connected = true;
  api::ecs::Attribute name;
  name.name = "berth.host-name";
  name.value = "box";
  made.attributes.push_back(name);
  return {made};
}

// The task's line, without the head.
Line line_of(const api::ecs::Task& one, const Instances& instances = one_instance()) {
  Tasks tasks;
  tasks.push_back(one);
  return task_lines(tasks, instances, now).at(1);
}

TEST(TaskLines, one_that_runs_names_its_host) {
  EXPECT_THAT(line_of(running("a")), ElementsAre("a", "train:1", "family:train", "RUNNING", "2",
                                                 "box", "3 min", "-", "-"));
}

TEST(TaskLines, one_that_waits_says_what_it_asks_where_it_stands_and_when_it_goes) {
  EXPECT_THAT(
      line_of(waiting("b", 2)),
      ElementsAre("b", "train:1", "family:train", "PROVISIONING", "4 GPUs", "-", "3 min", "10",
                  "position 2 of 3, priority 10, share team-a, starts in about 5 min: "
                  "RESOURCE:GPU. The task needs 4 GPUs."));
}

TEST(TaskLines, a_machine_that_is_gone_stands_in_the_reason_of_each_of_its_tasks) {
  Instances instances = one_instance();
  instances[0].agent_connected = false;
  instances[0].status_reason = "The agent's connection has ended.";
  api::ecs::InstanceHealthCheckResult connectivity;
  connectivity.type = api::ecs::InstanceHealthCheckType::AgentConnectivity;
  connectivity.last_status_change = now - 3min;
  instances[0].health_status.emplace().details.push_back(connectivity);
  EXPECT_EQ(line_of(running("a"), instances).back(),
            "box: no agent for 3 min: The agent's connection has ended.; the status is the last "
            "one that it told");
  instances[0].agent_connected = true;
  instances[0].status = "DRAINING";
  EXPECT_EQ(line_of(running("a"), instances).back(), "box: DRAINING");
}

TEST(TaskLines, a_cause_is_told_once) {
  api::ecs::Task ended = running("a");
  ended.last_status = ended.desired_status = "STOPPED";
  ended.stopped_reason = "CannotPullContainerError: no such image";
  ended.containers[0].reason = "CannotPullContainerError: no such image";
  EXPECT_EQ(line_of(ended).back(), "CannotPullContainerError: no such image");
  ended.stopped_reason = "Essential container in task exited";
  ended.containers[0].exit_code = 42;
  ended.containers[0].reason.reset();
  EXPECT_EQ(line_of(ended).back(), "Essential container in task exited; main ended with 42");
}

TEST(TaskLines, one_that_is_to_stop_says_what_is_left_of_it) {
  api::ecs::Task stopping = running("a");
  stopping.desired_status = "STOPPED";
  stopping.stopped_reason = "Task stopped by user";
  EXPECT_EQ(line_of(stopping).back(), "Task stopped by user; container main is RUNNING");
  stopping.containers[0].last_status = "STOPPED";
  stopping.berth_stage = "GPU-0 is not empty: 1 process (pid 4711)";
  const Line line = line_of(stopping);
  EXPECT_EQ(line.at(3), "RUNNING (to stop)");
  EXPECT_EQ(line.back(),
            "Task stopped by user; its containers have ended; GPU-0 is not empty: 1 process (pid "
            "4711)");
}

TEST(SortTasks, those_that_wait_stand_at_the_end_in_the_order_of_the_queue) {
  Tasks tasks;
  tasks.push_back(waiting("third", 3));
  tasks.push_back(waiting("first", 1));
  tasks.push_back(running("runs"));
  tasks.push_back(waiting("second", 2));
  tasks.push_back(task("ended", "STOPPED"));
  sort_tasks(tasks);
  std::string order;
  for (const auto& one : tasks) order += one.task_arn->substr(one.task_arn->rfind('/') + 1) + " ";
  EXPECT_EQ(order, "ended runs first second third ");
}

}  // namespace
}  // namespace cli
