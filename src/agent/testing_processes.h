// Containers' processes for tests: as the fake runtime says, but for those that the test names.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/container_processes.h"
#include "docker/fake.h"

namespace agent::testing {

class FakeProcesses final : public ContainerProcesses {
 public:
  FakeProcesses() = default;  // No container has any.
  // `runtime` outlives it.
  explicit FakeProcesses(const docker::FakeRuntime& runtime) : runtime_(&runtime) {}

  // Set before the agent starts.
  std::map<std::string, core::ProcessesSeen> named;  // By runtime_id.

  std::vector<core::ProcessesSeen> look(std::span<const std::string> runtime_ids) override {
    std::vector<core::ProcessesSeen> seen;
    for (const std::string& id : runtime_ids) seen.push_back(end(id));
    return seen;
  }
  core::ProcessesSeen end(const std::string& runtime_id) override {
    if (const auto found = named.find(runtime_id); found != named.end()) return found->second;
    const bool runs = runtime_ != nullptr && runtime_->runs(runtime_id);
    return {runs ? core::Processes::Some : core::Processes::None, {}};
  }

 private:
  const docker::FakeRuntime* runtime_ = nullptr;
};

}  // namespace agent::testing
