// The queue of a cluster's own machines as clients see it.
#include "control/capacity/queue_pass.h"

#include <gmock/gmock.h>

#include <functional>

#include "base/format.h"
#include "control/agents/payload.h"
#include "control/capacity/gang.h"
#include "control/capacity/testing_capacity.h"
#include "control/step/queue_notes.h"
#include "json/value.h"
#include "model/capabilities.h"

namespace control {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::tag;

class QueuePass : public testing::Capacity {
 protected:
  void SetUp() override {
    Capacity::SetUp();
    have_instance("a");
    have_instance("b");
    for (const char* const family : {"one", "four"}) {
      definition(family, [](auto& one) { one.network_mode = api::ecs::NetworkMode::Host; });
    }
  }
  // Alters a definition without registering it anew.
  void definition(const std::string& family,
                  const std::function<void(api::ecs::TaskDefinition&)>& alter) {
    model::ClusterState state = plane.core.state();
    alter(state.task_definitions.at(family).at(1).definition);
    set_state(std::move(state));
  }
  // With 4 GPUs.
  void have_instance(const std::string& name) {
    const model::InstanceArn arn = plane.register_instance("p3.8xlarge", name);
    model::ClusterState state = plane.core.state();
    model::apply(state, model::AttributesPut{arn,
                                             {{std::string(model::attribute_host_address),
                                               "192.0.2." + std::to_string(name[0] - 'a' + 1)}}});
    set_state(std::move(state));
  }

  base::Result<api::ecs::RunTaskResponse> run(const std::string& family, int32_t count = 1,
                                              const api::List<api::ecs::Tag>& tags = {},
                                              bool in_queue = true) {
    api::ecs::RunTaskRequest request;
    request.task_definition = family;
    request.count = count;
    request.tags = tags;
    if (in_queue) request.capacity_provider_strategy = {testing::strategy_item("BERTH_QUEUE")};
    auto response = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
    plane.pass(seconds(1));
    return response;
  }
  std::string run_one(const std::string& family, const api::List<api::ecs::Tag>& tags = {}) {
    auto response = run(family, 1, tags);
    CHECK(response.has_value() && response->tasks.size() == 1);
    return *response->tasks.front().task_arn;
  }
  void end(const std::string& task) {
    plane.report(task, "STOPPED", 0);
    plane.pass(seconds(1));
  }
  api::ecs::BerthQueue queue_of(const std::string& task) {
    const auto described = plane.describe(task);
    EXPECT_TRUE(described.berth_queue.has_value());
    return described.berth_queue.value_or(api::ecs::BerthQueue());
  }
  api::ecs::BerthExplanation explain(const std::string& task) {
    api::ecs::DescribeTasksRequest request;
    request.tasks = {task};
    request.berth_explain = true;
    const auto response = plane.call<api::ecs::DescribeTasksResponse>("DescribeTasks", request);
    CHECK(response.has_value() && response->berth_explanation.size() == 1);
    return response->berth_explanation.front();
  }
  const model::Task& record(const std::string& task) {
    return plane.core.state().tasks.at(model::TaskArn(task));
  }
  std::map<std::string, std::string> environment_of(const std::string& task) {
    model::ClusterState state = plane.core.state();
    placement::Engine engine;
    base::Random random(1);
    const Settings settings;
    QueueNotes notes;
    RefusedClaims claims;
    Output output;
    const Step step(state, engine, random, settings, notes, claims, plane.now, output);
    return make_payload(step, record(task)).containers.front().environment;
  }
};

TEST_F(QueuePass, a_task_that_does_not_fit_waits_and_starts_under_its_own_name) {
  const std::string first = run_one("four");
  const std::string second = run_one("four");
  EXPECT_EQ(status_of(second), "PENDING");
  const std::string third = run_one("four");
  EXPECT_EQ(status_of(third), "PROVISIONING");
  const api::ecs::BerthQueue queue = queue_of(third);
  EXPECT_EQ(queue.position, 1);
  EXPECT_EQ(queue.length, 1);
  EXPECT_EQ(queue.priority, 0);
  EXPECT_EQ(queue.reason, "RESOURCE:GPU");
  EXPECT_FALSE(queue.estimated_start_at.has_value());
  EXPECT_THAT(*queue.estimate_basis, HasSubstr("has no berth:max-seconds"));
  end(first);
  const auto started = plane.describe(third);
  EXPECT_EQ(started.last_status, "PENDING");
  EXPECT_EQ(started.capacity_provider_name, "BERTH_QUEUE");
  EXPECT_FALSE(started.berth_queue.has_value());
}

TEST_F(QueuePass, a_tag_set_while_it_waits_moves_a_task_up) {
  const std::string running = run_one("four", {tag("berth:max-seconds", "3600")});
  run_one("four");
  const std::string first = run_one("four");
  const std::string second = run_one("four");
  EXPECT_EQ(queue_of(second).position, 2);
  api::ecs::TagResourceRequest request;
  request.resource_arn = second;
  request.tags = {tag("berth:priority", "urgent")};
  const auto refused = plane.call<api::ecs::TagResourceResponse>("TagResource", request);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("berth:priority is \"urgent\""));
  request.tags = {tag("berth:priority", "1")};
  ASSERT_TRUE(plane.call<api::ecs::TagResourceResponse>("TagResource", request).has_value());
  plane.pass(seconds(1));
  EXPECT_EQ(queue_of(second).position, 1);
  EXPECT_EQ(queue_of(first).position, 2);
  end(running);
  EXPECT_EQ(status_of(second), "PENDING");
  EXPECT_EQ(status_of(first), "PROVISIONING");
}

TEST_F(QueuePass, a_wrong_tag_is_refused_and_changes_nothing) {
  const size_t before = plane.changes.size();
  const auto response = run("one", 1, {tag("berth:max-seconds", "soon")});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, "InvalidParameterException");
  EXPECT_THAT(response.error().message, HasSubstr("berth:max-seconds is \"soon\""));
  EXPECT_EQ(plane.changes.size(), before);
}

TEST_F(QueuePass, a_deadline_stops_the_task_with_its_reason) {
  ASSERT_TRUE(run("four", 2).has_value());
  const std::string task = run_one("one", {tag("berth:queue-seconds", "60")});
  EXPECT_EQ(queue_of(task).deadline_at, queue_of(task).queued_at.value() + seconds(60));
  plane.pass(minutes(2));
  const auto stopped = plane.describe(task);
  EXPECT_EQ(stopped.last_status, "STOPPED");
  EXPECT_EQ(stopped.stop_code, api::ecs::TaskStopCode::TaskFailedToStart);
  EXPECT_THAT(*stopped.stopped_reason,
              HasSubstr("TaskFailedToStart: TIMEOUT: it waited 60 s in the queue"));
  EXPECT_THAT(*stopped.stopped_reason, HasSubstr("RESOURCE:GPU"));
}

TEST_F(QueuePass, the_gang_of_a_call_starts_whole_and_its_members_know_each_other) {
  const std::string running = run_one("one");
  const auto response = run("four", 2, {tag("berth:gang", "all")});
  ASSERT_TRUE(response.has_value());
  std::vector<std::string> gang;
  for (const auto& task : response->tasks) gang.push_back(*task.task_arn);
  EXPECT_EQ(status_of(gang[0]), "PROVISIONING") << "one of two would fit";
  EXPECT_EQ(queue_of(gang[0]).gang_size, 2);
  EXPECT_EQ(queue_of(gang[0]).gang_present, 2);
  end(running);
  std::set<std::string> ranks;
  for (const std::string& task : gang) {
    EXPECT_EQ(status_of(task), "PENDING");
    const auto environment = environment_of(task);
    ranks.insert(environment.at("BERTH_GANG_RANK"));
    EXPECT_EQ(environment.at("BERTH_GANG_SIZE"), "2");
    EXPECT_EQ(environment.at("BERTH_GANG"), record(gang[0]).gang_environment.at("BERTH_GANG"));
    EXPECT_EQ(environment.at("RANK"), environment.at("BERTH_GANG_RANK"));
    EXPECT_EQ(environment.at("WORLD_SIZE"), "2");
    EXPECT_EQ(environment.at("MASTER_PORT"), "29500");
    EXPECT_EQ(environment.at("MASTER_ADDR"), environment.at("BERTH_GANG_ADDRESS"));
    if (environment.at("BERTH_GANG_RANK") != "0") continue;
    const auto& instance = plane.core.state().instances.at(record(task).instance);
    EXPECT_EQ(environment.at("BERTH_GANG_ADDRESS"),
              instance.attributes.at(std::string(model::attribute_host_address)));
  }
  EXPECT_EQ(ranks, (std::set<std::string>{"0", "1"}));
}

TEST_F(QueuePass, a_gang_whose_members_could_not_meet_is_refused_with_what_is_missing) {
  using Mode = api::ecs::NetworkMode;
  const auto with_mode = [](std::optional<Mode> mode) {
    return [mode](api::ecs::TaskDefinition& one) {
      one.network_mode = mode;
      one.container_definitions.front().port_mappings.clear();
      one.container_definitions.front().environment.clear();
    };
  };
  const api::List<api::ecs::Tag> all = {tag("berth:gang", "all")};
  const std::pair<std::optional<Mode>, std::vector<std::string>> refused[] = {
      {std::nullopt,
       {"no container of one:1 can be reached there", "network mode is bridge",
        "Register it with networkMode host, or publish the port on which rank 0 listens",
        R"("portMappings": [{"containerPort": 29500, "hostPort": 29500}])",
        "set MASTER_ADDR in the environment"}},
      {Mode::None, {"network mode is none. Register it with networkMode host. If"}}};
  for (const auto& [mode, texts] : refused) {
    definition("one", with_mode(mode));
    for (const bool in_queue : {true, false}) {
      const auto answer = run("one", 2, all, in_queue);
      ASSERT_FALSE(answer.has_value());
      EXPECT_EQ(answer.error().code, "InvalidParameterException");
      for (const std::string& text : texts) EXPECT_THAT(answer.error().message, HasSubstr(text));
    }
    const auto named = run("one", 1, {tag("berth:gang", "x"), tag("berth:gang-size", "2")});
    EXPECT_FALSE(named.has_value());
    EXPECT_TRUE(run("one", 1, all).has_value()) << "one member meets nobody";
  }
  definition("one", with_mode(Mode::Bridge));
  definition("one", [](api::ecs::TaskDefinition& one) {
    one.container_definitions.front().port_mappings.emplace_back().container_port = 29500;
  });
  EXPECT_FALSE(run("one", 2, all).has_value()) << "nobody knows which port of the machine";
  definition("one", [](api::ecs::TaskDefinition& one) {
    one.container_definitions.front().port_mappings.front().host_port = 29500;
  });
  EXPECT_TRUE(run("one", 2, all).has_value());
  definition("one", with_mode(Mode::Bridge));
  definition("one", [](api::ecs::TaskDefinition& one) {
    one.container_definitions.front().environment.emplace_back().name = "MASTER_ADDR";
  });
  EXPECT_TRUE(run("one", 2, all).has_value()) << "they meet elsewhere";
}

TEST_F(QueuePass, a_named_gang_gathers_over_several_calls) {
  const api::List<api::ecs::Tag> tags = {tag("berth:gang", "train"), tag("berth:gang-size", "3")};
  const std::string first = run_one("one", tags);
  plane.pass(minutes(1));
  EXPECT_EQ(status_of(first), "PROVISIONING");
  EXPECT_EQ(queue_of(first).reason, "GANG");
  EXPECT_EQ(queue_of(first).gang, "train");
  EXPECT_EQ(queue_of(first).gang_present, 1);
  const auto others = run("one", 2, tags);
  ASSERT_TRUE(others.has_value());
  EXPECT_EQ(status_of(first), "PENDING");
  EXPECT_EQ(environment_of(first).at("BERTH_GANG_RANK"), "0") << "it came first";
  for (const auto& task : others->tasks) EXPECT_EQ(status_of(*task.task_arn), "PENDING");
}

TEST_F(QueuePass, stopping_one_of_a_calls_gang_ends_the_others) {
  const std::string running = run_one("one");
  const auto response = run("four", 2, {tag("berth:gang", "all")});
  ASSERT_TRUE(response.has_value());
  api::ecs::StopTaskRequest request;
  request.task = response->tasks[0].task_arn;
  ASSERT_TRUE(plane.call<api::ecs::StopTaskResponse>("StopTask", request).has_value());
  plane.pass(seconds(1));
  const auto other = plane.describe(*response->tasks[1].task_arn);
  EXPECT_EQ(other.last_status, "STOPPED");
  EXPECT_THAT(*other.stopped_reason, HasSubstr("1 of the 2 members of its gang are left"));
}

TEST_F(QueuePass, without_the_queue_a_gang_starts_at_once_or_fails_whole) {
  const auto none = run("four", 3, {tag("berth:gang", "all")}, false);
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->tasks.empty());
  ASSERT_EQ(none->failures.size(), 3U);
  EXPECT_EQ(none->failures[0].reason, "RESOURCE:GPU");
  EXPECT_TRUE(plane.core.state().tasks.empty());
  const auto all = run("four", 2, {tag("berth:gang", "all")}, false);
  ASSERT_EQ(all->tasks.size(), 2U);
  EXPECT_EQ(environment_of(*all->tasks[1].task_arn).at("BERTH_GANG_RANK"), "1");
  const auto named = run("one", 1, {tag("berth:gang", "x"), tag("berth:gang-size", "2")}, false);
  ASSERT_FALSE(named.has_value());
  EXPECT_THAT(named.error().message, HasSubstr("run them with the capacity provider BERTH_QUEUE"));
}

TEST_F(QueuePass, a_restart_forgets_no_task_and_finds_the_same_places_again) {
  ASSERT_TRUE(run("four", 2).has_value());
  const std::string first = run_one("four");
  const std::string second = run_one("four");
  anew();
  EXPECT_EQ(queue_of(second).detail, "The queue has not looked at it yet.");
  plane.pass(seconds(1));
  EXPECT_EQ(queue_of(first).position, 1);
  EXPECT_EQ(queue_of(second).position, 2);
}

TEST_F(QueuePass, a_task_that_is_stopped_while_it_waits_leaves_the_line) {
  ASSERT_TRUE(run("four", 2).has_value());
  const std::string first = run_one("four");
  const std::string second = run_one("four");
  api::ecs::StopTaskRequest request;
  request.task = first;
  ASSERT_TRUE(plane.call<api::ecs::StopTaskResponse>("StopTask", request).has_value());
  plane.pass(seconds(1));
  EXPECT_EQ(status_of(first), "STOPPED");
  EXPECT_EQ(queue_of(second).position, 1);
}

TEST_F(QueuePass, tags_of_a_task_that_waits_have_to_go_together) {
  ASSERT_TRUE(run("four", 2).has_value());
  api::ecs::TagResourceRequest request;
  request.resource_arn = run_one("four");
  request.tags.push_back(tag("berth:gang-size", "2"));
  const auto refused = plane.call<api::ecs::TagResourceResponse>("TagResource", request);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("berth:gang"));
}

// With ids as they come, and times since start_time.
TEST_F(QueuePass, explain_tells_position_reason_estimate_and_how_sure_it_is) {
  const std::string running = run_one("four", {tag("berth:max-seconds", "3600")});
  run_one("four", {tag("berth:max-seconds", "7200")});
  plane.report(running, "RUNNING");
  const std::string task =
      run_one("four", {tag("berth:priority", "2"), tag("berth:queue-seconds", "9000")});
  const std::string id(model::short_id(task));
  const base::Time starts_at = *record(running).started_at + minutes(60);
  const base::Time deadline = record(task).created_at + seconds(9000);
  const auto told = explain(task);
  EXPECT_THAT(*told.text, HasSubstr(base::format(
                              "Task {} waits in the queue of cluster default, at position 1 of 1.\n"
                              "Reason: RESOURCE:GPU. {}\n"
                              "Estimated start: {} (in 59 min), by berth:max-seconds of 1 task.\n"
                              "Waiting for 1 s, with priority 2, in group family:four.\n"
                              "Deadline: {} (in 2 h 29 min); then it ends without having started.\n"
                              "If nobody stood before it:\n",
                              id, record(task).wait_detail, base::format_rfc3339(starts_at),
                              base::format_rfc3339(deadline))));
  const auto document = json::parse(*told.document);
  ASSERT_TRUE(document.has_value()) << *told.document;
  EXPECT_EQ((*document)["queue"]["position"].as_int64().value_or(0), 1);
  const std::string* const basis = (*document)["queue"]["estimateBasis"].as_string();
  ASSERT_NE(basis, nullptr);
  EXPECT_EQ(*basis, "by berth:max-seconds of 1 task");
  plane.pass(minutes(61));
  EXPECT_THAT(*explain(task).text, HasSubstr("Estimated start: overdue since "));
}

}  // namespace
}  // namespace control
