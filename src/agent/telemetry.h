// The telemetry stream (TCS): tells the control plane every 20 s that the agent is there, what its
// GPUs and its tasks' containers do, how the machine is, and the health of containers with a health
// check. Lost messages are not sent again.
#pragma once

#include <cstdint>
#include <memory>

#include "acs/agent_session.h"
#include "acs/telemetry.h"
#include "agent/agent.h"
#include "agent/api_client.h"
#include "agent/control_link.h"
#include "agent/core/core.h"
#include "agent/input.h"
#include "agent/telemetry_messages.h"
#include "base/random.h"
#include "net/loop.h"

namespace agent {

// Belongs to the driver's thread. What the parts refer to outlives it.
class Telemetry {
 public:
  struct Parts {
    const AgentOptions& options;
    ApiClient& api;
    net::Loop& loop;
    Inbox& inbox;
  };
  explicit Telemetry(Parts parts);

  // Of SocketKind::Telemetry both.
  void on_opened(SocketOpened opened, base::Time now);
  void on_closed(const SocketClosed& closed, base::Time now);
  // Connects and publishes when it is time; follows the control stream, whose endpoint names this
  // one's.
  void advance(const MachineView& view, const ControlLink& link, base::Time now);
  // What there is to tell has changed so much that it is not to wait.
  void hurry(base::Time now);
  base::Time wake_at() const { return wake_at_; }
  void stop();

 private:
  void connect(const std::string& arn, const ControlLink& link);
  void publish(const MachineView& view, base::Time now);
  void send(const acs::TelemetryRequest& request);

  Parts parts_;
  InstanceChecks checks_;
  base::Random random_;
  acs::Backoff backoff_;
  uint64_t socket_id_ = 0;
  bool connecting_ = false;
  std::shared_ptr<net::WebSocket> socket_;  // Shared with the loop that works it.
  net::Url url_;
  base::Time opened_at_{};
  base::Time connect_at_ = base::Time::min();
  base::Time publish_at_ = base::Time::max();
  base::Time wake_at_ = base::Time::max();
};

}  // namespace agent
