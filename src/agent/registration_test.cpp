#include "agent/registration.h"

#include <gtest/gtest.h>

#include <map>

namespace agent {
namespace {

class Registration : public ::testing::Test {
 protected:
  Registration() {
    machine_.cpu_units = 1024;
    machine_.memory_mib = 512;
    gpus_.driver_version = "570.133.20";
    gpus_.cuda_version = "12.8";
    gpus_.mps.control_program = "/usr/bin/nvidia-cuda-mps-control";
    gpus_.gpus.push_back({.uuid = "GPU-a",
                          .model = "NVIDIA H100 80GB HBM3",
                          .architecture = "Hopper",
                          .memory_mib = 81079,
                          .nvlinks = {{"GPU-b", 18}},
                          .nics = {"mlx5_0", "mlx5_1"},
                          .mps_capable = true});
    gpus_.gpus.push_back({.uuid = "GPU-b", .model = "x", .memory_mib = 81079});
  }
  api::ecs::RegisterContainerInstanceRequest request() const {
    return registration_request({.options = options_, .machine = machine_, .gpus = gpus_});
  }
  std::map<std::string, std::string> attributes() const {
    std::map<std::string, std::string> all;
    for (const auto& one : request().attributes) all[*one.name] = one.value.value_or("");
    return all;
  }

  AgentOptions options_;
  Machine machine_;
  gpu::Inventory gpus_;
};

TEST_F(Registration, tells_what_its_gpus_are_as_attributes) {
  const auto told = attributes();
  EXPECT_EQ(told.at("berth.gpu-model"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(told.at("berth.gpu-arch"), "Hopper");
  EXPECT_EQ(told.at("berth.gpu-memory-mib"), "81079");
  EXPECT_EQ(told.at("berth.gpu-count"), "2");
  EXPECT_EQ(told.at("berth.gpu-nvlink"), "true");
  EXPECT_EQ(told.at("berth.cuda-version"), "12.8");
  EXPECT_EQ(told.at("ecs.capability.gpu-driver-version"), "570.133.20");
  EXPECT_TRUE(told.contains("ecs.capability.nvidia-driver-version.570.133.20"));
  EXPECT_EQ(told.at("berth.gpu-nics.0"), "mlx5_0 mlx5_1");
  EXPECT_FALSE(told.contains("berth.gpu-nics.1"));
  EXPECT_EQ(request().platform_devices.front().berth_gpu->nics.size(), 2U);
}

TEST_F(Registration, tells_the_name_of_its_host_and_of_an_emulated_machine_its_own_too) {
  const std::string host = describe_machine(options_, "i-1")->host_name;
  EXPECT_FALSE(host.empty());
  options_.emulated_instance_type = "p3.8xlarge";
  options_.data_dir = "/var/lib/berth/agents/0-p3.8xlarge";
  machine_ = *describe_machine(options_, "i-1");
  EXPECT_EQ(machine_.host_name, host + "-0-p3.8xlarge");
  EXPECT_EQ(attributes().at("berth.host-name"), machine_.host_name);
}

TEST_F(Registration, tells_where_it_is_reached_unless_its_operator_says_so) {
  EXPECT_FALSE(attributes().contains("berth.host-address"));
  const auto told = [&] {
    const auto made = registration_request(
        {.options = options_, .machine = machine_, .gpus = gpus_, .host_address = "192.0.2.7"});
    std::string value;
    for (const auto& one : made.attributes) {
      if (one.name == "berth.host-address") value += one.value.value_or("");
    }
    return value;
  };
  EXPECT_EQ(told(), "192.0.2.7");
  options_.attributes["berth.host-address"] = "10.0.0.7";
  EXPECT_EQ(told(), "10.0.0.7");
}

TEST_F(Registration, offers_the_log_drivers_that_docker_has_and_the_one_that_the_agent_plays) {
  const auto drivers = [&](const docker::RuntimeInfo* docker) {
    std::string names;
    const std::string prefix = "com.amazonaws.ecs.capability.logging-driver.";
    const auto made = registration_request(
        {.options = options_, .machine = machine_, .gpus = gpus_, .docker = docker});
    for (const auto& one : made.attributes) {
      if (one.name->starts_with(prefix)) names += one.name->substr(prefix.size()) + " ";
    }
    return names;
  };
  docker::RuntimeInfo docker;
  docker.log_drivers = {"journald", "json-file", "local"};
  EXPECT_EQ(drivers(&docker), "awslogs journald json-file ");
  EXPECT_EQ(drivers(nullptr), "awslogs fluentd gelf journald json-file splunk syslog ");
}

TEST_F(Registration, offers_shares_where_mps_is_there_and_a_gpu_can_do_it) {
  EXPECT_TRUE(attributes().contains("ecs.capability.gpu-sharing-mps"));
  EXPECT_TRUE(*request().platform_devices[0].berth_gpu->mps_capable);
  EXPECT_FALSE(*request().platform_devices[1].berth_gpu->mps_capable);
  gpus_.mps = {.missing = "It is not here."};
  EXPECT_FALSE(attributes().contains("ecs.capability.gpu-sharing-mps"));
  EXPECT_FALSE(*request().platform_devices[0].berth_gpu->mps_capable);
}

TEST_F(Registration, a_mig_instance_can_be_had_as_a_share_without_mps) {
  gpus_.mps = {.missing = "It is not here."};
  gpus_.gpus[1].mig_profile = "1g.10gb";
  EXPECT_TRUE(attributes().contains("ecs.capability.gpu-sharing-mps"));
}

}  // namespace
}  // namespace agent
