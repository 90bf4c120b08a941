#include "machines/emulated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <set>
#include <utility>
#include <vector>

#include "api/base64.h"

namespace machines {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What stands for agents: an id a folder.
struct Agents {
  std::map<std::string, EmulatedMachine> running;  // By id.
  std::set<std::string> busy;                      // Ids whose tasks do not end.
  int starts = 0;
};

class FakeAgent final : public EmulatedAgent {
 public:
  FakeAgent(Agents& agents, std::string id) : agents_(agents), id_(std::move(id)) {}
  ~FakeAgent() override { agents_.running.erase(id_); }
  const std::string& instance_id() const override { return id_; }
  bool end_tasks(base::Milliseconds) override { return !agents_.busy.contains(id_); }

 private:
  Agents& agents_;
  std::string id_;
};

class Emulated : public ::testing::Test {
 protected:
  Emulated() {
    std::string made = (std::filesystem::temp_directory_path() / "berth-emulated-XXXXXX").string();
    CHECK(::mkdtemp(made.data()) != nullptr);
    folder = made;
  }
  ~Emulated() override { std::filesystem::remove_all(folder); }

  base::Result<std::unique_ptr<MachineProvider>> open() {
    return emulated_machines(
        folder / "machines",
        [this](const EmulatedMachine& machine) -> base::Result<std::unique_ptr<EmulatedAgent>> {
          ++agents.starts;
          if (machine.instance_type == "unknown") {
            return base::fail("InvalidParameterException", "There is no such type.");
          }
          const std::string id = "i-" + machine.folder.filename().string();
          agents.running[id] = machine;
          return std::make_unique<FakeAgent>(agents, id);
        });
  }
  static control::LaunchMachine order(const std::string& token,
                                      const std::string& type = "p3.8xlarge") {
    control::LaunchMachine made;
    made.group = "gpus";
    made.token = token;
    made.instance_type = type;
    return made;
  }
  std::vector<std::string> folders() const {
    std::vector<std::string> found;
    if (!std::filesystem::exists(folder / "machines")) return found;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "machines")) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

  std::filesystem::path folder;
  Agents agents;
};

TEST_F(Emulated, a_machine_is_an_agent_of_its_type) {
  const auto provider = std::move(*open());
  auto asked = order("t1");
  asked.availability_zone = "us-east-1b";
  api::append_base64(asked.user_data,
                     "#!/bin/bash\ncat <<'END' >> /etc/ecs/ecs.config\nECS_CLUSTER=big\n"
                     "ECS_INSTANCE_ATTRIBUTES={\"stack\": \"train\"}\nEND\n");
  ASSERT_EQ(*provider->launch(asked), "i-t1");
  const EmulatedMachine& machine = agents.running.at("i-t1");
  EXPECT_EQ(machine.instance_type, "p3.8xlarge");
  EXPECT_EQ(machine.availability_zone, "us-east-1b");
  EXPECT_EQ(machine.cluster, "big");
  EXPECT_EQ(machine.attributes.at("stack"), "train");
}

TEST_F(Emulated, the_same_token_is_the_same_machine) {
  const auto provider = std::move(*open());
  EXPECT_EQ(*provider->launch(order("t1")), *provider->launch(order("t1")));
  EXPECT_EQ(agents.starts, 1);
}

TEST_F(Emulated, the_next_process_takes_the_machines_over) {
  {
    const auto provider = std::move(*open());
    ASSERT_TRUE(provider->launch(order("t1")).has_value());
  }
  EXPECT_THAT(agents.running, IsEmpty());
  const auto provider = std::move(*open());
  EXPECT_EQ(agents.running.at("i-t1").instance_type, "p3.8xlarge");
  EXPECT_THAT(*provider->list(), SizeIs(1));
  EXPECT_EQ(*provider->launch(order("t1")), "i-t1");
  EXPECT_EQ(agents.starts, 2);
}

TEST_F(Emulated, a_machine_that_ends_leaves_nothing) {
  const auto provider = std::move(*open());
  ASSERT_TRUE(provider->launch(order("t1")).has_value());
  ASSERT_TRUE(provider->terminate({"gpus", "i-t1"}).has_value());
  EXPECT_THAT(agents.running, IsEmpty());
  EXPECT_THAT(folders(), IsEmpty());
  EXPECT_THAT(*provider->list(), IsEmpty());
  EXPECT_TRUE(provider->terminate({"gpus", "i-t1"}).has_value());
}

TEST_F(Emulated, a_machine_whose_tasks_do_not_end_stays) {
  const auto provider = std::move(*open());
  ASSERT_TRUE(provider->launch(order("t1")).has_value());
  agents.busy.insert("i-t1");
  const auto ended = provider->terminate({"gpus", "i-t1"});
  ASSERT_FALSE(ended.has_value());
  EXPECT_THAT(ended.error().message, HasSubstr("do not stop"));
  EXPECT_THAT(*provider->list(), SizeIs(1));
}

TEST_F(Emulated, a_type_that_does_not_exist_leaves_nothing) {
  const auto provider = std::move(*open());
  const auto launched = provider->launch(order("t1", "unknown"));
  ASSERT_FALSE(launched.has_value());
  EXPECT_EQ(launched.error().code, "InvalidParameterException");
  EXPECT_THAT(folders(), IsEmpty());
}

TEST_F(Emulated, half_a_launch_is_swept_away_and_a_damaged_file_is_named) {
  std::filesystem::create_directories(folder / "machines" / "t1");
  ASSERT_TRUE(open().has_value());
  EXPECT_THAT(folders(), IsEmpty());
  std::filesystem::create_directories(folder / "machines" / "t2");
  std::ofstream(folder / "machines" / "t2" / "machine.json") << "{";
  const auto provider = open();
  ASSERT_FALSE(provider.has_value());
  EXPECT_THAT(provider.error().message, HasSubstr("machine.json"));
}

TEST_F(Emulated, once_cancelled_nothing_is_launched_and_ends_give_up) {
  const auto provider = std::move(*open());
  ASSERT_TRUE(provider->launch(order("t1")).has_value());
  agents.busy.insert("i-t1");
  provider->cancel();
  EXPECT_EQ(provider->launch(order("t2")).error().code, "Cancelled");
  EXPECT_EQ(provider->terminate({"gpus", "i-t1"}).error().code, "Cancelled");
}

TEST(UserData, names_the_cluster_however_it_is_written) {
  for (const auto& [text, cluster] : std::map<std::string, std::string>{
           {"#!/bin/bash\necho ECS_CLUSTER=a >> /etc/ecs/ecs.config", "a"},
           {"echo \"ECS_CLUSTER=b\" > x", "b"},
           {"ECS_CLUSTER=c", "c"},
           {"nothing at all", ""},
           {"", ""}}) {
    EmulatedMachine machine;
    take_user_data(text, machine);
    EXPECT_EQ(machine.cluster, cluster) << text;
  }
}

}  // namespace
}  // namespace machines
