// Opening a WebSocket connection to a server.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/tls.h"
#include "net/websocket.h"

namespace net {

struct WebSocketRequest {
  Url url{};  // ws, wss, http or https; its path carries the query.
  // Sent as given. A Host among them replaces the one made from the URL.
  Headers headers{};
  TlsClientOptions tls{};
  base::Milliseconds connect_timeout{10'000};  // For everything until `done`.
  WebSocketOptions options{};
};

// Called exactly once, on a thread of the loop and before any handler; on the calling thread when
// the loop is stopped already.
using WebSocketDone = std::function<void(base::Result<std::shared_ptr<WebSocket>>)>;

// Errors: "ConnectionRefused", "Timeout", "TlsError", "ConnectionClosed" (also: the loop was
// stopped), "HttpError" (the server refused: the message has its status and the beginning of its
// body), "InvalidUrl". After an error no handler is ever called.
void connect_websocket(Loop& loop, WebSocketRequest request, WebSocketHandlers handlers,
                       WebSocketDone done);

}  // namespace net
