// What goes into the pure machine, and what comes out of it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <variant>
#include <vector>

#include "acs/messages.h"
#include "acs/telemetry.h"
#include "api/any.h"
#include "auth/key_ring.h"
#include "base/result.h"
#include "base/time.h"
#include "control/step/machine_orders.h"
#include "model/change.h"

namespace control {

using RequestId = uint64_t;  // Of one API call, chosen by the server.
using SessionId = uint64_t;  // Of one agent's ACS connection, chosen by the server.

struct Action;  // action.h

// A call of an operation: `input` holds a value of its request's type.
struct ApiCall {
  RequestId id = 0;
  const Action* action = nullptr;
  api::Any input;
  auth::Caller caller;
  std::string remote_host = {};  // Where it comes from: "192.0.2.1", "::1"; empty: not known.
};

// An agent has opened its ACS websocket. Source: agent-protocol, "ACS session".
struct SessionOpened {
  SessionId session = 0;
  model::ClusterName cluster;
  model::InstanceArn instance;
  // Of the connection's query.
  bool send_credentials = false;  // The agent has none yet: it has just started.
  int32_t protocol_version = 2;
  std::string agent_version = {};
  std::string agent_hash = {};
  std::string docker_version = {};
  int64_t highest = 0;  // "seqNum": what the agent has seen; official agents always say 1.
  std::string access_key_id = {};  // That it was opened with.
  std::string remote_host = {};    // Where it comes from: "192.0.2.1", "::1"; empty: not known.
  // Of the agent's machine while it runs, and its data there: it is another one on a copy of them.
  // Empty: the agent does not tell.
  std::string place = {};
  bool by_agent_key = false;  // It is an agent's own, which may have been taken back meanwhile.
};
struct SessionMessage {
  SessionId session = 0;
  acs::AgentMessage message;
};
struct SessionClosed {
  SessionId session = 0;
  std::string reason;  // What the agent said when it closed; may be empty.
};

// A message of an instance's telemetry stream.
struct TelemetryReceived {
  model::InstanceArn instance;
  acs::TelemetryRequest request;
};

// The time that Core::next_timer() asked for has come.
struct TimerDue {};

using Input = std::variant<ApiCall, SessionOpened, SessionMessage, SessionClosed, TelemetryReceived,
                           MachineReport, TimerDue>;

struct Reply {
  RequestId id = 0;
  std::expected<api::Any, base::Error> result;
};
struct ToAgent {
  SessionId session = 0;
  acs::ServerMessage message;
};
struct CloseSession {
  SessionId session = 0;
  base::Error reason;
};

// Contract with the driver: `changes` are durable before any reply, message or order leaves. When
// the write fails or its outcome is unknown, all of it is dropped and the Core made anew from the
// store.
struct Output {
  std::vector<model::Change> changes;
  std::vector<Reply> replies;
  std::vector<ToAgent> messages;
  std::vector<CloseSession> closes;
  std::vector<MachineOrder> machine_orders;
};

}  // namespace control
