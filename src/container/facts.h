// What a container runtime tells of images and containers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace container {

struct ImageInfo {
  std::string id;                        // "sha256:..."
  std::string digest;                    // "sha256:..." of the registry; empty when imported.
  std::vector<std::string> environment;  // "NAME=value"
};

struct CreatedContainer {
  std::string runtime_id;
};

// Docker's own words; what each means for a task is in agent/core/container_truth.
enum class RuntimeStatus : uint8_t { Created, Running, Paused, Restarting, Removing, Exited, Dead };
// What the kernel says of a container's processes, whatever its runtime says of the container.
enum class Processes : uint8_t {
  Unknown,  // It cannot be looked at on this machine.
  None,
  Some
};
enum class HealthStatus : uint8_t { None, Starting, Healthy, Unhealthy };  // None: no health check.

struct Binding {
  uint16_t container_port = 0;
  std::string host_ip;
  uint16_t host_port = 0;
  bool udp = false;
  friend bool operator==(const Binding&, const Binding&) = default;
};

struct ContainerInfo {
  std::string runtime_id;
  std::string name;      // Without the leading slash.
  std::string image_id;  // "sha256:..."
  std::map<std::string, std::string> labels;
  RuntimeStatus status = RuntimeStatus::Created;
  Processes processes = Processes::Unknown;
  int32_t exit_code = 0;    // Of Exited.
  bool oom_killed = false;  // OutOfMemoryError
  std::string error;        // The daemon's message when it could not be started.
  int64_t pid = 0;          // Of its main process on the machine; 0 when it does not run.
  std::optional<base::Time> created_at;
  std::optional<base::Time> started_at;
  // Of a process that ends at once this may be a millisecond before started_at: dockerd notes the
  // start when the runtime returns.
  std::optional<base::Time> finished_at;
  std::vector<Binding> bindings;          // TCP and UDP, by container port, protocol, host ip.
  std::vector<std::string> ip_addresses;  // IPv4, in the order of the network names.
  HealthStatus health = HealthStatus::None;
  std::string health_output;  // Of the last health check.
};

enum class EventKind : uint8_t {
  Created,
  Started,
  Died,
  OutOfMemory,
  Destroyed,
  HealthChanged,
  Other
};

struct ContainerEvent {
  EventKind kind = EventKind::Other;
  std::string runtime_id;
  std::optional<int32_t> exit_code;          // Of Died.
  HealthStatus health = HealthStatus::None;  // Of HealthChanged.
};

}  // namespace container
