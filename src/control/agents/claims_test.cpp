#include "control/agents/claims.h"

#include <gtest/gtest.h>

#include "control/testing.h"

namespace control {
namespace {

using testing::Plane;

// Two machines with a key each: one of the cluster "default", one of "other".
struct Claims : ::testing::Test {
  void SetUp() override {
    plane.create_cluster();
    plane.create_cluster("other");
    plane.define("gpu", "1");
    victim_key = new_key("default");
    thief_key = new_key("other");
    act_as(victim_key);
    victim = enroll({"GPU-1", "GPU-2"}, "i-victim").value();
  }

  std::string new_key(const std::string& cluster) {
    act_as_owner();
    api::berth::CreateAgentKeyRequest request;
    request.cluster = cluster;
    return *plane.call<api::berth::CreateAgentKeyResponse>("CreateAgentKey", request)
                ->access_key_id;
  }
  void act_as(const std::string& key) {
    plane.caller = {};
    plane.caller.access_key_id = key;
    plane.caller.access = auth::AgentAccess{};
  }
  void act_as_owner() { plane.caller = {}; }

  base::Result<model::InstanceArn> enroll(const std::vector<std::string>& gpus,
                                          const std::string& machine, const std::string& arn = {}) {
    const auto& keys = plane.core.state().agent_keys;
    const auto key = keys.find(plane.caller.access_key_id);
    api::ecs::RegisterContainerInstanceRequest request;
    request.cluster = key == keys.end() ? "default" : key->second.cluster.str();
    request.instance_identity_document =
        R"({"instanceType":"p3.8xlarge","instanceId":")" + machine + "\"}";
    if (!arn.empty()) request.container_instance_arn = arn;
    request.attributes.push_back({.name = "berth.agent", .value = "1"});
    for (const std::string& gpu : gpus) {
      api::ecs::PlatformDevice& device = request.platform_devices.emplace_back();
      device.id = gpu;
      device.type = api::ecs::PlatformDeviceType::Gpu;
    }
    auto answer = plane.call<api::ecs::RegisterContainerInstanceResponse>(
        "RegisterContainerInstance", request);
    if (!answer) return base::fail(answer.error());
    return model::InstanceArn(*answer->container_instance->container_instance_arn);
  }
  base::Result<void> deregister(const model::InstanceArn& arn, bool force = false) {
    act_as_owner();
    api::ecs::DeregisterContainerInstanceRequest request;
    request.container_instance = arn.str();
    request.force = force;
    TRY_VOID(plane.call<api::ecs::DeregisterContainerInstanceResponse>(
        "DeregisterContainerInstance", request));
    return {};
  }
  base::Result<void> rebind(const model::InstanceArn& arn, const std::string& key) {
    act_as_owner();
    api::berth::RebindAgentKeyRequest request;
    request.id = key;
    request.container_instance = arn.str();
    TRY_VOID(plane.call<api::berth::RebindAgentKeyResponse>("RebindAgentKey", request));
    return {};
  }
  // Runs a task on the victim, and gives it up: one of its GPUs is quarantined, the instance gone.
  std::string quarantine() {
    act_as_owner();
    EXPECT_EQ(plane.run_task("gpu")->tasks.size(), 1U);
    EXPECT_TRUE(deregister(victim, true));
    for (const model::GpuSlot& gpu : instance(victim).gpus) {
      if (gpu.state == model::GpuState::Quarantined) return gpu.device.uuid;
    }
    ADD_FAILURE() << "nothing is quarantined";
    return {};
  }
  const model::ContainerInstance& instance(const model::InstanceArn& arn) {
    return plane.core.state().instances.at(arn);
  }
  void expect_conflict(const base::Result<model::InstanceArn>& answer, const std::string& what) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "ClientException");
    EXPECT_NE(answer.error().message.find(what), std::string::npos) << answer.error().message;
    EXPECT_NE(answer.error().message.find("berth token rebind"), std::string::npos);
  }

  Plane plane;
  std::string victim_key;
  std::string thief_key;
  model::InstanceArn victim;
};

TEST_F(Claims, another_key_cannot_claim_the_gpu_of_an_idle_instance) {
  act_as(thief_key);
  expect_conflict(enroll({"GPU-2"}, "i-thief"), "GPU GPU-2 belongs to");
  EXPECT_EQ(instance(victim).status, model::InstanceStatus::Active);
  EXPECT_EQ(plane.core.state().instances.size(), 1U);
  const auto own = enroll({"GPU-9"}, "i-thief");
  ASSERT_TRUE(own);
  expect_conflict(enroll({"GPU-9", "GPU-1"}, "i-thief", own->str()), "GPU GPU-1 belongs to");
  EXPECT_EQ(instance(*own).gpus.size(), 1U);
}

TEST_F(Claims, another_key_cannot_claim_the_id_of_a_machine) {
  act_as(thief_key);
  expect_conflict(enroll({}, "i-victim"), "The instance id i-victim belongs to");
  const auto own = enroll({}, "i-thief");
  ASSERT_TRUE(own);
  const auto changed = enroll({}, "i-victim", own->str());
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, "ClientException");
  EXPECT_EQ(instance(*own).ec2_instance_id, "i-thief");
}

TEST_F(Claims, a_refused_claim_is_shown_at_the_instance_that_has_it_until_the_key_is_rebound) {
  const auto shown = [&](const model::InstanceArn& arn) {
    act_as_owner();
    api::ecs::DescribeContainerInstancesRequest request;
    request.cluster = instance(arn).cluster.str();
    request.container_instances.push_back(arn.str());
    const auto told = plane.call<api::ecs::DescribeContainerInstancesResponse>(
        "DescribeContainerInstances", request);
    for (const api::ecs::Attribute& one : told->container_instances.at(0).attributes) {
      if (one.name == "berth.refused-claim") return one.value.value_or("");
    }
    return std::string();
  };
  EXPECT_EQ(shown(victim), "");
  act_as(thief_key);
  plane.remote_host = "10.0.0.66";
  EXPECT_FALSE(enroll({"GPU-2"}, "i-thief"));
  EXPECT_EQ(shown(victim), "GPU GPU-2 claimed by 10.0.0.66 with the key " + thief_key + " at " +
                               base::format_rfc3339(plane.now));
  act_as(thief_key);
  const model::InstanceArn own = enroll({"GPU-9"}, "i-thief").value();
  EXPECT_EQ(shown(own), "");
  const std::string anew_key = new_key("default");
  ASSERT_TRUE(rebind(victim, anew_key));
  EXPECT_EQ(shown(victim), "");
}

TEST_F(Claims, another_key_cannot_launder_a_quarantine) {
  const std::string gpu = quarantine();
  act_as(thief_key);
  expect_conflict(enroll({gpu}, "i-thief"), "where it was quarantined");
  EXPECT_EQ(model::find_gpu(instance(victim), gpu)->state, model::GpuState::Quarantined);
  // The GPU that was not quarantined is nobody's, now that its instance is gone.
  EXPECT_TRUE(enroll({gpu == "GPU-1" ? "GPU-2" : "GPU-1"}, "i-thief"));
}

TEST_F(Claims, the_key_of_the_instance_takes_its_quarantine_along) {
  const std::string gpu = quarantine();
  act_as(victim_key);
  const auto anew = enroll({"GPU-1", "GPU-2"}, "i-victim");
  ASSERT_TRUE(anew) << anew.error().message;
  EXPECT_EQ(model::find_gpu(instance(*anew), gpu)->state, model::GpuState::Quarantined);
  EXPECT_EQ(model::find_gpu(instance(victim), gpu)->state, model::GpuState::Idle);
}

TEST_F(Claims, a_machine_that_was_installed_anew_comes_back_once_its_key_is_rebound) {
  const std::string anew_key = new_key("default");
  act_as(anew_key);
  expect_conflict(enroll({"GPU-1", "GPU-2"}, "i-other-id"), victim.str());
  ASSERT_TRUE(rebind(victim, anew_key));
  EXPECT_FALSE(plane.core.state().agent_keys.contains(victim_key));
  act_as(anew_key);
  const auto anew = enroll({"GPU-1", "GPU-2"}, "i-other-id");
  ASSERT_TRUE(anew) << anew.error().message;
  EXPECT_EQ(instance(victim).status, model::InstanceStatus::Inactive);
  EXPECT_EQ(plane.core.state().agent_keys.at(anew_key).instance, *anew);
}

TEST_F(Claims, a_rebound_key_stays_so_over_a_restart_and_takes_a_quarantine_along) {
  const std::string gpu = quarantine();
  const std::string anew_key = new_key("default");
  ASSERT_TRUE(rebind(victim, anew_key));
  plane.core = Core(plane.reloaded(), Settings{}, 7, plane.now);
  act_as(anew_key);
  const auto anew = enroll({"GPU-1", "GPU-2"}, "i-other-id");
  ASSERT_TRUE(anew) << anew.error().message;
  EXPECT_EQ(model::find_gpu(instance(*anew), gpu)->state, model::GpuState::Quarantined);
}

TEST_F(Claims, a_key_that_is_another_instances_or_nobodys_is_not_rebound) {
  act_as(thief_key);
  ASSERT_TRUE(enroll({"GPU-9"}, "i-thief"));
  const auto taken = rebind(victim, thief_key);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, "ClientException");
  const auto unknown = rebind(victim, "BERTHA0000");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "InvalidParameterException");
  EXPECT_TRUE(plane.core.state().agent_keys.contains(victim_key));
}

TEST_F(Claims, only_a_full_key_may_rebind) {
  act_as(thief_key);
  api::berth::RebindAgentKeyRequest request;
  request.id = thief_key;
  request.container_instance = victim.str();
  const auto answer = plane.call<api::berth::RebindAgentKeyResponse>("RebindAgentKey", request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "AccessDeniedException");
}

TEST_F(Claims, a_full_key_takes_over_an_idle_instance_as_its_operator_wants) {
  act_as_owner();
  const auto anew = enroll({"GPU-1", "GPU-2"}, "i-victim");
  ASSERT_TRUE(anew);
  EXPECT_EQ(instance(victim).status, model::InstanceStatus::Inactive);
}

}  // namespace
}  // namespace control
