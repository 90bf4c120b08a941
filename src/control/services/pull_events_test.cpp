#include "control/services/pull_events.h"

#include <gmock/gmock.h>

#include "control/services/testing_services.h"

namespace control {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class PullEvents : public testing::Services {
 protected:
  void SetUp() override {
    testing::Services::SetUp();
    plane.register_instance("p3.8xlarge", "a");
  }
  // The tasks of the service, in the order of their ARNs.
  std::vector<std::string> start(int32_t desired) {
    EXPECT_TRUE(create(request("web", desired)));
    plane.pass(1s);
    std::vector<std::string> arns;
    for (const auto& [arn, task] : plane.core.state().tasks) arns.push_back(arn.str());
    EXPECT_EQ(arns.size(), static_cast<size_t>(desired));
    begun = plane.now;
    return arns;
  }
  void pulls(const std::string& task, int32_t percent) {
    api::ecs::SubmitTaskStateChangeRequest report;
    report.task = task;
    report.status = "PENDING";
    report.berth_stage = "PULLING";
    report.berth_pull_percent = percent;
    report.pull_started_at = begun;
    send(report);
  }
  void has_pulled(const std::string& task, base::Milliseconds after) {
    api::ecs::SubmitTaskStateChangeRequest report;
    report.task = task;
    report.status = "RUNNING";
    report.pull_started_at = begun;
    report.pull_stopped_at = begun + after;
    send(report);
  }
  void send(const api::ecs::SubmitTaskStateChangeRequest& report) {
    ASSERT_TRUE(
        (plane.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report)));
  }
  // Those about images, the oldest first.
  std::vector<std::string> told() {
    std::vector<std::string> texts;
    for (const std::string& text : events()) {
      if (text.find("image") != std::string::npos) texts.insert(texts.begin(), text);
    }
    return texts;
  }
  static std::string id(const std::string& arn) { return std::string(model::short_id(arn)); }

  base::Time begun{};
};

TEST_F(PullEvents, a_pull_that_takes_long_is_told_each_minute_and_at_its_end) {
  const std::string task = start(1).front();
  for (int percent = 1; percent <= 15; ++percent) {
    plane.pass(10s);
    pulls(task, percent);
  }
  has_pulled(task, 157s);
  EXPECT_THAT(told(),
              ElementsAre("(service web) is pulling the images of 1 tasks: (task " + id(task) +
                              ") waits for 60 seconds and has 6 percent of the bytes.",
                          "(service web) is pulling the images of 1 tasks: (task " + id(task) +
                              ") waits for 120 seconds and has 12 percent of the bytes.",
                          "(service web) has pulled the images of (task " + id(task) +
                              ") in 157 seconds."));
}

TEST_F(PullEvents, many_tasks_are_one_event_a_minute) {
  const auto tasks = start(4);
  plane.pass(70s);
  for (const std::string& task : tasks) pulls(task, 10);
  plane.pass(20s);
  for (const std::string& task : tasks) has_pulled(task, 90s);
  ASSERT_EQ(told().size(), 2U);
  EXPECT_NE(told()[0].find("images of 1 tasks"), std::string::npos) << "as far as was told then";
}

TEST_F(PullEvents, a_quick_pull_and_a_task_of_no_service_make_none) {
  const std::string task = start(1).front();
  plane.pass(30s);
  pulls(task, 50);
  has_pulled(task, 31s);
  const std::string alone = *plane.run_task("web")->tasks.at(0).task_arn;
  plane.pass(5min);
  pulls(alone, 10);
  has_pulled(alone, 5min);
  EXPECT_TRUE(told().empty());
}

}  // namespace
}  // namespace control
