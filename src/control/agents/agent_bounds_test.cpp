#include <gtest/gtest.h>

#include <functional>

#include "control/testing.h"

namespace control {
namespace {

using testing::Plane;
using Register = api::ecs::RegisterContainerInstanceRequest;

Register with_gpus(size_t count) {
  Register request;
  request.instance_identity_document = R"({"instanceType":"p4d.24xlarge"})";
  for (size_t i = 0; i < count; ++i) {
    api::ecs::PlatformDevice& device = request.platform_devices.emplace_back();
    device.id = "GPU-" + std::to_string(i);
    device.type = api::ecs::PlatformDeviceType::Gpu;
  }
  return request;
}

struct AgentBounds : ::testing::Test {
  void SetUp() override { plane.create_cluster(); }

  // What the refusal says; empty: it was not refused.
  std::string refusal_of(const Register& request) {
    const auto answer = plane.call<api::ecs::RegisterContainerInstanceResponse>(
        "RegisterContainerInstance", request);
    if (answer) return {};
    EXPECT_EQ(answer.error().code, "InvalidParameterException");
    EXPECT_LT(answer.error().message.size(), 1'000U);
    return answer.error().message;
  }

  Plane plane;
};

TEST_F(AgentBounds, a_machine_with_64_gpus_registers_and_one_more_is_refused_with_the_setting) {
  EXPECT_EQ(refusal_of(with_gpus(64)), "");
  EXPECT_NE(refusal_of(with_gpus(65)).find("--gpus-per-instance"), std::string::npos);
  EXPECT_NE(refusal_of(with_gpus(30'000)).find("platformDevices has 30000"), std::string::npos);
  EXPECT_EQ(plane.core.state().instances.size(), 1U);
}

TEST_F(AgentBounds, a_setting_raises_the_number_of_gpus) {
  Settings settings;
  settings.most_gpus_per_instance = 112;
  plane = Plane(settings);
  plane.create_cluster();
  EXPECT_EQ(refusal_of(with_gpus(112)), "");
}

TEST_F(AgentBounds, a_gpu_that_is_listed_twice_is_refused) {
  Register request = with_gpus(2);
  request.platform_devices[1].id = "GPU-0";
  EXPECT_NE(refusal_of(request).find("listed twice"), std::string::npos);
}

TEST_F(AgentBounds, each_member_of_a_registration_has_a_bound) {
  const std::string long_text(100'000, 'x');
  const std::vector<std::pair<std::string, std::function<void(Register&)>>> cases = {
      {"instanceIdentityDocument ", [&](Register& r) { r.instance_identity_document = long_text; }},
      {"instanceIdentityDocumentSignature",
       [&](Register& r) { r.instance_identity_document_signature = long_text; }},
      {"containerInstanceArn", [&](Register& r) { r.container_instance_arn = "arn:" + long_text; }},
      {"agentVersion", [&](Register& r) { r.version_info.emplace().agent_version = long_text; }},
      {"agentHash", [&](Register& r) { r.version_info.emplace().agent_hash = long_text; }},
      {"dockerVersion", [&](Register& r) { r.version_info.emplace().docker_version = long_text; }},
      {"berthGpuDriverVersion", [&](Register& r) { r.berth_gpu_driver_version = long_text; }},
      {"berthEmulatedInstanceType",
       [&](Register& r) { r.berth_emulated_instance_type = long_text; }},
      {"berthStatusReason", [&](Register& r) { r.berth_status_reason = long_text; }},
      {"attributes has",
       [&](Register& r) {
         for (int i = 0; i < 201; ++i) r.attributes.emplace_back().name = std::to_string(i);
       }},
      {"attributes: value",
       [&](Register& r) {
         r.attributes.emplace_back().name = "a";
         r.attributes[0].value = long_text;
       }},
      {"totalResources has",
       [&](Register& r) {
         for (int i = 0; i < 17; ++i) r.total_resources.emplace_back().name = "CPU";
       }},
      {"stringSetValue has",
       [&](Register& r) {
         auto& ports = r.total_resources.emplace_back();
         ports.name = "PORTS";
         for (int i = 0; i < 101; ++i) ports.string_set_value.push_back(std::to_string(i));
       }},
      {"platformDevices: id", [&](Register& r) { r.platform_devices[0].id = long_text; }},
      {"a text of a GPU",
       [&](Register& r) { r.platform_devices[0].berth_gpu.emplace().model = long_text; }},
      {"cpuList",
       [&](Register& r) { r.platform_devices[0].berth_gpu.emplace().cpu_list = long_text; }},
      {"nvLinks",
       [&](Register& r) {
         auto& gpu = r.platform_devices[0].berth_gpu.emplace();
         for (int i = 0; i < 33; ++i) gpu.nv_links.emplace_back().peer = "GPU-1";
       }},
      {"nics",
       [&](Register& r) {
         auto& gpu = r.platform_devices[0].berth_gpu.emplace();
         for (int i = 0; i < 33; ++i) gpu.nics.push_back("mlx5_0");
       }},
      {"tags",
       [&](Register& r) {
         for (int i = 0; i < 51; ++i) r.tags.push_back(testing::tag(std::to_string(i), "v"));
       }},
  };
  for (const auto& [named, break_it] : cases) {
    Register request = with_gpus(1);
    break_it(request);
    EXPECT_NE(refusal_of(request).find(named), std::string::npos) << named;
  }
  EXPECT_TRUE(plane.core.state().instances.empty());
}

TEST_F(AgentBounds, attributes_do_not_pile_up_over_registrations) {
  Register request = with_gpus(0);
  for (int i = 0; i < 150; ++i) request.attributes.emplace_back().name = "a" + std::to_string(i);
  const auto first =
      plane.call<api::ecs::RegisterContainerInstanceResponse>("RegisterContainerInstance", request);
  ASSERT_TRUE(first);
  request.container_instance_arn = first->container_instance->container_instance_arn;
  for (auto& attribute : request.attributes) attribute.name = "b" + *attribute.name;
  EXPECT_NE(refusal_of(request).find("would have"), std::string::npos);
}

TEST_F(AgentBounds, a_report_is_bounded_too) {
  plane.define("cpu", "");
  plane.register_instance("c5.2xlarge", "one");
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  const std::string long_text(100'000, 'x');
  using Report = api::ecs::SubmitTaskStateChangeRequest;
  const std::vector<std::pair<std::string, std::function<void(Report&)>>> cases = {
      {"status", [&](Report& r) { r.status = long_text; }},
      {"reason", [&](Report& r) { r.reason = long_text; }},
      {"runtimeId", [&](Report& r) { r.containers[0].runtime_id = long_text; }},
      {"imageDigest", [&](Report& r) { r.containers[0].image_digest = long_text; }},
      {"networkBindings has", [&](Report& r) { r.containers[0].network_bindings.resize(1'001); }},
      {"bindIP",
       [&](Report& r) { r.containers[0].network_bindings.emplace_back().bind_ip = long_text; }},
      {"containers has", [&](Report& r) { r.containers.resize(1'001); }},
      {"gpuRelease has", [&](Report& r) { r.gpu_release.resize(65); }},
      {"attachments has", [&](Report& r) { r.attachments.resize(101); }},
  };
  for (const auto& [named, break_it] : cases) {
    Report report;
    report.task = task;
    report.status = "RUNNING";
    report.containers.emplace_back().container_name = "main";
    break_it(report);
    const auto answer =
        plane.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report);
    ASSERT_FALSE(answer) << named;
    EXPECT_EQ(answer.error().code, "InvalidParameterException");
    EXPECT_NE(answer.error().message.find(named), std::string::npos) << answer.error().message;
  }
  EXPECT_EQ(plane.describe(task).last_status, "PENDING");
}

}  // namespace
}  // namespace control
