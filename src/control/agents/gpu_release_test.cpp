// A GPU that a task has held is nobody else's before it was proven empty.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/agents/testing_gpu_release.h"

namespace control {
namespace {

using ::testing::HasSubstr;
using namespace testing;

class GpuRelease : public ::testing::Test {
 protected:
  GpuRelease() : machines_(plane_) {
    plane_.create_cluster();
    plane_.define("all", "ALL");
    plane_.define("one", "1");
  }
  std::string run(const std::string& family) {
    auto ran = plane_.run_task(family);
    EXPECT_TRUE(ran && ran->tasks.size() == 1);
    return *ran->tasks.at(0).task_arn;
  }

  Plane plane_;
  MachinesByName machines_;
};

TEST_F(GpuRelease, forced_deregistration_keeps_the_gpus_from_the_next_registration_until_proof) {
  const auto first = machines_.start("m", AgentKind::Berth);
  const std::string task = run("all");
  const std::vector<std::string> gpus = gpus_of(plane_, model::TaskArn(task));
  deregister(plane_, *first);
  EXPECT_EQ(plane_.describe(task).last_status, "STOPPED");

  const auto second = machines_.start("m", AgentKind::Berth);
  ASSERT_NE(*first, *second);
  EXPECT_EQ(slot(plane_, *second, 0).state, model::GpuState::Quarantined);
  EXPECT_THAT(slot(plane_, *second, 0).reason, HasSubstr("given up"));
  EXPECT_EQ(plane_.run_task("one")->failures.at(0).reason, "RESOURCE:GPU");

  ASSERT_TRUE(report_stopped(plane_, task, gpus, Says::Empty));
  EXPECT_EQ(slot(plane_, *second, 0).state, model::GpuState::Idle);
  run("all");
}

TEST_F(GpuRelease, a_late_report_that_finds_the_gpu_in_use_leaves_it_to_an_operator) {
  const auto first = machines_.start("m", AgentKind::Berth);
  const std::string task = run("all");
  const std::vector<std::string> gpus = gpus_of(plane_, model::TaskArn(task));
  deregister(plane_, *first);
  const auto second = machines_.start("m", AgentKind::Berth);
  ASSERT_TRUE(report_stopped(plane_, task, gpus, Says::InUse));
  EXPECT_EQ(slot(plane_, *second, 1).reason, "1 process (pid 4711)");
  ASSERT_TRUE(report_stopped(plane_, task, gpus, Says::Empty));
  EXPECT_EQ(slot(plane_, *second, 1).state, model::GpuState::Quarantined);
}

TEST_F(GpuRelease, a_quarantine_outlives_the_hour_in_which_an_inactive_instance_is_remembered) {
  const auto first = machines_.start("m", AgentKind::Berth);
  run("all");
  deregister(plane_, *first);
  plane_.pass(std::chrono::hours(5));
  const auto second = machines_.start("m", AgentKind::Berth);
  EXPECT_EQ(slot(plane_, *second, 0).state, model::GpuState::Quarantined);
  plane_.pass(std::chrono::hours(5));
  EXPECT_FALSE(plane_.core.state().instances.contains(*first));  // It has moved.
}

TEST_F(GpuRelease, an_official_agent_is_taken_at_its_word_and_shown_as_unproven) {
  const auto instance = machines_.start("m", AgentKind::Official);
  const std::string task = run("one");
  const std::vector<std::string> gpus = gpus_of(plane_, model::TaskArn(task));
  ASSERT_TRUE(report_stopped(plane_, task, gpus, Says::Nothing));
  api::ecs::DescribeContainerInstancesRequest request;
  request.container_instances = {instance->str()};
  const auto described = plane_.call<api::ecs::DescribeContainerInstancesResponse>(
      "DescribeContainerInstances", request);
  size_t unproven = 0;
  for (const auto& gpu : described->container_instances.at(0).berth_gpus) {
    EXPECT_EQ(gpu.state, "IDLE");
    if (!gpu.reason) continue;
    ++unproven;
    EXPECT_EQ(gpu.gpu_id, gpus.at(0));
    EXPECT_THAT(*gpu.reason, HasSubstr("unproven"));
  }
  EXPECT_EQ(unproven, 1U);
  run("all");
}

TEST_F(GpuRelease, a_stopped_that_is_about_the_payload_frees_nothing_of_a_task_that_has_started) {
  const auto instance = machines_.start("m", AgentKind::Official);
  for (const char* const reason :
       {"resource cannot be initialized for task T: could not find container with name main for "
        "associating GPU G",
        "UnrecogniedTaskError: Error loading task - invalid character"}) {
    const std::string task = run("all");
    plane_.report(task, "RUNNING");
    stop(plane_, task);
    api::ecs::SubmitTaskStateChangeRequest report;
    report.task = task;
    report.status = "STOPPED";
    report.reason = reason;
    ASSERT_TRUE(
        (plane_.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report)));
    EXPECT_EQ(plane_.describe(task).last_status, "RUNNING");
    EXPECT_EQ(plane_.run_task("one")->failures.at(0).reason, "RESOURCE:GPU");
    plane_.report(task, "STOPPED", 137);
    EXPECT_EQ(plane_.describe(task).last_status, "STOPPED");
  }
  // Of one that was never started it is the truth.
  const std::string task = run("all");
  api::ecs::SubmitTaskStateChangeRequest report;
  report.task = task;
  report.status = "STOPPED";
  report.reason = "resource cannot be initialized for task T: no such GPU";
  ASSERT_TRUE(
      (plane_.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report)));
  EXPECT_EQ(plane_.describe(task).stop_code, api::ecs::TaskStopCode::TaskFailedToStart);
  run("all");
}

TEST_F(GpuRelease, a_stopped_that_is_about_the_payload_proves_nothing_of_a_task_that_was_given_up) {
  const auto first = machines_.start("m", AgentKind::Official);
  const std::string task = run("all");
  plane_.report(task, "RUNNING");
  deregister(plane_, *first);
  const auto second = machines_.start("m", AgentKind::Official);
  ASSERT_EQ(slot(plane_, *second, 0).state, model::GpuState::Quarantined);
  api::ecs::SubmitTaskStateChangeRequest report;
  report.task = task;
  report.status = "STOPPED";
  report.reason = "resource cannot be initialized for task T: no such container";
  ASSERT_TRUE(
      (plane_.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report)));
  EXPECT_EQ(slot(plane_, *second, 0).state, model::GpuState::Quarantined);
  report.reason.reset();
  ASSERT_TRUE(
      (plane_.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report)));
  EXPECT_EQ(slot(plane_, *second, 0).state, model::GpuState::Idle);
}

TEST_F(GpuRelease, an_operator_clears_a_quarantined_gpu_and_no_other) {
  const auto instance = machines_.start("m", AgentKind::Berth);
  const std::string task = run("one");
  const std::string gpu = gpus_of(plane_, model::TaskArn(task)).at(0);
  const auto active = api::ecs::ContainerInstanceStatus::Active;
  const auto held = update_state(plane_, *instance, active, {gpu});
  ASSERT_FALSE(held);
  EXPECT_THAT(held.error().message, HasSubstr("DEDICATED"));
  ASSERT_TRUE(report_stopped(plane_, task, {gpu}, Says::InUse));
  EXPECT_EQ(plane_.run_task("all")->failures.at(0).reason, "RESOURCE:GPU");
  EXPECT_THAT(update_state(plane_, *instance, active, {"GPU-x"}).error().message,
              HasSubstr("GPU-x"));
  ASSERT_TRUE(update_state(plane_, *instance, active, {gpu}));
  run("all");
}

TEST_F(GpuRelease, clearing_a_gpu_leaves_the_instance_s_status_alone) {
  using Status = api::ecs::ContainerInstanceStatus;
  const auto instance = machines_.start("m", AgentKind::Berth);
  const std::string task = run("one");
  const std::string gpu = gpus_of(plane_, model::TaskArn(task)).at(0);
  ASSERT_TRUE(report_stopped(plane_, task, {gpu}, Says::InUse));
  ASSERT_TRUE(update_state(plane_, *instance, Status::Draining));
  const auto cleared = update_state(plane_, *instance, Status::Active, {gpu});
  ASSERT_TRUE(cleared);
  EXPECT_EQ(cleared->container_instances.at(0).status, "DRAINING");
  EXPECT_EQ(model::find_gpu(plane_.core.state().instances.at(*instance), gpu)->state,
            model::GpuState::Idle);
}

TEST_F(GpuRelease, an_agent_s_key_drains_its_instance_and_clears_no_gpu) {
  const auto instance = machines_.start("m", AgentKind::Berth);
  const std::string task = run("one");
  const std::string gpu = gpus_of(plane_, model::TaskArn(task)).at(0);
  ASSERT_TRUE(report_stopped(plane_, task, {gpu}, Says::InUse));
  model::AgentKey key;
  key.id = "key-of-m";
  key.cluster = model::ClusterName("default");
  key.instance = *instance;
  model::ClusterState state = plane_.core.state();
  model::apply(state, model::AgentKeyPut{std::move(key)});
  plane_.core = Core(std::move(state), Settings{}, 7, plane_.now);
  const auto ask = [&](bool clear) {
    api::ecs::UpdateContainerInstancesStateRequest request;
    request.container_instances = {instance->str()};
    request.status = api::ecs::ContainerInstanceStatus::Draining;
    if (clear) request.berth_clear_gpu_ids = {gpu};
    ApiCall call{1,
                 find_action("ecs", "UpdateContainerInstancesState"),
                 api::Any::make(std::move(request)),
                 {}};
    call.caller.access_key_id = "key-of-m";
    call.caller.service = "ecs";
    call.caller.access = auth::AgentAccess{"default", instance->str()};
    return std::move(plane_.step(std::move(call)).replies.at(0).result);
  };
  const auto refused = ask(true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "AccessDeniedException");
  EXPECT_EQ(model::find_gpu(plane_.core.state().instances.at(*instance), gpu)->state,
            model::GpuState::Quarantined);
  EXPECT_TRUE(ask(false));
  EXPECT_EQ(plane_.core.state().instances.at(*instance).status, model::InstanceStatus::Draining);
}

TEST_F(GpuRelease, a_gpu_that_is_reported_unhealthy_is_not_given_out_and_says_why) {
  const auto instance = machines_.start("m", AgentKind::Berth);
  api::ecs::RegisterContainerInstanceRequest again;
  again.container_instance_arn = instance->str();
  again.instance_identity_document = R"({"instanceId":"i-m","instanceType":"p3.8xlarge"})";
  for (const model::GpuSlot& gpu : plane_.core.state().instances.at(*instance).gpus) {
    api::ecs::PlatformDevice& device = again.platform_devices.emplace_back();
    device.id = gpu.device.uuid;
    device.type = api::ecs::PlatformDeviceType::Gpu;
    device.berth_gpu.emplace().healthy = again.platform_devices.size() != 1;
    device.berth_gpu->health_reason = "Xid 79: the GPU has fallen off the bus.";
  }
  ASSERT_TRUE((plane_.call<api::ecs::RegisterContainerInstanceResponse>("RegisterContainerInstance",
                                                                        again)));
  EXPECT_EQ(plane_.run_task("all")->failures.at(0).reason, "RESOURCE:GPU");
  for (int i = 0; i < 3; ++i) run("one");
  EXPECT_EQ(plane_.run_task("one")->failures.at(0).reason, "RESOURCE:GPU");
  api::ecs::DescribeContainerInstancesRequest request;
  request.container_instances = {instance->str()};
  const auto described = plane_.call<api::ecs::DescribeContainerInstancesResponse>(
      "DescribeContainerInstances", request);
  const auto& gpu = described->container_instances.at(0).berth_gpus.at(0);
  EXPECT_EQ(gpu.state, "UNHEALTHY");
  EXPECT_THAT(*gpu.reason, HasSubstr("fallen off the bus"));
}

TEST_F(GpuRelease, what_an_agent_no_longer_tells_of_itself_is_forgotten) {
  const auto instance = machines_.start("m", AgentKind::Berth);
  api::ecs::RegisterContainerInstanceRequest again;
  again.container_instance_arn = instance->str();
  again.instance_identity_document = R"({"instanceId":"i-m","instanceType":"p3.8xlarge"})";
  again.attributes.emplace_back().name = "ecs.capability.gpu-sharing-mps";
  again.attributes.emplace_back().name = "team";
  ASSERT_TRUE((plane_.call<api::ecs::RegisterContainerInstanceResponse>("RegisterContainerInstance",
                                                                        again)));
  again.attributes = {};
  ASSERT_TRUE((plane_.call<api::ecs::RegisterContainerInstanceResponse>("RegisterContainerInstance",
                                                                        again)));
  const auto& attributes = plane_.core.state().instances.at(*instance).attributes;
  EXPECT_FALSE(attributes.contains("ecs.capability.gpu-sharing-mps"));
  EXPECT_TRUE(attributes.contains("team"));
}

TEST_F(GpuRelease, a_draining_instance_keeps_its_tasks_and_gets_no_new_ones_also_after_it_is_back) {
  using Status = api::ecs::ContainerInstanceStatus;
  const auto instance = machines_.start("m", AgentKind::Berth);
  const std::string task = run("one");
  const auto answer = update_state(plane_, *instance, Status::Draining);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->container_instances.at(0).status, "DRAINING");
  EXPECT_TRUE(plane_.run_task("one")->tasks.empty());
  ASSERT_TRUE(machines_.start("m", AgentKind::Berth, instance->str()));
  EXPECT_TRUE(plane_.run_task("one")->tasks.empty());
  EXPECT_EQ(plane_.describe(task).desired_status, "RUNNING");
  ASSERT_TRUE(update_state(plane_, *instance, Status::Active));
  run("one");
}

TEST_F(GpuRelease, a_state_that_cannot_be_set_and_an_instance_that_is_not_there_are_told) {
  using Status = api::ecs::ContainerInstanceStatus;
  const auto instance = machines_.start("m", AgentKind::Berth);
  const auto wrong = update_state(plane_, *instance, Status::Registering);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, "InvalidParameterException");
  deregister(plane_, *instance);
  const auto gone = update_state(plane_, *instance, Status::Draining);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->failures.at(0).reason, "INACTIVE");
  const auto missing = update_state(plane_, model::InstanceArn("nowhere"), Status::Draining);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->failures.at(0).reason, "MISSING");
}

}  // namespace
}  // namespace control
