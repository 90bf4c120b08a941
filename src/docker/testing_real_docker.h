// Tests against a real dockerd: BERTH_TEST_DOCKER=unix:///path names it; without it they are
// skipped. BERTH_TEST_IMAGE names an image with a busybox on that daemon (busybox:test).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "docker/client.h"

namespace docker::testing {

inline constexpr const char* test_label = "berth.test.run";

class RealDocker : public ::testing::Test {
 protected:
  void SetUp() override {
    host_ = std::getenv("BERTH_TEST_DOCKER");
    if (host_ == nullptr) GTEST_SKIP() << "BERTH_TEST_DOCKER names no daemon";
    const char* image = std::getenv("BERTH_TEST_IMAGE");
    if (image != nullptr) image_ = image;
    base::Random random(base::system_seed());
    run_ = random.hex(12);
    client_ = DockerClient::create(host_).value();
  }

  void TearDown() override {
    if (client_ == nullptr) return;
    const auto left = client_->list({{{test_label, run_}}});
    ASSERT_TRUE(left.has_value()) << left.error().message;
    for (const ContainerSummary& container : *left) {
      EXPECT_TRUE(client_->remove(container.id, {.force = true, .volumes = true}).has_value());
    }
  }

  std::string name(std::string_view suffix) const {
    return base::format("berth-test-{}-{}", run_, suffix);
  }

  json::Value body(std::string_view script) const {
    return json::Value::object({{"Image", image_},
                                {"Cmd", json::Value::array({"sh", "-c", json::Value(script)})},
                                {"Labels", json::Value::object({{test_label, run_}})}});
  }

  std::string create(std::string_view suffix, const json::Value& body) {
    const auto created = client_->create(name(suffix), body);
    EXPECT_TRUE(created.has_value()) << created.error().message;
    return created ? created->runtime_id : "";
  }

  std::string start(std::string_view suffix, const json::Value& body) {
    const std::string id = create(suffix, body);
    const auto started = client_->start(id);
    EXPECT_TRUE(started.has_value()) << started.error().message;
    return id;
  }

  // Blocks until the container's event of that kind, also when it has been already.
  ContainerEvent wait_for(const std::string& id, EventKind kind) {
    ContainerEvent found;
    const auto ended = client_->events({.since_ns = 0, .labels = {{test_label, run_}}},
                                       [&](const ContainerEvent& event) {
                                         if (event.runtime_id != id || event.kind != kind) {
                                           return true;
                                         }
                                         found = event;
                                         return false;
                                       });
    EXPECT_TRUE(ended.has_value()) << ended.error().message;
    return found;
  }

  std::vector<LogLine> logs(const std::string& id, bool follow) {
    std::vector<LogLine> lines;
    const auto ended = client_->logs({.id = id, .follow = follow}, [&lines](LogLine&& line) {
      lines.push_back(std::move(line));
      return true;
    });
    EXPECT_TRUE(ended.has_value()) << ended.error().message;
    return lines;
  }

  const char* host_ = nullptr;
  std::unique_ptr<DockerClient> client_;
  std::string image_ = "busybox:test";
  std::string run_;
};

}  // namespace docker::testing
