#include "cli/exec_line.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "acs/exec.h"
#include "api/generated/ssm.h"
#include "base/format.h"
#include "cli/client.h"
#include "json/value.h"
#include "net/websocket_client.h"

namespace cli {
namespace {

constexpr uint16_t close_normal = 1000;
constexpr uint16_t close_broken = 1006;
constexpr base::Milliseconds silence{60'000};
constexpr base::Milliseconds patience{25'000};
constexpr base::Milliseconds goodbye{2'000};
constexpr base::Milliseconds first_redial_pause{100};
constexpr base::Milliseconds longest_redial_pause{2'000};
constexpr size_t events_capacity = acs::exec_window + 100'000;  // A message has a byte at least.

}  // namespace

ExecLine::ExecLine(Parts parts) : parts_(std::move(parts)), events_(events_capacity) {}

ExecLine::~ExecLine() {
  close();
  events_.close();
  loop_.stop();
}

base::Result<void> ExecLine::open() {
  return connect();
}

// Until the far end has heard of it, behind all that was sent before: a loop that stops breaks its
// connections, and the control plane waits for the client of a broken one.
void ExecLine::close() {
  if (socket_ == nullptr) return;
  socket_->close(close_normal, "");
  const auto until = std::chrono::steady_clock::now() + goodbye;
  for (bool closed = false; !closed;) {
    const auto left =
        std::chrono::duration_cast<base::Milliseconds>(until - std::chrono::steady_clock::now());
    if (left <= base::Milliseconds{0}) return;
    for (const Event& event : events_.pop_batch(events_capacity, left)) {
      closed = closed || (event.connection == connection_ && !event.message);
    }
  }
}

base::Result<void> ExecLine::connect() {
  net::WebSocketRequest request{.url = TRY(net::parse_url(parts_.session.stream_url.value_or("")))};
  request.tls = TRY(trust_of(parts_.credentials));
  request.options.idle_timeout = silence;
  const uint64_t connection = ++connection_;
  const auto tell = [this, connection](std::optional<std::string> message, uint16_t code,
                                       std::string reason) {
    // Full: the far end sends more than it may, and the connection that stalls is its own.
    events_.push({connection, std::move(message), code, std::move(reason)});
    parts_.wake();
  };
  net::WebSocketHandlers handlers{
      .on_message = [tell](std::string message, bool) { tell(std::move(message), 0, {}); },
      .on_close = [tell](uint16_t code,
                         std::string reason) { tell(std::nullopt, code, std::move(reason)); }};
  base::Queue<base::Result<std::shared_ptr<net::WebSocket>>> opened(1);
  net::connect_websocket(loop_, std::move(request), std::move(handlers),
                         [&opened](auto socket) { opened.push(std::move(socket)); });
  socket_ = TRY(std::move(*opened.pop()));
  link_.reconnect();
  socket_->send(
      json::print(json::Value::object({{"MessageSchemaVersion", "1.0"},
                                       {"TokenValue", parts_.session.token_value.value_or("")},
                                       {"BerthRaw", true},
                                       {"BerthTerminal", parts_.terminal},
                                       {"BerthTaken", link_.taken()}})));
  return {};
}

void ExecLine::send(std::string message) {
  const std::string& kept = link_.send(std::move(message));
  if (socket_ != nullptr && link_.is_open()) socket_->send_binary(kept);
}

void ExecLine::receive(std::string message, News& news) {
  acs::ExecLink::Received received = link_.receive(message);
  give_up_at_.reset();
  if (received.broken) {
    news.closed = "The control plane does not keep to the session's protocol.";
    return;
  }
  for (std::string& answer : received.answers) socket_->send_binary(std::move(answer));
  if (!received.for_caller) return;
  const auto read = acs::decode_exec(message);
  ended_ =
      ended_ ||
      (read && (read->kind == acs::ExecKind::ExitCode || read->kind == acs::ExecKind::Failure));
  news.messages.push_back(std::move(message));
}

ExecLine::News ExecLine::take() {
  News news;
  bool broke = false;
  for (Event& event : events_.pop_batch(events_capacity, base::Milliseconds{0})) {
    if (event.connection != connection_ || ended_ || news.closed) continue;
    if (event.message) {
      receive(std::move(*event.message), news);
    } else {
      socket_.reset();
      broke = event.code == close_broken;
      if (!broke) news.closed = "The session was closed: " + event.reason;
    }
  }
  if (broke && !ended_) news.closed = come_back();
  return news;
}

std::optional<std::string> ExecLine::come_back() {
  if (!give_up_at_) give_up_at_ = std::chrono::steady_clock::now() + patience;
  std::string trouble = "it breaks again and again";
  for (base::Milliseconds pause = first_redial_pause;;
       pause = std::min(pause * 2, longest_redial_pause)) {
    if (std::chrono::steady_clock::now() + pause >= *give_up_at_) {
      return base::format("The connection broke and cannot be made anew: {}.", trouble);
    }
    if (!parts_.wait(pause)) return "The connection broke.";
    const base::Result<bool> resumed = resume();
    if (resumed && *resumed) return std::nullopt;
    if (resumed) return "The connection broke, and the session has ended meanwhile.";
    trouble = resumed.error().message;
  }
}

base::Result<bool> ExecLine::resume() {
  api::ssm::ResumeSessionRequest request;
  request.session_id = parts_.session.session_id;
  const auto response = TRY(call<api::ssm::ResumeSessionResponse>(
      parts_.credentials, api::ssm_service(), "ResumeSession", request));
  if (response.token_value.value_or("").empty()) return false;
  parts_.session.token_value = response.token_value;
  parts_.session.stream_url = response.stream_url;
  TRY_VOID(connect());
  return true;
}

}  // namespace cli
