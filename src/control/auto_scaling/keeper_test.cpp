// Groups, their machines and the machine provider, as transcripts.
#include "control/auto_scaling/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "control/auto_scaling/machines.h"
#include "control/testing.h"
#include "model/records.h"

namespace control {
namespace {

using model::MachineState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

Settings patient() {
  Settings settings;
  settings.connect_grace = std::chrono::hours(1'000);
  return settings;
}

class Machines : public ::testing::Test {
 protected:
  Machines() {
    plane.create_cluster();
    alter([](model::ClusterState& state) {
      apply(state, model::LaunchConfigurationPut{{.name = "first",
                                                  .id = "lc1",
                                                  .created_at = testing::start_time,
                                                  .instance_type = "p3.8xlarge",
                                                  .user_data = "the user data",
                                                  .echoed = {}}});
      model::AutoScalingGroup group;
      group.name = "gpus";
      group.id = "group-1";
      group.max_size = 10;
      group.launch_configuration = "first";
      group.instance_type = "p3.8xlarge";
      group.tags = {{"team", "vision", true}, {"cost", "12", false}};
      apply(state, model::AutoScalingGroupPut{group});
      model::CapacityProvider provider;
      provider.name = "pool";
      provider.group.auto_scaling_group_arn =
          model::auto_scaling_group_arn({}, group.id, group.name);
      provider.group.managed_scaling.emplace().status = api::ecs::ManagedScalingStatus::Enabled;
      apply(state, model::CapacityProviderPut{provider});
    });
  }

  static void apply(model::ClusterState& state, const model::Change& change) {
    model::apply(state, change);
  }
  // What an operation of the API would have done, and a restart of the control plane.
  void alter(auto&& change) {
    model::ClusterState state = plane.core.state();
    change(state);
    orders.clear();
    plane.core = Core(std::move(state), patient(), ++plane.reseed, plane.now);
  }
  void alter_group(auto&& change) {
    alter([&](model::ClusterState& state) {
      model::AutoScalingGroup altered = state.auto_scaling_groups.at("gpus");
      change(altered);
      apply(state, model::AutoScalingGroupPut{altered});
    });
  }
  void desire(int32_t machines) {
    alter_group([&](model::AutoScalingGroup& altered) { altered.desired_capacity = machines; });
  }
  void restart() {
    alter([](model::ClusterState&) {});
  }

  void step(Input input) {
    for (MachineOrder& order : plane.step(std::move(input)).machine_orders) {
      orders.push_back(std::move(order));
    }
  }
  void report(MachineReport told) { step(std::move(told)); }
  // Every timer that is due, without anybody answering orders.
  void pass(base::Milliseconds by = std::chrono::seconds(1)) {
    const base::Time end = plane.now + by;
    while (plane.core.next_timer() <= end) {
      plane.now = std::max(plane.now, plane.core.next_timer());
      step(TimerDue{});
    }
    plane.now = end;
  }
  // The same, with a machine provider and agents that do what they are asked.
  void run(base::Milliseconds by = std::chrono::seconds(1)) {
    const base::Time end = plane.now + by;
    do {
      const base::Time next = std::clamp(plane.core.next_timer(), plane.now, end);
      pass(next - plane.now);
      while (!orders.empty()) provide();
    } while (plane.now < end);
  }
  void provide() {
    const MachineOrder order = std::move(orders.front());
    orders.pop_front();
    if (const auto* const launch = std::get_if<LaunchMachine>(&order)) {
      const std::string name = std::to_string(++launched);
      report(MachineLaunched{launch->token, "i-" + name});
      plane.register_instance(launch->instance_type, name);
    } else {
      terminated.push_back(std::get<TerminateMachine>(order).id);
      report(MachineTerminated{terminated.back()});
    }
  }
  LaunchMachine next_launch() {
    CHECK(!orders.empty());
    const auto order = std::get<LaunchMachine>(orders.front());
    orders.pop_front();
    return order;
  }

  const model::AutoScalingGroup& group() const {
    return plane.core.state().auto_scaling_groups.at("gpus");
  }
  std::vector<MachineState> states() const {
    std::vector<MachineState> found;
    for (const model::Machine& machine : group().machines) found.push_back(machine.state);
    return found;
  }
  // The newest first.
  std::vector<model::ScalingActivity> activities() const {
    const auto& kept = plane.core.state().scaling_activities.at("gpus").activities;
    return {kept.rbegin(), kept.rend()};
  }
  const model::ContainerInstance& instance(const std::string& id) const {
    const model::ContainerInstance* found = nullptr;
    for (const auto& [arn, one] : plane.core.state().instances) {
      if (one.ec2_instance_id == id) found = &one;
    }
    CHECK(found != nullptr);
    return *found;
  }
  std::string start_task(const std::string& id) {
    api::ecs::StartTaskRequest request;
    request.task_definition = "train";
    request.container_instances.push_back(instance(id).arn.str());
    const auto started = plane.call<api::ecs::StartTaskResponse>("StartTask", request);
    CHECK(started.has_value() && started->tasks.size() == 1);
    return *started->tasks[0].task_arn;
  }
  void define() {
    plane.define("train", "1");
    restart();
  }
  // A task that waits for the provider.
  void queue(int count) {
    alter([&](model::ClusterState& state) {
      for (int i = 0; i < count; ++i) {
        model::Task task;
        task.arn = model::task_arn({}, model::ClusterName("default"),
                                   "waiting" + std::to_string(++queued));
        task.cluster = model::ClusterName("default");
        task.definition = model::task_definition_arn({}, "train", 1);
        task.group = "family:train";
        task.last_status = model::TaskStatus::Provisioning;
        task.capacity_provider = "pool";
        task.waiting.emplace();
        task.created_at = plane.now;
        apply(state, model::TaskQueued{std::move(task)});
      }
    });
  }
  void stop_waiting() {
    alter([&](model::ClusterState& state) {
      const auto tasks = state.waiting_tasks[model::ClusterName("default")];
      for (const model::TaskArn& arn : tasks) {
        model::TaskReported report;
        report.arn = arn;
        report.last_status = model::TaskStatus::Stopped;
        report.stopped_at = plane.now;
        apply(state, report);
      }
    });
  }

  testing::Plane plane{patient()};
  std::deque<MachineOrder> orders;  // Not answered yet.
  std::vector<std::string> terminated;
  int launched = 0;
  int queued = 0;
};

TEST_F(Machines, a_machine_is_ordered_launched_and_in_service_once_its_agent_has_registered) {
  desire(1);
  pass();
  ASSERT_THAT(orders, SizeIs(1));
  const LaunchMachine order = next_launch();
  EXPECT_EQ(order.group, "gpus");
  EXPECT_THAT(order.token, StartsWith("group-1-"));
  EXPECT_EQ(order.instance_type, "p3.8xlarge");
  EXPECT_EQ(order.user_data, "the user data");
  EXPECT_EQ(order.tags, (std::map<std::string, std::string>{{"team", "vision"}}));
  EXPECT_FALSE(order.again);
  EXPECT_THAT(states(), ElementsAre(MachineState::Wanted));
  EXPECT_EQ(activities()[0].status, "InProgress");
  EXPECT_THAT(activities()[0].cause, HasSubstr("increasing the capacity from 0 to 1."));

  report(MachineLaunched{order.token, "i-1"});
  EXPECT_THAT(states(), ElementsAre(MachineState::Pending));
  EXPECT_EQ(activities()[0].description, "Launching a new EC2 instance: i-1");
  EXPECT_EQ(provider_of_machine(plane.core.state(), "i-1"), "pool");
  EXPECT_EQ(provider_of_machine(plane.core.state(), "i-2"), "");

  plane.register_instance("p3.8xlarge", "1");
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  EXPECT_EQ(instance("i-1").capacity_provider, "pool");
  EXPECT_EQ(activities()[0].status, "Successful");
  EXPECT_EQ(group().machines[0].availability_zone, "us-east-1a");
  pass(std::chrono::minutes(10));  // Managed scaling wants 15 points before it ends an idle one.
  EXPECT_THAT(orders, IsEmpty());
}

TEST_F(Machines, an_agent_may_be_faster_than_the_provider_s_answer) {
  desire(1);
  pass();
  const LaunchMachine order = next_launch();
  plane.register_instance("p3.8xlarge", "1");
  EXPECT_EQ(instance("i-1").capacity_provider, "");
  report(MachineLaunched{order.token, "i-1"});
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  EXPECT_EQ(instance("i-1").capacity_provider, "pool");
  EXPECT_TRUE(instance("i-1").agent_connected);
}

TEST_F(Machines, a_launch_that_fails_says_why_and_is_tried_again_later_and_later) {
  desire(1);
  std::vector<base::Time> tried;
  for (int i = 0; i < 4; ++i) {
    while (orders.empty()) pass(base::Milliseconds(100));
    tried.push_back(plane.now);
    report(MachineNotLaunched{next_launch().token, "no capacity in rack 7"});
    EXPECT_THAT(group().machines, IsEmpty());
  }
  EXPECT_EQ(activities()[0].status, "Failed");
  EXPECT_EQ(activities()[0].status_message, "no capacity in rack 7");
  EXPECT_THAT(activities()[0].description, HasSubstr("Status Reason: no capacity in rack 7"));
  const auto close_to = [](base::Milliseconds gap, int seconds) {
    return gap >= std::chrono::seconds(seconds) && gap < std::chrono::seconds(seconds + 1);
  };
  EXPECT_TRUE(close_to(tried[1] - tried[0], 5));
  EXPECT_TRUE(close_to(tried[2] - tried[1], 10));
  EXPECT_TRUE(close_to(tried[3] - tried[2], 20));
  run(std::chrono::minutes(1));
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  EXPECT_EQ(group().launch_failures, 0);
}

TEST_F(Machines, after_a_restart_an_unanswered_launch_is_ordered_again_with_the_same_token) {
  desire(1);
  pass();
  const LaunchMachine first = next_launch();
  restart();
  pass();
  const LaunchMachine second = next_launch();
  EXPECT_EQ(second.token, first.token);
  EXPECT_TRUE(second.again);
  report(MachineLaunched{second.token, "i-1"});
  report(MachineLaunched{first.token, "i-1"});
  EXPECT_THAT(group().machines, SizeIs(1));
  pass(std::chrono::minutes(1));
  EXPECT_THAT(orders, IsEmpty());
}

TEST_F(Machines, a_launch_whose_answer_was_lost_is_found_in_the_list) {
  desire(1);
  pass();
  const LaunchMachine order = next_launch();
  restart();
  report(MachinesListed{plane.now, {{order.token, "i-1"}}});
  EXPECT_EQ(group().machines[0].id, "i-1");
  EXPECT_THAT(states(), ElementsAre(MachineState::Pending));
}

TEST_F(Machines, a_machine_that_no_record_knows_is_ended_and_others_are_left_alone) {
  desire(1);
  pass();
  const LaunchMachine order = next_launch();
  report(MachineNotLaunched{order.token, "timeout"});
  report(MachinesListed{plane.now, {{order.token, "i-1"}, {"somebody-else", "i-9"}}});
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(std::get<TerminateMachine>(orders[0]).id, "i-1");
  // It is ordered once until it is answered.
  report(MachinesListed{plane.now, {{order.token, "i-1"}}});
  EXPECT_THAT(orders, SizeIs(1));
  report(MachineNotTerminated{"i-1", "stuck"});
  report(MachinesListed{plane.now, {{order.token, "i-1"}}});
  EXPECT_THAT(orders, SizeIs(2));
}

TEST_F(Machines, an_answer_with_the_id_of_another_machine_is_a_failure) {
  desire(2);
  pass();
  report(MachineLaunched{next_launch().token, "i-1"});
  report(MachineLaunched{next_launch().token, "i-1"});
  EXPECT_THAT(group().machines, SizeIs(1));
  EXPECT_THAT(activities()[0].status_message, HasSubstr("that of another machine"));
}

TEST_F(Machines, a_surplus_machine_drains_then_ends_and_its_instance_goes) {
  desire(2);
  run();
  define();
  const std::string task = start_task("i-1");
  const std::string other = start_task("i-2");
  plane.report(task, "RUNNING");
  plane.report(other, "RUNNING");
  desire(1);
  run();
  EXPECT_THAT(states(), ElementsAre(MachineState::Terminating, MachineState::InService));
  EXPECT_EQ(instance("i-1").status, model::InstanceStatus::Draining);
  EXPECT_EQ(instance("i-2").status, model::InstanceStatus::Active);
  EXPECT_THAT(activities()[0].description, HasSubstr("Terminating EC2 instance: i-1"));
  EXPECT_THAT(activities()[0].cause, HasSubstr("shrinking the capacity from 2 to 1"));
  EXPECT_THAT(activities()[0].cause, HasSubstr("instance i-1 was selected for termination."));
  run(std::chrono::hours(1));
  EXPECT_THAT(terminated, IsEmpty());
  plane.report(task, "STOPPED", 0);
  run();
  EXPECT_THAT(terminated, ElementsAre("i-1"));
  EXPECT_EQ(instance("i-1").status, model::InstanceStatus::Inactive);
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  EXPECT_EQ(activities()[0].status, "Successful");
}

TEST_F(Machines, what_is_left_after_the_bound_is_given_up_with_its_machine) {
  desire(1);
  run();
  define();
  const std::string task = start_task("i-1");
  plane.report(task, "RUNNING");
  desire(0);
  run(std::chrono::hours(48) + std::chrono::minutes(10));
  EXPECT_THAT(terminated, ElementsAre("i-1"));
  EXPECT_EQ(plane.describe(task).last_status, "STOPPED");
  EXPECT_THAT(*plane.describe(task).stopped_reason, HasSubstr("terminated"));
}

TEST_F(Machines, managed_draining_can_be_switched_off) {
  alter([](model::ClusterState& state) {
    model::CapacityProvider provider = state.capacity_providers.at("pool");
    provider.group.managed_draining = api::ecs::ManagedDraining::Disabled;
    apply(state, model::CapacityProviderPut{provider});
  });
  desire(1);
  run();
  define();
  plane.report(start_task("i-1"), "RUNNING");
  desire(0);
  run();
  EXPECT_THAT(terminated, ElementsAre("i-1"));
}

TEST_F(Machines, a_machine_that_cannot_be_ended_is_tried_again_and_says_why) {
  desire(1);
  run();
  desire(0);
  pass();
  ASSERT_THAT(orders, SizeIs(1));
  orders.clear();
  report(MachineNotTerminated{"i-1", "it is locked"});
  EXPECT_EQ(activities()[0].status, "InProgress");
  EXPECT_EQ(activities()[0].status_message, "it is locked");
  pass(std::chrono::seconds(29));
  EXPECT_THAT(orders, IsEmpty());
  run(std::chrono::seconds(2));
  EXPECT_THAT(terminated, ElementsAre("i-1"));
}

TEST_F(Machines, a_machine_that_its_provider_has_lost_is_replaced_unless_its_agent_is_there) {
  desire(1);
  run();
  run(std::chrono::minutes(2));
  report(MachinesListed{plane.now, {}});
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  alter([&](model::ClusterState& state) {
    apply(state,
          model::AgentConnectionChanged{state.instances.begin()->first, false, {}, plane.now});
  });
  Settings impatient;
  impatient.connect_grace = base::Milliseconds(0);
  plane.core = Core(plane.core.state(), impatient, ++plane.reseed, plane.now);
  pass();
  report(MachinesListed{plane.now, {}});
  EXPECT_EQ(instance("i-1").status, model::InstanceStatus::Inactive);
  pass();
  EXPECT_THAT(states(), ElementsAre(MachineState::Wanted));
  EXPECT_THAT(activities()[1].cause, HasSubstr("does not list it any more"));
}

TEST_F(Machines, a_machine_whose_agent_stays_away_is_replaced) {
  desire(1);
  run();
  plane.core = Core(plane.core.state(), Settings{}, ++plane.reseed, plane.now);
  run(std::chrono::minutes(12));
  EXPECT_THAT(terminated, ElementsAre("i-1"));
  EXPECT_EQ(launched, 2);
  bool told = false;
  for (const model::ScalingActivity& one : activities()) {
    told = told || one.cause.find("its agent stays away") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST_F(Machines, a_deregistered_instance_takes_its_machine_along) {
  desire(1);
  run();
  api::ecs::DeregisterContainerInstanceRequest request;
  request.container_instance = instance("i-1").arn.str();
  ASSERT_TRUE((plane
                   .call<api::ecs::DeregisterContainerInstanceResponse>(
                       "DeregisterContainerInstance", request)
                   .has_value()));
  run();
  EXPECT_THAT(terminated, ElementsAre("i-1"));
  EXPECT_EQ(launched, 2);
}

TEST_F(Machines, a_machine_that_never_joins_is_ended_and_counts_as_a_failed_launch) {
  desire(1);
  pass();
  report(MachineLaunched{next_launch().token, "i-1"});
  pass(std::chrono::minutes(14));
  EXPECT_THAT(states(), ElementsAre(MachineState::Pending));
  pass(std::chrono::minutes(1));
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(std::get<TerminateMachine>(orders[0]).id, "i-1");
  EXPECT_EQ(group().launch_failures, 1);
  pass(std::chrono::seconds(6));
  ASSERT_THAT(orders, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<LaunchMachine>(orders[1]));
}

TEST_F(Machines, bigger_machines_after_a_change_of_the_launch_configuration) {
  desire(2);
  run();
  plane.now += std::chrono::minutes(1);
  alter([&](model::ClusterState& state) {
    apply(state, model::LaunchConfigurationPut{{.name = "bigger",
                                                .id = "lc2",
                                                .created_at = plane.now,
                                                .instance_type = "p3.16xlarge",
                                                .user_data = {},
                                                .echoed = {}}});
  });
  alter_group([](model::AutoScalingGroup& altered) {
    altered.launch_configuration = "bigger";
    altered.desired_capacity = 4;
  });
  run();
  EXPECT_EQ(instance("i-3").gpus.size(), 8u);
  desire(2);
  run();
  EXPECT_THAT(terminated, ElementsAre("i-1", "i-2"));
}

TEST_F(Machines, a_launch_template_is_followed_to_the_version_that_it_has_at_launch) {
  alter([](model::ClusterState& state) {
    model::LaunchTemplate made;
    made.id = "lt-1";
    made.name = "boxes";
    made.latest_version = 2;
    made.versions = {{.number = 1,
                      .description = {},
                      .created_at = testing::start_time,
                      .instance_type = "c5.2xlarge",
                      .user_data = {},
                      .data = {}},
                     {.number = 2,
                      .description = {},
                      .created_at = testing::start_time,
                      .instance_type = "p3.2xlarge",
                      .user_data = "second",
                      .data = {}}};
    apply(state, model::LaunchTemplatePut{made});
  });
  alter_group([](model::AutoScalingGroup& altered) {
    altered.launch_configuration.clear();
    altered.launch_template = "lt-1";
    altered.launch_template_version = "$Latest";
    altered.desired_capacity = 1;
  });
  pass();
  const LaunchMachine order = next_launch();
  EXPECT_EQ(order.instance_type, "p3.2xlarge");
  EXPECT_EQ(order.user_data, "second");
  EXPECT_EQ(group().machines[0].launch_version, "2");
  alter_group([](model::AutoScalingGroup& altered) { altered.launch_template_version = "7"; });
  desire(2);
  pass();
  EXPECT_THAT(activities()[0].status_message, HasSubstr("does not exist any more"));
}

TEST_F(Machines, waiting_tasks_bring_machines_from_zero_and_idle_ones_go_later) {
  define();
  queue(3);
  run(std::chrono::minutes(1));
  // Four GPUs a machine would do; from zero it is two.
  EXPECT_EQ(group().desired_capacity, 2);
  EXPECT_EQ(launched, 2);
  EXPECT_THAT(activities()[0].cause, HasSubstr("CapacityProviderReservation was 200"));
  stop_waiting();
  run(std::chrono::minutes(18));
  EXPECT_EQ(group().desired_capacity, 2);
  run(std::chrono::minutes(6));
  EXPECT_EQ(group().desired_capacity, 0);
  EXPECT_THAT(terminated, SizeIs(2));
  EXPECT_EQ(launched, 2);
}

TEST_F(Machines, managed_scaling_leaves_busy_machines_alone_and_shows_them_protected) {
  alter([](model::ClusterState& state) {
    model::CapacityProvider provider = state.capacity_providers.at("pool");
    provider.group.managed_termination_protection = api::ecs::ManagedTerminationProtection::Enabled;
    apply(state, model::CapacityProviderPut{provider});
  });
  define();
  desire(3);
  run();
  plane.report(start_task("i-2"), "RUNNING");
  run(std::chrono::minutes(40));
  EXPECT_EQ(group().desired_capacity, 1);
  ASSERT_THAT(group().machines, SizeIs(1));
  EXPECT_EQ(group().machines[0].id, "i-2");
  EXPECT_TRUE(group().machines[0].scale_in_protected);
  desire(0);
  run();
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
}

TEST_F(Machines, a_deleted_group_ends_its_machines_and_is_gone) {
  desire(2);
  run();
  alter_group([](model::AutoScalingGroup& altered) {
    altered.deleting = true;
    altered.desired_capacity = 0;
  });
  run();
  EXPECT_THAT(terminated, SizeIs(2));
  EXPECT_FALSE(plane.core.state().auto_scaling_groups.contains("gpus"));
}

TEST_F(Machines, what_is_loaded_again_is_what_was_there) {
  desire(3);
  run();
  desire(1);
  pass();
  std::set<std::string> keys;
  for (const model::Change& change : plane.changes) {
    model::add_record_keys(plane.core.state(), change, keys);
  }
  const model::Account account;
  const model::RecordEncoder encoder(plane.core.state(), account);
  model::ClusterState loaded;
  for (const std::string& key : keys) {
    const auto value = encoder.encode(key);
    if (value) ASSERT_TRUE(model::load_record(loaded, key, *value).has_value()) << key;
  }
  ASSERT_TRUE(model::finish_load(loaded).has_value());
  EXPECT_EQ(loaded.auto_scaling_groups, plane.core.state().auto_scaling_groups);
  EXPECT_EQ(loaded.scaling_activities.at("gpus").activities.size(), activities().size());
  EXPECT_EQ(loaded.instances.begin()->second.capacity_provider, "pool");
}

TEST_F(Machines, without_groups_no_timer_is_set_for_them) {
  testing::Plane quiet;
  EXPECT_LE(quiet.core.next_timer(), testing::start_time + std::chrono::seconds(10));
  const AutoScalingKeeper keeper(quiet.core.state(), Settings{}, testing::start_time);
  EXPECT_EQ(keeper.next_tick(), base::Time::max());
}

}  // namespace
}  // namespace control
