// What the other threads tell the driver's.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "acs/messages.h"
#include "agent/agent.h"
#include "agent/api_client.h"
#include "agent/container_meter.h"
#include "agent/core/core.h"
#include "agent/gpu_access.h"
#include "agent/image_cleanup.h"
#include "agent/journal.h"
#include "agent/metadata.h"
#include "agent/secrets.h"
#include "base/queue.h"
#include "gpu/devices.h"
#include "net/http_server.h"
#include "net/websocket.h"

namespace agent {

struct GpusFound {
  gpu::Inventory inventory;  // Empty when they could not be listed.
  GpuBaselines baselines;
};
struct GpusLookedAt {
  std::vector<gpu::HealthEvent> events;
  std::vector<GpuFigures> figures;  // Of those that could be measured.
};
// The container of a CreateContainer may now be made.
struct GpuSetupDone {
  core::OperationId id = 0;
  core::CreateContainer request;
  Keys keys;  // Of the task's execution role.
  std::expected<gpu::ContainerGpuSetup, core::OperationError> setup;
};
struct ContainersLookedAt {
  std::vector<ContainerSample> samples;  // Of those that still run.
};

struct RegistrationDone {
  ApiResult<std::string> container_instance_arn;
  std::string told_reason;  // berthStatusReason of the request.
  std::string docker_version;
  bool for_core = false;  // The core waits for it.
};

enum class SocketKind : uint8_t { Control, Telemetry };
// `id` tells one connection, or try to make one, from those before it.
struct SocketOpened {
  SocketKind kind = SocketKind::Control;
  uint64_t id = 0;
  std::shared_ptr<net::WebSocket> socket;  // Shared with the loop that works it.
  std::string telemetry_endpoint;          // Of Control.
};
struct SocketClosed {
  SocketKind kind = SocketKind::Control;
  uint64_t id = 0;
  uint16_t code = 0;  // 0: it could not be opened.
  std::string reason;
  bool is_unknown = false;  // The control plane knows no such container instance.
};
struct ControlMessage {
  uint64_t id = 0;
  acs::ServerMessage message;
};

// A request to the metadata or credentials endpoint. `task_arn`: of the task in whose network it
// was made; empty: on the machine itself.
struct MetadataAsked {
  std::string task_arn;
  net::HttpRequest request;
  net::Responder responder;
};
// A socket in the network of a container; the taker closes it.
struct MetadataSocket {
  std::string task_arn;
  std::string runtime_id;
  int64_t pid = 0;
  int socket = -1;
};
// What the GPUs of a request for figures say; Docker is asked next.
struct GpuFiguresDone {
  StatsWanted wanted;
  std::vector<GpuFigures> gpus;
  net::Responder responder;
};

struct LogsMoved {
  LogKey key;
  LogPosition position;
};

// Each asker waits at a queue of its own, which is closed without an answer when the agent ends.
struct StatusAsked {
  std::shared_ptr<base::Queue<AgentStatus>> answer;  // Shared with the asker.
};
struct StopAllAsked {
  std::string reason;
  std::shared_ptr<base::Queue<bool>> stopped;  // Shared with the asker.
};

using Input =
    std::variant<core::Input, GpusFound, GpusLookedAt, GpuSetupDone, ContainersLookedAt,
                 RegistrationDone, SocketOpened, SocketClosed, ControlMessage, MetadataAsked,
                 MetadataSocket, GpuFiguresDone, CleanupDone, LogsMoved, StatusAsked, StopAllAsked>;
using Inbox = base::Queue<Input>;

}  // namespace agent
