#include "agent/machine_identity.h"

#include <gtest/gtest.h>

#include "agent/journal.h"
#include "agent/testing.h"

namespace agent {
namespace {

const std::string first_id(32, 'a');
const std::string second_id(32, 'b');

class DataOfMachine : public ::testing::Test {
 protected:
  bool starts(const std::string& machine, const std::string& docker, bool adopt = false) {
    const auto bound =
        bind_to_machine(*journal_, machine_identity(machine, docker), adopt, "/data");
    if (!bound) {
      EXPECT_EQ(bound.error().code, "AnotherMachine");
      EXPECT_NE(bound.error().message.find("--adopt-data"), std::string::npos);
    }
    return bound.has_value();
  }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<Journal> journal_ = Journal::open(directory_.path() / "agent.db").value();
};

TEST_F(DataOfMachine, the_same_machine_starts_again_whether_docker_answers_or_not) {
  EXPECT_TRUE(starts(first_id, ""));
  EXPECT_TRUE(starts(first_id, "docker-1"));
  EXPECT_TRUE(starts(first_id, ""));
  EXPECT_TRUE(starts("", "docker-1"));
  EXPECT_TRUE(starts(first_id, "docker-1"));
}

TEST_F(DataOfMachine, another_machine_is_refused_until_it_adopts_the_data) {
  EXPECT_TRUE(starts(first_id, "docker-1"));
  EXPECT_FALSE(starts(second_id, "docker-2"));
  EXPECT_FALSE(starts(second_id, ""));
  EXPECT_TRUE(starts(first_id, "docker-1")) << "nothing has changed by the refusal";
  EXPECT_TRUE(starts(second_id, "docker-2", true));
  EXPECT_TRUE(starts(second_id, "docker-2"));
  EXPECT_FALSE(starts(first_id, "docker-1"));
}

TEST_F(DataOfMachine, a_copy_of_the_whole_disk_has_dockers_id_too_and_is_refused) {
  EXPECT_TRUE(starts(first_id, "docker-1"));
  EXPECT_FALSE(starts(second_id, "docker-1"));
}

TEST_F(DataOfMachine, a_docker_that_was_installed_anew_is_the_same_machines) {
  EXPECT_TRUE(starts(first_id, "docker-1"));
  EXPECT_TRUE(starts(first_id, "docker-2"));
  EXPECT_FALSE(starts("", "docker-1")) << "it is not the one that is there now";
}

TEST_F(DataOfMachine, without_a_machine_id_dockers_id_counts) {
  for (const char* none : {"", "uninitialized"}) EXPECT_TRUE(starts(none, "docker-1"));
  EXPECT_FALSE(starts("", "docker-2"));
  EXPECT_TRUE(starts("", "docker-2", true));
  EXPECT_TRUE(starts(first_id, "docker-2"));
}

TEST(MachineIdentity, ids_are_not_told_as_they_are) {
  const MachineIdentity identity = machine_identity(first_id, "docker-1");
  EXPECT_EQ(identity.machine.find(first_id.substr(0, 8)), std::string::npos);
  EXPECT_NE(identity.machine, machine_identity(second_id, "").machine);
  EXPECT_EQ(running_place("/data"), running_place("/data"));
  EXPECT_NE(running_place("/data"), running_place("/other"));
}

}  // namespace
}  // namespace agent
