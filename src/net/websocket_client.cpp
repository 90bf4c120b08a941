#include "net/websocket_client.h"

#include <boost/asio/ip/tcp.hpp>
#include <utility>

#include "base/format.h"
#include "net/loop_core.h"
#include "net/socket.h"
#include "net/transport.h"
#include "net/websocket_connection.h"

namespace net {
namespace {

using Resolver = boost::asio::ip::basic_resolver<boost::asio::ip::tcp, Executor>;

// One attempt to open a web socket: resolve, connect to one address after the other, TLS, opening
// handshake. Lives on one thread of the loop.
class Connector final : public Resident, public std::enable_shared_from_this<Connector> {
 public:
  Connector(std::shared_ptr<LoopCore> loop, size_t thread, WebSocketRequest request,
            WebSocketHandlers handlers, WebSocketDone done)
      : loop_(std::move(loop)),
        thread_(thread),
        request_(std::move(request)),
        handlers_(std::move(handlers)),
        done_(std::move(done)),
        timer_(loop_->context(thread).get_executor()),
        resolver_(loop_->context(thread).get_executor()) {}

  void start() {
    registered_ = loop_->add_resident(thread_, nullptr, shared_from_this());
    if (!registered_) return on_stop();
    timer_.expires_after(request_.connect_timeout);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->on_timeout();
    });
    if (uses_tls(request_.url)) {
      auto tls = TlsContext::create_client(request_.tls);
      if (!tls) return finish(std::unexpected(tls.error()));
      tls_ = *tls;
    }
    endpoints_ = parse_address(request_.url.host, request_.url.port);
    endpoints_.empty() ? resolve() : connect_next();
  }

  void on_stop() override { fail({"ConnectionClosed", "the loop was stopped"}); }

  // Also where no thread of the loop runs any more.
  void fail(base::Error error) { finish(std::unexpected(std::move(error))); }

 private:
  void resolve() {
    resolver_.async_resolve(
        request_.url.host, std::to_string(request_.url.port),
        [self = shared_from_this()](const boost::system::error_code& error,
                                    const Resolver::results_type& results) {
          if (self->finished_) return;
          for (const auto& entry : results) {
            const auto endpoint = entry.endpoint();
            self->endpoints_.push_back(
                make_endpoint(endpoint.data(), static_cast<socklen_t>(endpoint.size())));
          }
          if (!error && !self->endpoints_.empty()) return self->connect_next();
          self->fail({"ConnectionRefused", base::format("cannot find the address of {}: {}",
                                                        self->request_.url.host, error.message())});
        });
  }

  void connect_next() {
    if (next_endpoint_ == endpoints_.size()) return fail(std::move(last_error_));
    const Endpoint& endpoint = endpoints_[next_endpoint_++];
    auto fd = start_connect(endpoint);
    if (!fd) {
      last_error_ = fd.error();
      return connect_next();
    }
    const int raw = fd->get();
    const std::string& name =
        request_.tls.server_name.empty() ? request_.url.host : request_.tls.server_name;
    transport_ =
        std::make_unique<Transport>(loop_->context(thread_), std::move(*fd), tls_, name, nullptr);
    transport_->wait(IoState::WantWrite, [self = shared_from_this(), raw](bool open) {
      if (!open || self->finished_) return;
      const int error = connect_error(raw);
      if (error == 0) return self->shake_hands();
      self->last_error_ = connect_failure(self->endpoints_[self->next_endpoint_ - 1], error);
      self->connect_next();
    });
  }

  void shake_hands() {
    const IoResult result = transport_->handshake();
    if (result.state == IoState::Ok) return open();
    if (result.state == IoState::WantRead || result.state == IoState::WantWrite) {
      transport_->wait(result.state, [self = shared_from_this()](bool open) {
        if (open && !self->finished_) self->shake_hands();
      });
      return;
    }
    fail({"TlsError",
          base::format("the TLS handshake with {} failed: {}", where(),
                       result.state == IoState::Eof ? "the server closed the connection"
                                                    : transport_->failure_text(result))});
  }

  void open() {
    HttpRequest head;
    head.target = request_.url.path;
    head.headers = std::move(request_.headers);
    if (find_header(head.headers, "Host") == nullptr) {
      head.headers.insert(head.headers.begin(), {"Host", authority(request_.url)});
    }
    socket_ =
        WebSocketConnection::create(loop_, thread_, {request_.options, nullptr},
                                    std::move(handlers_), endpoints_[next_endpoint_ - 1].text);
    socket_->connect(std::move(transport_), std::move(head),
                     [self = shared_from_this()](base::Result<void> opened) {
                       self->on_opened(std::move(opened));
                     });
  }

  void on_opened(base::Result<void> opened) {
    if (finished_) return;
    const auto socket = std::exchange(socket_, nullptr);
    if (opened) return finish(std::shared_ptr<WebSocket>(socket));
    base::Error error = opened.error();
    error.message = base::format("{}: {}", where(), error.message);
    fail(std::move(error));
  }

  void on_timeout() {
    fail({"Timeout", base::format("{} did not open the web socket within {} ms", where(),
                                  request_.connect_timeout.count())});
  }

  void finish(base::Result<std::shared_ptr<WebSocket>> result) {
    if (std::exchange(finished_, true)) return;
    const auto self = shared_from_this();
    timer_.cancel();
    resolver_.cancel();
    if (transport_ != nullptr) transport_->close();
    // It has not opened, so that this only lets go of it.
    if (const auto socket = std::exchange(socket_, nullptr)) socket->fail("not opened");
    if (registered_) loop_->remove_resident(thread_, this);
    handlers_ = {};
    std::exchange(done_, nullptr)(std::move(result));
  }

  std::string where() const { return base::format("{}:{}", request_.url.host, request_.url.port); }

  const std::shared_ptr<LoopCore> loop_;  // Must outlive what hangs on its threads.
  const size_t thread_;
  WebSocketRequest request_;
  WebSocketHandlers handlers_;
  WebSocketDone done_;
  SteadyTimer timer_;
  Resolver resolver_;
  std::shared_ptr<const TlsContext> tls_;
  std::vector<Endpoint> endpoints_;
  size_t next_endpoint_ = 0;
  base::Error last_error_;
  std::unique_ptr<Transport> transport_;
  std::shared_ptr<WebSocketConnection> socket_;  // While it opens.
  bool registered_ = false;
  bool finished_ = false;
};

}  // namespace

void connect_websocket(Loop& loop, WebSocketRequest request, WebSocketHandlers handlers,
                       WebSocketDone done) {
  const std::string& scheme = request.url.scheme;
  const size_t thread = loop.core()->pick_thread();
  const bool speaks_http =
      scheme == "ws" || scheme == "wss" || scheme == "http" || scheme == "https";
  auto connector = std::make_shared<Connector>(loop.core(), thread, std::move(request),
                                               std::move(handlers), std::move(done));
  const bool posted = loop.core()->post(thread, [connector, speaks_http] {
    if (speaks_http) return connector->start();
    connector->fail({"InvalidUrl", "the URL of a web socket begins with ws:// or wss://"});
  });
  if (!posted) connector->on_stop();
}

}  // namespace net
