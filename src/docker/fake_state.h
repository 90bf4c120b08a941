// What FakeRuntime remembers, and how its world changes. Only fake.cpp and fake_state.cpp see it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/queue.h"
#include "docker/fake.h"

namespace docker {

struct FakeContainer {
  bool running() const { return state.status == RuntimeStatus::Running; }

  ContainerState state;
  json::Value body;
  bool ignores_sigterm = false;
  std::vector<std::string> signals;
  std::vector<LogLine> log;
  // Shared between the followers of the log and the world that writes it.
  std::vector<std::shared_ptr<base::Queue<LogLine>>> followers;
};

struct FakeFailure {
  std::optional<Operation> operation;  // nullopt: any.
  uint64_t at_call = 0;                // Of that operation, counted from the beginning.
  Error error;
  Effect effect = Effect::None;
};

struct FakeRuntime::State {
  static constexpr size_t operation_count = static_cast<size_t>(Operation::CreateNetwork) + 1;
  static constexpr size_t stream_capacity = 100'000;

  RuntimeInfo info;
  base::Time now{};
  int64_t last_time_ns = 0;
  bool reachable = true;
  std::set<std::string> images;
  std::set<std::string> registry;
  std::map<std::string, FakeContainer> containers;  // By id.
  std::map<std::string, VolumeRequest> volumes;
  std::set<std::string> networks;
  uint64_t containers_made = 0;
  uint16_t next_port = 32768;

  uint64_t calls = 0;
  std::array<uint64_t, operation_count> calls_of{};
  std::vector<std::string> call_log;
  std::vector<FakeFailure> failures;

  std::vector<ContainerEvent> events;
  size_t events_taken = 0;
  // Shared between the callers of events() and the world that makes them.
  std::vector<std::shared_ptr<base::Queue<ContainerEvent>>> listeners;

  // By id or name; nullptr when there is none.
  FakeContainer* find(const std::string& id);
  // Counts the call and says how it shall fail.
  std::optional<FakeFailure> count_call(Operation operation, const std::string& subject);
  // Grows with every call, so that no two events or lines share a time.
  int64_t next_time_ns();
  // Of the container's next line: as the clock stands, also where it was set back.
  int64_t log_time_ns(const FakeContainer& container) const;

  Result<CreatedContainer> create(const std::string& name, const json::Value& body);
  Result<void> start(FakeContainer& container);
  void signal(FakeContainer& container, const std::string& name);
  void finish(FakeContainer& container, int32_t exit_code, ExitKind kind);
  void remove(FakeContainer& container);
  void write_log(FakeContainer& container, OutputStream stream, std::string line);
  ContainerEvent& emit(EventKind kind, std::string action, const FakeContainer& container);
  void publish(const ContainerEvent& event);
  void end_streams();
};

// "busybox" -> "busybox:latest"; digests stay as they are.
std::string full_image_name(const std::string& image);

}  // namespace docker
