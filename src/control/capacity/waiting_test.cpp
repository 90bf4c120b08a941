// Tasks that wait for capacity, from RunTask to their end.
#include "control/capacity/waiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "control/capacity/testing_capacity.h"
#include "model/records.h"

namespace control {
namespace {

using testing::Capacity;
using ::testing::HasSubstr;
using testing::strategy_item;

TEST_F(Capacity, a_task_that_does_not_fit_is_accepted_and_waits) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  const auto own = plane.register_instance("p3.8xlarge", "own");
  const auto answer = run_tasks("one", 1, {strategy_item("gpus")});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_TRUE(answer->failures.empty());
  ASSERT_EQ(answer->tasks.size(), 1u);
  const api::ecs::Task& task = answer->tasks[0];
  EXPECT_EQ(task.last_status, "PROVISIONING");
  EXPECT_EQ(task.desired_status, "RUNNING");
  EXPECT_EQ(task.capacity_provider_name, "gpus");
  EXPECT_FALSE(task.container_instance_arn.has_value());
  EXPECT_FALSE(task.connectivity.has_value());
  EXPECT_EQ(task.cpu, "100");
  EXPECT_EQ(task.memory, "80");
  EXPECT_EQ(plane.core.state().tasks.begin()->second.wait_reason, "EMPTY CAPACITY PROVIDER");
  EXPECT_TRUE(plane.core.state().instances.at(own).tasks.empty());
  api::ecs::DescribeClustersRequest clusters;
  EXPECT_EQ((plane.call<api::ecs::DescribeClustersResponse>("DescribeClusters", clusters))
                ->clusters[0]
                .pending_tasks_count,
            1);

  const auto machine = plane.register_instance("p3.8xlarge", "a");
  plane.pass(std::chrono::seconds(1));
  const api::ecs::Task placed = plane.describe(*task.task_arn);
  EXPECT_EQ(placed.last_status, "PENDING");
  EXPECT_EQ(placed.container_instance_arn, machine.str());
  EXPECT_EQ(placed.capacity_provider_name, "gpus");
  EXPECT_EQ(placed.launch_type, api::ecs::LaunchType::Ec2);
  EXPECT_EQ(placed.containers[0].gpu_ids.size(), 1u);
  model::check_invariants(plane.core.state());
}

TEST_F(Capacity, a_task_goes_on_instances_of_its_provider_only) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  const auto machine = plane.register_instance("p3.8xlarge", "a");
  const auto own = plane.register_instance("p3.8xlarge", "own");
  EXPECT_EQ(run_tasks("four", 1, {strategy_item("gpus")})->tasks[0].container_instance_arn,
            machine.str());
  EXPECT_EQ(run_tasks("one", 1, {strategy_item("gpus")})->tasks[0].last_status, "PROVISIONING");
  EXPECT_EQ(run_tasks("four", 1, {strategy_item("BERTH_QUEUE")})->tasks[0].container_instance_arn,
            own.str());
}

TEST_F(Capacity, the_tasks_of_one_call_are_dealt_out_by_base_and_weight) {
  have_provider("a");
  have_provider("b");
  const auto answer = run_tasks("one", 10, {strategy_item("a", 1, 2), strategy_item("b", 3)});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  std::map<std::string, int> counts;
  for (const auto& task : answer->tasks) ++counts[*task.capacity_provider_name];
  EXPECT_EQ(counts["a"], 4);
  EXPECT_EQ(counts["b"], 6);
}

TEST_F(Capacity, the_clusters_default_strategy_holds_where_the_call_names_nothing) {
  have_provider("gpus");
  ASSERT_TRUE(put({"gpus"}, {strategy_item("gpus")}).has_value());
  EXPECT_EQ(run_tasks("one", 1, {})->tasks[0].capacity_provider_name, "gpus");
  api::ecs::RunTaskRequest by_type;
  by_type.task_definition = "one";
  by_type.launch_type = api::ecs::LaunchType::Ec2;
  const auto plain = plane.call<api::ecs::RunTaskResponse>("RunTask", by_type);
  ASSERT_FALSE(plain.has_value());
  EXPECT_THAT(plain.error().message, HasSubstr("No Container Instances were found"));
  by_type.capacity_provider_strategy = {strategy_item("gpus")};
  const auto both = plane.call<api::ecs::RunTaskResponse>("RunTask", by_type);
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().code, "InvalidParameterException");
  EXPECT_THAT(both.error().message, HasSubstr("both a launch type and capacity provider strategy"));
}

TEST_F(Capacity, the_same_call_again_gets_the_same_waiting_task) {
  have_provider("gpus");
  api::ecs::RunTaskRequest request;
  request.task_definition = "one";
  request.client_token = "once";
  request.capacity_provider_strategy = {strategy_item("gpus")};
  const auto first = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  const auto second = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(first->tasks[0].task_arn, second->tasks[0].task_arn);
  EXPECT_EQ(waiting(), 1u);
}

TEST_F(Capacity, five_hundred_may_wait_for_groups_and_more_for_the_queue) {
  have_provider("gpus");
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(run_tasks("one", 10, {strategy_item("gpus")}).has_value());
  }
  EXPECT_EQ(waiting(), 500u);
  const auto refused = run_tasks("one", 1, {strategy_item("gpus")});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "ClientException");
  EXPECT_THAT(refused.error().message, HasSubstr("PROVISIONING"));
  EXPECT_EQ(waiting(), 500u);
  EXPECT_TRUE(run_tasks("one", 1, {strategy_item("BERTH_QUEUE")}).has_value());
  model::check_invariants(plane.core.state());
}

TEST_F(Capacity, after_the_limit_a_task_ends_with_the_documented_reason) {
  have_provider("empty");
  have_provider("full", "p3.8xlarge", {"i-a"});
  have_provider("draining", "p3.8xlarge", {"i-b"});
  have_provider("cut-off", "p3.8xlarge", {"i-c"});
  plane.register_instance("p3.8xlarge", "a");
  const auto draining = plane.register_instance("p3.8xlarge", "b");
  const auto cut_off = plane.register_instance("p3.8xlarge", "c");
  model::ClusterState state = plane.core.state();
  model::apply(state, model::InstanceStatusChanged{draining, model::InstanceStatus::Draining});
  model::apply(state, model::AgentConnectionChanged{cut_off, false, "gone", plane.now});
  set_state(std::move(state));
  ASSERT_TRUE(run_tasks("four", 1, {strategy_item("full")}).has_value());
  struct Row {
    std::string provider;
    std::string reason;
  };
  const std::vector<Row> rows{{"empty", "EMPTY CAPACITY PROVIDER"},
                              {"full", "RESOURCE:GPU"},
                              {"draining", "NO ACTIVE INSTANCES"},
                              {"cut-off", "AGENT"}};
  std::vector<std::string> tasks;
  for (const Row& row : rows) {
    tasks.push_back(*run_tasks("one", 1, {strategy_item(row.provider)})->tasks[0].task_arn);
  }
  plane.pass(std::chrono::minutes(14));
  for (const std::string& task : tasks) EXPECT_EQ(status_of(task), "PROVISIONING");
  plane.pass(std::chrono::minutes(2));
  for (size_t i = 0; i < rows.size(); ++i) {
    const api::ecs::Task task = plane.describe(tasks[i]);
    EXPECT_EQ(task.last_status, "STOPPED") << rows[i].provider;
    EXPECT_EQ(task.stop_code, api::ecs::TaskStopCode::TaskFailedToStart) << rows[i].provider;
    EXPECT_EQ(task.stopped_reason, "TaskFailedToStart: " + rows[i].reason);
    EXPECT_TRUE(task.stopped_at.has_value());
    EXPECT_FALSE(task.container_instance_arn.has_value());
    EXPECT_EQ(task.containers[0].last_status, "STOPPED");
  }
  EXPECT_EQ(waiting(), 0u);
  model::check_invariants(plane.core.state());
}

TEST_F(Capacity, what_can_never_fit_says_so) {
  have_provider("gpus", "p3.8xlarge");
  ASSERT_TRUE(run_tasks("sixty-four", 1, {strategy_item("gpus")}).has_value());
  EXPECT_THAT(
      plane.core.state().tasks.begin()->second.wait_detail,
      HasSubstr("Waiting does not help: the task needs 64 GPUs, more than the instance type "
                "p3.8xlarge of capacity provider gpus has."));
  plane.register_instance("p3.8xlarge", "own");
  const auto queued = run_tasks("sixty-four", 1, {strategy_item("BERTH_QUEUE")});
  const model::Task& task = plane.core.state().tasks.at(model::TaskArn(*queued->tasks[0].task_arn));
  EXPECT_THAT(task.wait_detail, HasSubstr("64 GPUs"));
}

TEST_F(Capacity, a_group_at_its_maximum_is_named_with_the_command_that_raises_it) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  plane.register_instance("p3.8xlarge", "a");
  ASSERT_TRUE(run_tasks("four", 1, {strategy_item("gpus")}).has_value());
  model::ClusterState state = plane.core.state();
  model::AutoScalingGroup group = state.auto_scaling_groups.begin()->second;
  group.max_size = 1;
  model::apply(state, model::AutoScalingGroupPut{group});
  set_state(std::move(state));
  const std::string task = *run_tasks("one", 1, {strategy_item("gpus")})->tasks[0].task_arn;
  const auto queue = plane.describe(task).berth_queue;
  ASSERT_TRUE(queue.has_value());
  EXPECT_EQ(queue->gpus, "1 GPU");
  EXPECT_EQ(queue->reason, "RESOURCE:GPU");
  EXPECT_FALSE(queue->position.has_value());
  EXPECT_THAT(*queue->detail,
              HasSubstr("has its maximum of 1 machine: no more is launched. To raise it: aws "
                        "autoscaling update-auto-scaling-group --auto-scaling-group-name " +
                        group.name + " --max-size 2."));
}

TEST_F(Capacity, a_waiting_task_is_stopped_at_once) {
  have_provider("gpus");
  const std::string task = *run_tasks("one", 1, {strategy_item("gpus")})->tasks[0].task_arn;
  plane.sent.clear();
  api::ecs::StopTaskRequest stop;
  stop.task = task;
  stop.reason = "not needed";
  const auto stopped = plane.call<api::ecs::StopTaskResponse>("StopTask", stop);
  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(stopped->task->last_status, "STOPPED");
  EXPECT_EQ(stopped->task->stopped_reason, "not needed");
  EXPECT_EQ(stopped->task->stop_code, api::ecs::TaskStopCode::UserInitiated);
  EXPECT_TRUE(plane.sent.empty());
  EXPECT_EQ(waiting(), 0u);
  have_provider("more", "p3.8xlarge", {"i-a"});
  plane.register_instance("p3.8xlarge", "a");
  plane.pass(std::chrono::seconds(5));
  EXPECT_EQ(status_of(task), "STOPPED");
}

TEST_F(Capacity, the_oldest_goes_first_when_a_task_ends) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  plane.register_instance("p3.8xlarge", "a");
  const std::string running = *run_tasks("four", 1, {strategy_item("gpus")})->tasks[0].task_arn;
  plane.report(running, "RUNNING");
  std::vector<std::string> tasks;
  for (int i = 0; i < 5; ++i) {
    tasks.push_back(*run_tasks("one", 1, {strategy_item("gpus")})->tasks[0].task_arn);
    plane.pass(std::chrono::seconds(1));
  }
  plane.report(running, "STOPPED", 0);
  plane.pass(std::chrono::seconds(1));
  // Its agent is not Berth's: its word is enough.
  for (int i = 0; i < 4; ++i) EXPECT_EQ(status_of(tasks[static_cast<size_t>(i)]), "PENDING") << i;
  EXPECT_EQ(status_of(tasks[4]), "PROVISIONING");
}

TEST_F(Capacity, waiting_tasks_outlive_a_restart) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  api::ecs::RunTaskRequest request;
  request.task_definition = "one";
  request.capacity_provider_strategy = {strategy_item("gpus")};
  api::ecs::PlacementConstraint constraint;
  constraint.type = api::ecs::PlacementConstraintType::MemberOf;
  constraint.expression = "attribute:rack == 7";
  request.placement_constraints = {constraint};
  const std::string task =
      *plane.call<api::ecs::RunTaskResponse>("RunTask", request)->tasks[0].task_arn;
  model::ClusterState loaded = plane.reloaded();
  loaded.auto_scaling_groups = plane.core.state().auto_scaling_groups;
  set_state(std::move(loaded));
  EXPECT_EQ(waiting(), 1u);
  plane.pass(std::chrono::seconds(1));
  EXPECT_EQ(status_of(task), "PROVISIONING");
  EXPECT_EQ(plane.core.state().tasks.at(model::TaskArn(task)).wait_reason,
            "EMPTY CAPACITY PROVIDER");

  const auto machine = plane.register_instance("p3.8xlarge", "a");
  plane.pass(std::chrono::seconds(1));
  EXPECT_EQ(status_of(task), "PROVISIONING");
  EXPECT_EQ(plane.core.state().tasks.at(model::TaskArn(task)).wait_reason,
            "MemberOf placement constraint unsatisfied");
  api::ecs::PutAttributesRequest put;
  api::ecs::Attribute rack;
  rack.name = "rack";
  rack.value = "7";
  rack.target_id = machine.str();
  put.attributes.push_back(rack);
  ASSERT_TRUE((plane.call<api::ecs::PutAttributesResponse>("PutAttributes", put).has_value()));
  plane.pass(std::chrono::seconds(1));
  EXPECT_EQ(status_of(task), "PENDING");
  // What was kept counts for the limit as well.
  EXPECT_EQ(plane.describe(task).container_instance_arn, machine.str());
}

TEST_F(Capacity, an_agent_cannot_speak_for_a_task_that_waits) {
  have_provider("gpus");
  const std::string task = *run_tasks("one", 1, {strategy_item("gpus")})->tasks[0].task_arn;
  plane.report(task, "RUNNING");
  EXPECT_EQ(status_of(task), "PROVISIONING");
  plane.report(task, "STOPPED");
  EXPECT_EQ(status_of(task), "PROVISIONING");
  api::ecs::SubmitContainerStateChangeRequest container;
  container.task = task;
  container.container_name = "main";
  container.status = "RUNNING";
  ASSERT_TRUE((plane
                   .call<api::ecs::SubmitContainerStateChangeResponse>("SubmitContainerStateChange",
                                                                       container)
                   .has_value()));
  EXPECT_EQ(status_of(task), "PROVISIONING");
  api::ecs::DescribeTasksRequest explain;
  explain.tasks = {task};
  explain.berth_explain = true;
  const auto explained = plane.call<api::ecs::DescribeTasksResponse>("DescribeTasks", explain);
  ASSERT_TRUE(explained.has_value());
  EXPECT_THAT(*explained->berth_explanation[0].text,
              HasSubstr("waits for capacity provider gpus because of EMPTY CAPACITY PROVIDER"));
}

TEST_F(Capacity, a_cluster_with_waiting_tasks_cannot_go) {
  have_provider("gpus");
  ASSERT_TRUE(run_tasks("one", 1, {strategy_item("gpus")}).has_value());
  api::ecs::DeleteClusterRequest request;
  request.cluster = "default";
  const auto refused = plane.call<api::ecs::DeleteClusterResponse>("DeleteCluster", request);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "ClusterContainsTasksException");
}

TEST_F(Capacity, what_a_gang_member_learns_is_in_its_containers_environment) {
  const auto machine = plane.register_instance("p3.8xlarge", "own");
  const auto placed = run_tasks("one", 1, {strategy_item("BERTH_QUEUE")});
  ASSERT_TRUE(placed.has_value()) << placed.error().message;
  model::Task task = plane.core.state().tasks.at(model::TaskArn(*placed->tasks[0].task_arn));
  task.arn = model::TaskArn(task.arn.str() + "0");
  task.held = {};
  task.gang_environment = {{"BERTH_GANG_RANK", "1"}};
  model::ClusterState state = plane.core.state();
  model::apply(state, model::TaskPlaced{task});
  set_state(std::move(state));
  plane.step(SessionOpened{1, model::ClusterName("default"), machine});
  bool seen = false;
  for (const ToAgent& message : plane.sent) {
    const auto* const payload = std::get_if<acs::PayloadMessage>(&message.message);
    if (payload == nullptr) continue;
    for (const acs::Task& sent : payload->tasks) {
      const bool of_gang = sent.arn == task.arn.str();
      seen = seen || of_gang;
      EXPECT_EQ(sent.containers[0].environment.contains("BERTH_GANG_RANK"), of_gang);
    }
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace control
