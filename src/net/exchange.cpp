#include <utility>

#include "net/http_connection.h"
#include "net/http_server.h"
#include "net/websocket_connection.h"

namespace net {

Exchange::Exchange(std::shared_ptr<LoopCore> loop, std::shared_ptr<HttpConnection> connection)
    : loop_(std::move(loop)), connection_(std::move(connection)) {}

Exchange::~Exchange() {
  if (!claim()) return;
  loop_->dispatch(connection_->thread(),
                  [connection = connection_] { connection->respond_unanswered(); });
}

bool Exchange::respond(HttpResponse response) {
  if (!claim()) return false;
  loop_->dispatch(connection_->thread(),
                  [connection = connection_, answer = std::move(response)]() mutable {
                    connection->respond(std::move(answer));
                  });
  return true;
}

void Exchange::keep_head(const HttpRequest& request) {
  head_.method = request.method;
  head_.target = request.target;
  head_.headers = request.headers;
}

void Exchange::vouch(std::string_view account) {
  CHECK(loop_->on_thread(connection_->thread()));
  connection_->vouch(account);
}

std::shared_ptr<WebSocket> Exchange::accept(WebSocketHandlers handlers) {
  if (!claim()) return nullptr;
  const ServerSettings& settings = connection_->settings();
  auto socket = WebSocketConnection::create(loop_, connection_->thread(),
                                            {settings.options.web_socket, settings.owner},
                                            std::move(handlers), connection_->remote_address());
  // Posted, not dispatched: no handler may run before this has returned.
  const bool posted = loop_->post(connection_->thread(),
                                  [connection = connection_, socket, head = std::move(head_)] {
                                    connection->hand_over(socket, head);
                                  });
  if (!posted) socket->fail("the server was stopped");
  return socket;
}

Responder::Responder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
bool Responder::respond(HttpResponse response) const {
  return exchange_->respond(std::move(response));
}
void Responder::vouch(std::string_view account) const {
  exchange_->vouch(account);
}

Upgrade::Upgrade(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
std::shared_ptr<WebSocket> Upgrade::accept(WebSocketHandlers handlers) const {
  return exchange_->accept(std::move(handlers));
}
bool Upgrade::refuse(HttpResponse response) const {
  return exchange_->respond(std::move(response));
}

}  // namespace net
