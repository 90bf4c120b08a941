// A control plane with services in a test's hand, and agents that do what they are told.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "control/testing.h"

namespace control::testing {

class Services : public ::testing::Test {
 protected:
  void SetUp() override {
    plane.create_cluster();
    plane.define("web", "1");
    plane.define("next", "1");
    plane.define("bad", "1");
    plane.define("cpu", "");
    Settings settings;
    settings.connect_grace = std::chrono::hours(1000);  // Its agents never open a session.
    plane.core = Core(model::ClusterState(plane.core.state()), settings, 7, plane.now);
  }

  api::ecs::CreateServiceRequest request(const std::string& name, int32_t desired,
                                         const std::string& family = "web") {
    api::ecs::CreateServiceRequest made;
    made.service_name = name;
    made.task_definition = family;
    made.desired_count = desired;
    return made;
  }
  base::Result<api::ecs::CreateServiceResponse> create(
      const api::ecs::CreateServiceRequest& request) {
    return plane.call<api::ecs::CreateServiceResponse>("CreateService", request);
  }
  base::Result<api::ecs::UpdateServiceResponse> update(
      const api::ecs::UpdateServiceRequest& request) {
    return plane.call<api::ecs::UpdateServiceResponse>("UpdateService", request);
  }
  base::Result<api::ecs::UpdateServiceResponse> deploy(const std::string& family) {
    api::ecs::UpdateServiceRequest request;
    request.service = "web";
    request.task_definition = family;
    return update(request);
  }
  base::Result<api::ecs::UpdateServiceResponse> scale(int32_t desired) {
    api::ecs::UpdateServiceRequest request;
    request.service = "web";
    request.desired_count = desired;
    return update(request);
  }
  api::ecs::Service described(const std::string& name = "web") {
    api::ecs::DescribeServicesRequest request;
    request.services = {name};
    request.include = {api::ecs::ServiceField::Tags};
    auto response = plane.call<api::ecs::DescribeServicesResponse>("DescribeServices", request);
    CHECK(response.has_value() && response->services.size() == 1);
    return response->services.front();
  }
  // Every agent does what it is told, except that tasks of `bad` fail to start.
  bool agents_work() {
    bool any = false;
    std::vector<std::pair<std::string, std::string>> reports;
    for (const auto& [arn, task] : plane.core.state().tasks) {
      if (task.last_status == model::TaskStatus::Stopped) continue;
      const bool fails = task.definition.str().find("/bad:") != std::string::npos;
      if (task.desired_status == model::TaskStatus::Stopped) {
        reports.emplace_back(arn.str(), "STOPPED");
      } else if (task.last_status < model::TaskStatus::Running) {
        reports.emplace_back(arn.str(), fails ? "STOPPED" : "RUNNING");
      }
    }
    for (const auto& [arn, status] : reports) {
      api::ecs::SubmitTaskStateChangeRequest request;
      request.task = arn;
      request.status = status;
      if (status == "STOPPED") request.reason = "CannotPullContainerError: no such image";
      any = plane.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", request)
                .has_value() ||
            any;
    }
    return any;
  }
  void run(base::Milliseconds time = std::chrono::minutes(2)) {
    const base::Time end = plane.now + time;
    while (plane.now < end) {
      agents_work();
      plane.pass(std::chrono::seconds(1));
    }
  }
  std::vector<std::string> events(const std::string& name = "web") {
    std::vector<std::string> texts;
    for (const auto& event : described(name).events) texts.push_back(*event.message);
    return texts;
  }
  int tasks_of(const std::string& family) {
    return static_cast<int>(std::ranges::count_if(plane.core.state().tasks, [&](const auto& one) {
      return one.second.desired_status == model::TaskStatus::Running &&
             one.second.definition.str().find("/" + family + ":") != std::string::npos;
    }));
  }

  Plane plane;
};

}  // namespace control::testing
