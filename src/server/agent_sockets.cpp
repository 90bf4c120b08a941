#include "server/agent_sockets.h"

#include "acs/messages.h"
#include "acs/telemetry.h"
#include "auth/permission.h"
#include "base/arn.h"
#include "base/format.h"
#include "base/log.h"
#include "server/front.h"

namespace server {
namespace {


// "default" of "default" or of the cluster's ARN.
std::string cluster_of(const std::string& text) {
  const auto arn = base::parse_arn(text);
  return arn ? std::string(arn->resource_id()) : text.empty() ? "default" : text;
}

// A frame of the agent: answered at once, nothing of it is kept.
void answer_telemetry(net::WebSocket& socket, const std::string& text) {
  const auto read = [&]() -> base::Result<acs::TelemetryRequest> {
    const acs::TelemetryFrame frame = TRY(acs::split_telemetry_frame(text));
    return acs::decode_telemetry_request(frame.envelope);
  };
  const auto request = read();
  if (!request) {
    base::log_warning("a telemetry frame from {} was dropped: {}", socket.remote_address(),
                      request.error().message);
    return;
  }
  socket.send(acs::encode(acs::acknowledge(*request)));
}

}  // namespace

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
      cluster_of(query_parameter(request.target, acs ? "clusterArn" : "cluster"));
  const std::string instance =
      query_parameter(request.target, acs ? "containerInstanceArn" : "containerInstance");
  if (instance.empty()) {
    return base::fail("InvalidParameterException",
                      "The query names no container instance: containerInstanceArn is missing.");
  }
  TRY_VOID(auth::allow(caller, {.service = "ecs",
                                .operation = acs ? "Poll" : "StartTelemetrySession",
                                .cluster = cluster,
                                .container_instance = instance}));
  if (acs) {
    open_acs({++last_session_, model::ClusterName(cluster), model::InstanceArn(instance)}, upgrade);
  } else {
    open_tcs(upgrade);
  }
  return {};
}

void AgentSockets::open_acs(control::SessionOpened opened, const net::Upgrade& upgrade) {
  const control::SessionId session = opened.session;
  // The handlers run after accept() returned, on this thread: SessionOpened is pushed first.
  const auto socket = upgrade.accept(
      {.on_message =
           [this, session](const std::string& text, bool) {
             auto message = acs::decode_agent_message(text);
             if (!message) {
               base::log_warning("a message of an agent was dropped: {}", message.error().message);
               return;
             }
             core_.push(control::SessionMessage{session, std::move(*message)});
           },
       .on_close =
           [this, session](uint16_t, const std::string& reason) {
             core_.push(control::SessionClosed{session, reason});
           }});
  if (socket == nullptr) return;
  core_.push(SessionOpenedWork{std::move(opened), socket});
}

void AgentSockets::open_tcs(const net::Upgrade& upgrade) {
  struct Socket {
    std::weak_ptr<net::WebSocket> weak;
  };
  const auto holder = std::make_shared<Socket>();  // Shared by the handler, which comes first.
  const auto socket = upgrade.accept({.on_message =
                                          [holder](const std::string& text, bool) {
                                            if (const auto open = holder->weak.lock()) {
                                              answer_telemetry(*open, text);
                                            }
                                          },
                                      .on_close = [holder](uint16_t, const std::string&) {}});
  if (socket != nullptr) holder->weak = socket;
}

}  // namespace server
