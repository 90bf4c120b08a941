// The agent's side of the control plane: registration, the control stream (ACS), reports.
//
// The core decides when to register and to connect; this carries it out and adds one rule: an
// instance whose Docker does not answer is registered with the reason, so that it shows as
// disconnected with that reason, and is not connected before Docker answers and it has been
// registered anew.
//
//   Docker away, not told   -> RegisterContainerInstance with berthStatusReason
//   Docker back, told       -> RegisterContainerInstance without it, then connect
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acs/agent_session.h"
#include "agent/agent.h"
#include "agent/api_client.h"
#include "agent/core/core.h"
#include "agent/exec_sessions.h"
#include "agent/input.h"
#include "agent/registration.h"
#include "agent/workers.h"
#include "net/loop.h"

namespace agent {

// Belongs to the driver's thread. What the parts refer to outlives it.
class ControlLink {
 public:
  struct Parts {
    const AgentOptions& options;
    const Machine& machine;
    docker::ContainerRuntime& docker;
    ApiClient& api;
    net::Loop& loop;
    Inbox& inbox;
    base::Clock& clock;
  };
  explicit ControlLink(Parts parts);

  // What the core wants.
  void want_registration(core::Register registration);
  void want_session(const acs::AgentSession::Command& command);
  void send(const std::vector<acs::AgentMessage>& messages);
  void submit(core::Submit submit);

  // What was heard. The values are the core's inputs, where there is one.
  void docker_is(std::string reason) { docker_reason_ = std::move(reason); }  // Empty: it answers.
  void gpus_are(gpu::Inventory inventory) { inventory_ = std::move(inventory); }
  // The same GPUs, but not as well as they were, or well again.
  void gpus_changed(gpu::Inventory inventory);
  std::optional<core::Input> on_registration(const RegistrationDone& done, base::Time now);
  // Of SocketKind::Control both.
  std::optional<core::Input> on_opened(SocketOpened opened);
  std::optional<core::Input> on_closed(const SocketClosed& closed);
  bool is_current(uint64_t socket_id) const { return socket_id == socket_id_; }

  // Whatever can be done now. `arn` is the core's; empty before the first registration.
  void advance(const std::string& arn, base::Time now);
  base::Time wake_at() const { return wake_at_; }

  bool connected() const { return socket_ != nullptr; }
  const std::string& telemetry_endpoint() const { return telemetry_endpoint_; }
  const std::string& docker_version() const { return docker_version_; }
  // Why it is not connected; empty when it is, or when nothing has failed yet.
  const std::string& trouble() const { return trouble_; }

  // Closes the stream and waits for calls under way.
  void stop();

 private:
  void start_registration(std::string arn, bool for_core);
  void connect(const std::string& arn);

  Parts parts_;
  std::optional<gpu::Inventory> inventory_;   // Not known before discovery.
  std::optional<std::string> docker_reason_;  // Not known before Docker's first answer.
  std::string told_reason_;                   // Of the last registration.
  std::string docker_version_;
  std::string trouble_;
  std::optional<core::Register> registration_;  // Waits for the inventory.
  bool registering_ = false;
  bool announce_ = false;  // The machine has changed.
  std::optional<acs::AgentSession::Connect> connect_;
  base::Time retry_at_ = base::Time::min();  // No announcement and no connection before.
  base::Time wake_at_ = base::Time::max();
  uint64_t socket_id_ = 0;                  // Of the latest try,
  std::string connecting_arn_;              // which was for this instance.
  std::shared_ptr<net::WebSocket> socket_;  // Shared with the loop that works it.
  std::string telemetry_endpoint_;
  std::unique_ptr<ExecSessions> exec_;  // Null: the agent has none.
  Workers calls_{8};
};

}  // namespace agent
