#include "machines/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machines/fake.h"
#include "machines/none.h"

namespace machines {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Workers : public ::testing::Test {
 protected:
  void start() {
    auto made = std::make_unique<FakeMachines>();
    fake = made.get();
    prepare(*fake);
    workers.start(std::move(made));
  }
  // The next report that is no list.
  control::MachineReport next() {
    while (true) {
      auto report = reports.pop_batch(1, std::chrono::seconds(30));
      CHECK(report.size() == 1);
      if (!std::holds_alternative<control::MachinesListed>(report[0])) return std::move(report[0]);
    }
  }
  control::MachinesListed next_list() {
    while (true) {
      auto report = reports.pop_batch(1, std::chrono::seconds(30));
      CHECK(report.size() == 1);
      if (auto* const listed = std::get_if<control::MachinesListed>(&report[0])) {
        return std::move(*listed);
      }
    }
  }
  static control::LaunchMachine launch(const std::string& token, bool again = false) {
    return {.group = "gpus",
            .token = token,
            .instance_type = "p3.8xlarge",
            .availability_zone = {},
            .user_data = {},
            .tags = {},
            .again = again};
  }
  std::vector<std::string> calls() {
    return fake->with([](FakeMachines::World& world) { return world.calls; });
  }

  std::function<void(FakeMachines&)> prepare = [](FakeMachines&) {};
  base::SystemClock clock;
  base::Queue<control::MachineReport> reports{1'000};
  FakeMachines* fake = nullptr;  // The workers.
  MachineWorkers workers{
      clock, [this](control::MachineReport report) { reports.push(std::move(report)); }};
};

TEST_F(Workers, launches_and_ends_what_it_is_ordered) {
  start();
  workers.push(launch("t1"));
  const auto launched = std::get<control::MachineLaunched>(next());
  EXPECT_EQ(launched.token, "t1");
  EXPECT_EQ(launched.id, "i-t1");
  workers.push(control::TerminateMachine{"gpus", launched.id});
  EXPECT_EQ(std::get<control::MachineTerminated>(next()).id, "i-t1");
}

TEST_F(Workers, orders_wait_for_their_provider) {
  workers.push(launch("t1"));
  EXPECT_TRUE(reports.pop_batch(1, base::Milliseconds(0)).empty());
  start();
  EXPECT_EQ(std::get<control::MachineLaunched>(next()).token, "t1");
}

TEST_F(Workers, tells_why_something_failed) {
  prepare = [](FakeMachines& made) {
    made.with([](FakeMachines::World& world) {
      world.failing = {"launch", "terminate"};
      return 0;
    });
  };
  start();
  workers.push(launch("t1"));
  EXPECT_EQ(std::get<control::MachineNotLaunched>(next()).reason, "no machine is left");
  workers.push(control::TerminateMachine{"gpus", "i-1"});
  EXPECT_EQ(std::get<control::MachineNotTerminated>(next()).reason, "it is stuck");
}

TEST_F(Workers, a_launch_that_was_perhaps_ordered_before_is_looked_up_first) {
  prepare = [](FakeMachines& made) {
    made.with([](FakeMachines::World& world) {
      world.ids["t1"] = "i-of-before";
      return 0;
    });
  };
  start();
  workers.push(launch("t1", true));
  EXPECT_EQ(std::get<control::MachineLaunched>(next()).id, "i-of-before");
  workers.push(launch("t2", true));
  EXPECT_EQ(std::get<control::MachineLaunched>(next()).id, "i-t2");
  EXPECT_THAT(calls(), ::testing::Not(Contains(HasSubstr("launch t1"))));
}

TEST_F(Workers, without_a_list_nobody_knows_whether_it_was_launched_before) {
  prepare = [](FakeMachines& made) {
    made.with([](FakeMachines::World& world) {
      world.failing = {"list"};
      return 0;
    });
  };
  start();
  workers.push(launch("t1", true));
  EXPECT_THAT(std::get<control::MachineNotLaunched>(next()).reason, HasSubstr("the list is torn"));
}

TEST_F(Workers, lists_all_machines_at_the_start) {
  prepare = [](FakeMachines& made) {
    made.with([](FakeMachines::World& world) {
      world.ids["t1"] = "i-1";
      return 0;
    });
  };
  const base::Time before = clock.now();
  start();
  const control::MachinesListed listed = next_list();
  ASSERT_EQ(listed.machines.size(), 1u);
  EXPECT_EQ(listed.machines[0].token, "t1");
  EXPECT_GE(listed.asked_at, before);
}

TEST_F(Workers, stops_with_orders_that_nobody_has_taken) {
  workers.push(launch("t1"));
  workers.stop();
  EXPECT_TRUE(reports.pop_batch(1, base::Milliseconds(0)).empty());
}

// Its launches wait until they are let go.
class Slow final : public MachineProvider {
 public:
  base::Result<std::string> launch(const control::LaunchMachine& order) override {
    calls.push(1);
    if (gate.pop_batch(1, std::chrono::seconds(30)).empty()) {
      return base::fail("Cancelled", "stopping");
    }
    return "i-" + order.token;
  }
  base::Result<void> terminate(const control::TerminateMachine&) override { return {}; }
  base::Result<std::vector<control::ListedMachine>> list() override {
    return std::vector<control::ListedMachine>();
  }
  void cancel() override { gate.close(); }

  base::Queue<int> gate{10};
  base::Queue<int> calls{100};
};

TEST_F(Workers, the_same_order_twice_at_the_same_time_is_one) {
  auto slow = std::make_unique<Slow>();
  Slow& provider = *slow;
  workers.start(std::move(slow));
  workers.push(launch("t1"));
  ASSERT_TRUE(provider.calls.pop().has_value());
  workers.push(launch("t1"));
  workers.push(launch("t2"));
  ASSERT_TRUE(provider.calls.pop().has_value());
  EXPECT_EQ(provider.calls.size(), 0u);
  provider.gate.push(1);
  provider.gate.push(1);
  std::set<std::string> tokens{std::get<control::MachineLaunched>(next()).token,
                               std::get<control::MachineLaunched>(next()).token};
  EXPECT_THAT(tokens, ElementsAre("t1", "t2"));
  EXPECT_EQ(provider.calls.size(), 0u);
}

TEST_F(Workers, what_is_cancelled_is_not_reported) {
  auto slow = std::make_unique<Slow>();
  Slow& provider = *slow;
  workers.start(std::move(slow));
  workers.push(launch("t1"));
  ASSERT_TRUE(provider.calls.pop().has_value());
  workers.stop();
  for (const control::MachineReport& report : reports.pop_batch(100, base::Milliseconds(0))) {
    EXPECT_TRUE(std::holds_alternative<control::MachinesListed>(report));
  }
}

TEST_F(Workers, a_server_without_a_provider_says_what_is_missing) {
  workers.start(no_machines());
  workers.push(launch("t1"));
  EXPECT_THAT(std::get<control::MachineNotLaunched>(next()).reason, HasSubstr("--machines"));
}

}  // namespace
}  // namespace machines
