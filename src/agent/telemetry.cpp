#include "agent/telemetry.h"

#include <algorithm>
#include <utility>

#include "agent/registration.h"
#include "agent/websocket_url.h"
#include "base/log.h"
#include "net/websocket_client.h"

namespace agent {
namespace {

// Source: amazon-ecs-agent, ecs-agent/tcs/client/client.go and tcs/handler/handler.go.
constexpr base::Milliseconds backoff_min = std::chrono::seconds(1);
constexpr base::Milliseconds backoff_max = std::chrono::minutes(1);
constexpr base::Milliseconds silence_limit = std::chrono::minutes(2);

}  // namespace

Telemetry::Telemetry(Parts parts)
    : parts_(parts), random_(base::system_seed()), backoff_(backoff_min, backoff_max, 2, 0.2) {}

void Telemetry::on_opened(SocketOpened opened, base::Time now) {
  if (opened.id != socket_id_) return opened.socket->abort();
  connecting_ = false;
  socket_ = std::move(opened.socket);
  opened_at_ = now;
  publish_at_ = now;
}

void Telemetry::on_closed(const SocketClosed& closed, base::Time now) {
  if (closed.id != socket_id_) return;
  base::log_debug("The telemetry stream ended: {}", closed.reason);
  if (socket_ != nullptr && now - opened_at_ >= backoff_max) backoff_.reset();
  connecting_ = false;
  socket_.reset();
  publish_at_ = base::Time::max();
  connect_at_ = now + backoff_.next(random_);
}

void Telemetry::hurry(base::Time now) {
  if (socket_ != nullptr) publish_at_ = now;
}

void Telemetry::advance(const MachineView& view, const ControlLink& link, base::Time now) {
  const bool wanted = link.connected() && !link.telemetry_endpoint().empty();
  if (wanted && socket_ == nullptr && !connecting_ && now >= connect_at_) {
    connect(view.core.container_instance_arn(), link);
  }
  if (socket_ != nullptr && now >= publish_at_) {
    publish_at_ = now + parts_.options.metrics_interval;
    publish(view, now);
  }
  wake_at_ = socket_ != nullptr       ? publish_at_
             : wanted && !connecting_ ? connect_at_
                                      : base::Time::max();
}

void Telemetry::connect(const std::string& arn, const ControlLink& link) {
  auto url = websocket_url(link.telemetry_endpoint(), {{"cluster", parts_.options.cluster},
                                                       {"containerInstance", arn},
                                                       {"agentVersion", parts_.options.version},
                                                       {"agentHash", parts_.options.hash},
                                                       {"dockerVersion", link.docker_version()}});
  const uint64_t id = ++socket_id_;
  connecting_ = true;
  if (!url) {
    parts_.inbox.push(SocketClosed{SocketKind::Telemetry, id, 0, url.error().message});
    return;
  }
  url_ = std::move(*url);
  net::WebSocketRequest open{.url = url_, .headers = parts_.api.sign_get(url_)};
  open.tls = parts_.api.tls();
  open.options.idle_timeout = silence_limit;
  net::WebSocketHandlers handlers{
      .on_message = [](const std::string&, bool) {},  // Acknowledgements: nothing is sent again.
      .on_close =
          [&inbox = parts_.inbox, id](uint16_t code, std::string reason) {
            inbox.push(SocketClosed{SocketKind::Telemetry, id, code, std::move(reason)});
          }};
  net::connect_websocket(
      parts_.loop, std::move(open), std::move(handlers),
      [&inbox = parts_.inbox, id](base::Result<std::shared_ptr<net::WebSocket>> socket) {
        if (socket) {
          inbox.push(SocketOpened{SocketKind::Telemetry, id, std::move(*socket), {}});
        } else {
          inbox.push(SocketClosed{SocketKind::Telemetry, id, 0, socket.error().message});
        }
      });
}

void Telemetry::publish(const MachineView& view, base::Time now) {
  for (acs::PublishMetricsRequest& metrics : metrics_round(view, now)) {
    metrics.metadata->message_id = random_.uuid();
    send(metrics);
  }
  acs::PublishInstanceStatusRequest status = checks_.report(view, now);
  status.metadata->request_id = random_.uuid();
  send(status);
  if (auto health = core::health_report(view.core, now)) {
    if (health->metadata) health->metadata->message_id = random_.uuid();
    send(*health);
  }
}

// Each frame carries the signature of a request of its own.
void Telemetry::send(const acs::TelemetryRequest& request) {
  std::string headers;
  for (const net::Header& header : parts_.api.sign_get(url_)) {
    headers += header.name + ": " + header.value + "\r\n";
  }
  socket_->send(acs::join_telemetry_frame(headers, request));
}

void Telemetry::stop() {
  if (socket_ != nullptr) socket_->close(net::close_going_away, "The agent stops.");
}

}  // namespace agent
