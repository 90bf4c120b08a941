// HTTP/1.1 server over TCP, TLS or a unix socket, with upgrades to WebSocket.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/tls.h"
#include "net/websocket.h"

namespace net {

class ServerCore;
class Exchange;

// How many connections beyond max_connections are there for a moment, to be told so.
inline constexpr size_t refused_at_once = 64;

// How many connections several servers may have together.
struct ConnectionBudget {
  explicit ConnectionBudget(size_t all) : most(all) {}
  const size_t most;
  std::atomic<size_t> taken{0};
};

// What is known of a request by its head.
struct Admission {
  // Whose it says it is, such as its access key: the bodies of an account are counted together.
  std::string account;
  std::optional<HttpResponse> refusal;  // Its body is not read.
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // An IP address of this machine, "0.0.0.0" or "::".
  uint16_t port = 0;                  // 0 = any; HttpServer::port() tells which.
  std::string unix_socket_path{};     // Where set, this is listened on, not address and port.
  // A TCP socket that listens already and does not block: taken over and closed in the end. Where
  // set (0 or more), nothing else is listened on.
  int listening_socket = -1;
  std::optional<TlsServerOptions> tls{};

  size_t max_head_bytes = size_t{64} << 10;  // A bigger head is answered with 431.
  // The bytes of body that a request with this head may have; more is answered with 413. Called on
  // a thread of the loop. Unset = 1 MiB for all.
  std::function<size_t(const HttpRequest& head)> body_limit{};
  // Asked before a body of more than small_body bytes, or of unknown length, is read. Called on a
  // thread of the loop. Where it is set, a peer is a newcomer until Responder::vouch() or an
  // admitted head: the oldest newcomers are cut where there are too many (see net/newcomers.h).
  std::function<Admission(const HttpRequest& head)> admit{};
  size_t max_connections = 10'000;  // Web sockets included; one more is answered with 503.
  // Instead of that answer the next connection waits, unaccepted, until one goes: peers that come
  // without end then cost nothing.
  bool wait_when_full = false;
  // Where set, connections count there too, and wait while nothing is left. Shared with the other
  // servers.
  std::shared_ptr<ConnectionBudget> budget{};
  // Of max_connections, those that newcomers may have, those from one address, and those of one
  // account, whose connections end after each response from then on.
  size_t max_newcomers = 2'500;
  size_t max_newcomers_of_address = 1'250;
  size_t max_connections_of_account = 5'000;
  // What newcomers may have sent, all together: unfinished heads, and bodies that are small.
  size_t max_newcomer_bytes = size_t{16} << 20;
  // Bodies of requests until they are answered, and responses until they are sent: of all
  // connections together, of those from one address, and of one account. A request that comes on
  // top of it is answered with 429.
  size_t max_held_bytes = size_t{256} << 20;
  size_t max_held_bytes_of_address = size_t{128} << 20;
  size_t max_held_bytes_of_account = size_t{64} << 20;

  base::Milliseconds head_timeout{10'000};  // From the first byte to the end of the head.
  base::Milliseconds body_timeout{30'000};  // For each next 16 KiB of body.
  base::Milliseconds idle_timeout{75'000};  // Between two requests of a connection.
  // Instead of idle_timeout while three quarters of max_connections are there.
  base::Milliseconds crowded_idle_timeout{1'000};
  base::Milliseconds write_timeout{30'000};  // For each next 16 KiB of response.
  base::Milliseconds linger_timeout{2'000};  // For the peer to close after the last response.

  // The response to a request that was refused before any handler saw it (400, 408, 413, 417, 429,
  // 431, 501, 503, 505) or that no handler answered (500). Unset = `why` as text/plain.
  std::function<HttpResponse(int status, std::string_view why)> on_protocol_error{};

  WebSocketOptions web_socket{};
};

// Where the response to one request goes: a handle that may be copied, kept and called from any
// thread. When the last copy goes without an answer, the peer gets 500.
class Responder {
 public:
  explicit Responder(std::shared_ptr<Exchange> exchange);
  // False when the request was answered before; that response then is dropped.
  bool respond(HttpResponse response) const;
  // The peer has proved that it is of this account, and is no newcomer any more. Only within the
  // handler's call, before respond().
  void vouch(std::string_view account) const;

 private:
  std::shared_ptr<Exchange> exchange_;  // Shared among the copies.
};

// The same for a request to become a web socket.
class Upgrade {
 public:
  explicit Upgrade(std::shared_ptr<Exchange> exchange);
  // Called on the thread of the UpgradeHandler this returns before any handler runs; on another
  // thread the handlers may run earlier. When the peer is gone, on_close comes. Exactly one of
  // accept and refuse, once; nullptr when one was called before.
  std::shared_ptr<WebSocket> accept(WebSocketHandlers handlers) const;
  bool refuse(HttpResponse response) const;

 private:
  std::shared_ptr<Exchange> exchange_;  // Shared among the copies.
};

// Called on a thread of the loop, for several connections at once; must not block.
using HttpHandler = std::function<void(HttpRequest, Responder)>;
using UpgradeHandler = std::function<void(HttpRequest, Upgrade)>;

class HttpServer {
 public:
  // Listens from now on. An empty `upgrade` leaves requests to upgrade to `handler`.
  // Errors: "AddressInUse", "InvalidAddress", "AccessDenied", "TlsError".
  static base::Result<std::unique_ptr<HttpServer>> create(Loop& loop, HttpServerOptions options,
                                                          HttpHandler handler,
                                                          UpgradeHandler upgrade = {});
  ~HttpServer();  // Does stop().
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;  // 0 on a unix socket.

  // What handshakes from now on are made with; connections that are open stay as they are. Only
  // where `options.tls` was set. Any thread. Errors: "TlsError"; nothing has changed then.
  base::Result<void> use_certificate(const TlsServerOptions& options);

  // Cuts all connections and web sockets, after which no handler is running or will run. Responders
  // that are still held do nothing. Not to be called on a thread of the loop.
  void stop();

 private:
  explicit HttpServer(std::shared_ptr<ServerCore> core);
  std::shared_ptr<ServerCore> core_;  // Shared with its connections.
};

}  // namespace net
