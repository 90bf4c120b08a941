#include "reconcile/machines/look.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

namespace reconcile::machines {
namespace {

struct Registered {
  std::string id;
  base::Time at;
  bool connected = true;
  model::InstanceStatus status = model::InstanceStatus::Active;
};

std::string found_of(const std::array<Registered, 2>& registered) {
  model::ClusterState state;
  for (const Registered& one : registered) {
    model::ContainerInstance instance;
    instance.arn = model::instance_arn({}, model::ClusterName("default"), one.id);
    instance.ec2_instance_id = "i-1";
    instance.registered_at = one.at;
    instance.agent_connected = one.connected;
    instance.status = one.status;
    state.instances.emplace(instance.arn, instance);
  }
  const InstancesByMachine found = instances_by_machine(state);
  return found.empty() ? std::string() : std::string(model::short_id(found.at("i-1")->arn.str()));
}

constexpr base::Time early{std::chrono::seconds(10)};
constexpr base::Time late{std::chrono::seconds(20)};

TEST(Look, a_machine_is_the_instance_whose_agent_is_there) {
  EXPECT_EQ(found_of({{{"a", early, true}, {"b", late, false}}}), "a");
  EXPECT_EQ(found_of({{{"a", early, false}, {"b", late, true}}}), "b");
  EXPECT_EQ(found_of({{{"a", late, true}, {"b", early, false}}}), "a");
}

TEST(Look, a_machine_without_an_agent_is_the_instance_that_came_last) {
  EXPECT_EQ(found_of({{{"a", late, false}, {"b", early, false}}}), "a");
  EXPECT_EQ(found_of({{{"a", early, false}, {"b", late, false}}}), "b");
}

TEST(Look, an_instance_that_was_deregistered_is_no_machine_s) {
  const auto gone = model::InstanceStatus::Inactive;
  EXPECT_EQ(found_of({{{"a", early, false}, {"b", late, true, gone}}}), "a");
  EXPECT_EQ(found_of({{{"a", early, false, gone}, {"b", late, true, gone}}}), "");
}

}  // namespace
}  // namespace reconcile::machines
