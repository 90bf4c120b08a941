// The websockets of agents: ACS, through which the control plane tells them what to run, and TCS,
// through which they send telemetry. Source: agent protocol, "ACS session" and "TCS".
#pragma once

#include <atomic>
#include <cstdint>

#include "auth/key_ring.h"
#include "base/result.h"
#include "net/http_server.h"
#include "net/loop.h"
#include "server/core_thread.h"

namespace server {

inline constexpr std::string_view acs_path = "/acs/ws";
inline constexpr std::string_view tcs_path = "/tcs/ws";

class AgentSockets {
 public:
  // They all outlive it, and what it opens.
  AgentSockets(CoreThread& core, net::Loop& loop, base::Clock& clock);

  // The container instance that an upgrade names; empty: none.
  static std::string instance_of(std::string_view target);

  // What ECS calls it: "Poll", "StartTelemetrySession"; empty: there is no such websocket.
  static std::string_view operation_of(std::string_view target);

  // The upgrade of a verified caller. Any thread.
  // Errors: AccessDeniedException, InvalidParameterException; the upgrade is untouched then.
  base::Result<void> open(const net::HttpRequest& request, const auth::Caller& caller,
                          const net::Upgrade& upgrade);

 private:
  void open_acs(control::SessionOpened opened, const net::Upgrade& upgrade);
  void open_tcs(const model::InstanceArn& instance, const std::string& access_key_id,
                const net::Upgrade& upgrade);

  CoreThread& core_;
  net::Loop& loop_;
  base::Clock& clock_;
  std::atomic<control::SessionId> last_session_ = 0;
  std::atomic<uint64_t> last_stream_ = 0;
};

}  // namespace server
