#include "server/agent_sockets.h"

#include <atomic>
#include <memory>

#include "acs/messages.h"
#include "acs/telemetry.h"
#include "api/query.h"
#include "auth/permission.h"
#include "base/arn.h"
#include "base/format.h"
#include "base/log.h"
#include "base/text.h"
#include "server/audit_entry.h"
#include "server/rate_limits.h"

namespace server {
namespace {

// "default" of "default" or of the cluster's ARN.
std::string cluster_of(const std::string& text) {
  const auto arn = base::parse_arn(text);
  return arn ? std::string(arn->resource_id()) : text.empty() ? "default" : text;
}

// An agent gives a telemetry stream up on which nothing comes for a minute, and one without metrics
// sends nothing that would be answered.
constexpr base::Milliseconds telemetry_heartbeat_interval{30'000};

// Far more than an agent ever sends: who is above it is broken, and must not keep the control plane
// from the others.
constexpr base::Pace agent_pace(1'000, 10'000);
constexpr uint16_t close_try_again = 1013;
constexpr size_t longest_place = 64;

// The other end of a web socket, shared by its handlers.
struct Peer {
  std::weak_ptr<net::WebSocket> socket;  // Kept by its connection.
  std::atomic<int64_t> due = 0;          // Of agent_pace.
};

// Whether the peer may send one more message; otherwise it is closed.
bool keeps_pace(Peer& peer, base::Clock& clock) {
  if (agent_pace.pass(peer.due, clock.monotonic())) return true;
  if (const auto socket = peer.socket.lock()) {
    base::log_warning("{} sent too many messages at once: closing", socket->remote_address());
    socket->close(net::close_policy_violation, "too many messages at once");
  }
  return false;
}

// One telemetry stream. Its handlers share it with the timer of its heartbeats.
struct TelemetryStream {
  CoreThread& core;
  net::Loop& loop;
  base::Clock& clock;
  model::InstanceArn instance;
  Peer peer;
};

void beat_later(const std::shared_ptr<TelemetryStream>& stream) {
  stream->loop.after(telemetry_heartbeat_interval, [weak = std::weak_ptr(stream)] {
    const auto alive = weak.lock();
    const auto open = alive ? alive->peer.socket.lock() : nullptr;
    if (open == nullptr) return;
    if (open->send(acs::encode(
            acs::TelemetryMessage{.type = "HeartbeatMessage", .message = {}, .healthy = true}))) {
      beat_later(alive);
    }
  });
}

void take_telemetry_frame(TelemetryStream& stream, const std::string& text) {
  const auto socket = stream.peer.socket.lock();
  if (socket == nullptr || !keeps_pace(stream.peer, stream.clock)) return;
  const auto read = [&]() -> base::Result<acs::TelemetryRequest> {
    const acs::TelemetryFrame frame = TRY(acs::split_telemetry_frame(text));
    return acs::decode_telemetry_request(frame.envelope);
  };
  auto request = read();
  if (!request) {
    base::log_warning("a telemetry frame from {} was dropped: {}", socket->remote_address(),
                      request.error().message);
    return;
  }
  socket->send(acs::encode(acs::acknowledge(*request)));
  // A full queue loses it, as the stream may.
  stream.core.try_push(control::TelemetryReceived{stream.instance, std::move(*request)});
}

control::SessionOpened session_of(control::SessionId session, const std::string& target) {
  return {
      .session = session,
      .cluster = model::ClusterName(cluster_of(api::query_parameter(target, "clusterArn"))),
      .instance = model::InstanceArn(api::query_parameter(target, "containerInstanceArn")),
      .send_credentials = api::query_parameter(target, "sendCredentials") == "true",
      .protocol_version =
          base::parse_number<int32_t>(api::query_parameter(target, "protocolVersion")).value_or(2),
      .agent_version = api::query_parameter(target, "agentVersion"),
      .agent_hash = api::query_parameter(target, "agentHash"),
      .docker_version = api::query_parameter(target, "dockerVersion"),
      .highest = base::parse_number<int64_t>(api::query_parameter(target, "seqNum")).value_or(0),
      .place = api::query_parameter(target, "berthPlace").substr(0, longest_place)};
}

}  // namespace

AgentSockets::AgentSockets(CoreThread& core, net::Loop& loop, base::Clock& clock)
    : core_(core), loop_(loop), clock_(clock) {}

std::string AgentSockets::instance_of(std::string_view target) {
  const bool acs = target.substr(0, target.find('?')) == acs_path;
  return api::query_parameter(target, acs ? "containerInstanceArn" : "containerInstance");
}

std::string_view AgentSockets::operation_of(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  return path == acs_path ? "Poll" : path == tcs_path ? "StartTelemetrySession" : "";
}

base::Result<void> AgentSockets::open(const net::HttpRequest& request, const auth::Caller& caller,
                                      const net::Upgrade& upgrade) {
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  const bool acs = path == acs_path;
  if (!acs && path != tcs_path) {
    return base::fail("InvalidParameterException",
                      base::format("There is no websocket at {}; agents use {} and {}.", path,
                                   acs_path, tcs_path));
  }
  const std::string cluster =
      cluster_of(api::query_parameter(request.target, acs ? "clusterArn" : "cluster"));
  const std::string instance = instance_of(request.target);
  if (instance.empty()) {
    return base::fail("InvalidParameterException",
                      "The query names no container instance: containerInstanceArn is missing.");
  }
  TRY_VOID(auth::allow(caller, {.service = "ecs",
                                .operation = operation_of(request.target),
                                .cluster = cluster,
                                .container_instance = instance}));
  if (acs) {
    control::SessionOpened opened = session_of(++last_session_, request.target);
    opened.access_key_id = caller.access_key_id;
    opened.remote_host = host_of(request.remote_address);
    opened.by_agent_key = std::holds_alternative<auth::AgentAccess>(caller.access);
    open_acs(std::move(opened), upgrade);
  } else {
    open_tcs(model::InstanceArn(instance), caller.access_key_id, upgrade);
  }
  return {};
}

void AgentSockets::open_acs(control::SessionOpened opened, const net::Upgrade& upgrade) {
  const control::SessionId session = opened.session;
  const auto peer = std::make_shared<Peer>();  // Shared by the handler, which comes first.
  // The handlers run after accept() returned, on this thread: SessionOpened is pushed first.
  const auto socket = upgrade.accept(
      {.on_message =
           [this, session, peer](const std::string& text, bool) {
             if (!keeps_pace(*peer, clock_)) return;
             auto message = acs::decode_agent_message(text);
             if (!message) {
               base::log_warning("a message of an agent was dropped: {}", message.error().message);
               return;
             }
             if (core_.try_push(control::SessionMessage{session, std::move(*message)})) return;
             // The agent comes back, and is told anew what it is to run.
             const auto open = peer->socket.lock();
             if (open != nullptr) open->close(close_try_again, "the control plane is busy");
           },
       .on_close =
           [this, session](uint16_t, const std::string& reason) {
             core_.push(control::SessionClosed{session, reason});
           }});
  if (socket == nullptr) return;
  peer->socket = socket;
  core_.push(SessionOpenedWork{std::move(opened), socket});
}

void AgentSockets::open_tcs(const model::InstanceArn& instance, const std::string& access_key_id,
                            const net::Upgrade& upgrade) {
  const auto stream = std::make_shared<TelemetryStream>(core_, loop_, clock_, instance);
  const uint64_t id = ++last_stream_;
  const auto socket = upgrade.accept(
      {.on_message = [stream](const std::string& text,
                              bool) { take_telemetry_frame(*stream, text); },
       .on_close = [this, id](uint16_t, const std::string&) { core_.push(StreamClosedWork{id}); }});
  if (socket == nullptr) return;
  stream->peer.socket = socket;
  core_.push(StreamOpenedWork{id, access_key_id, socket});
  beat_later(stream);
}

}  // namespace server
