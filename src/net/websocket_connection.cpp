#include "net/websocket_connection.h"

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "base/format.h"
#include "net/beast_stream.h"

namespace net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using BeastWebSocket = websocket::stream<BeastStream, false>;  // Without compression: memory.

constexpr size_t message_overhead = 64;  // What an empty message takes in the queue, about.
constexpr size_t max_close_reason = 123;
constexpr size_t quoted_body_bytes = 1024;
constexpr uint16_t abnormal_closure = 1006;

// The code that this end closed with, on its own account, when reading failed with `error`.
uint16_t own_close_code(beast::error_code error) {
  if (error == websocket::error::message_too_big || error == websocket::error::buffer_overflow) {
    return websocket::close_code::too_big;
  }
  if (error == websocket::error::bad_frame_payload) return websocket::close_code::bad_payload;
  if (error == websocket::condition::protocol_violation) {
    return websocket::close_code::protocol_error;
  }
  return abnormal_closure;
}

std::string cut_text(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  // Not within a UTF-8 sequence.
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  text.resize(bytes);
  return text;
}

// Headers that belong to the handshake itself.
bool is_handshake_header(const Header& header) {
  const beast::string_view name(header.name.data(), header.name.size());
  return beast::iequals(name, "Upgrade") || beast::iequals(name, "Connection") ||
         beast::iequals(name, "Sec-WebSocket-Key") || beast::iequals(name, "Sec-WebSocket-Version");
}

base::Error handshake_failure(beast::error_code error, const websocket::response_type& response) {
  if (error == websocket::error::upgrade_declined) {
    return {"HttpError",
            base::format("the server refused the web socket with status {}: {}",
                         response.result_int(), cut_text(response.body(), quoted_body_bytes))};
  }
  if (error == beast::error::timeout) {
    return {"Timeout", "the server did not answer the opening of the web socket in time"};
  }
  return {error.category() == websocket::make_error_code(websocket::error::closed).category()
              ? "HttpError"
              : "ConnectionClosed",
          base::format("the opening of the web socket failed: {}", error.message())};
}

}  // namespace

struct WebSocketConnection::Stream {
  explicit Stream(std::unique_ptr<Transport> transport) : socket(std::move(transport)) {}
  BeastWebSocket socket;
  std::string incoming;
  // Beast refers to it as long as it reads.
  std::optional<decltype(boost::asio::dynamic_buffer(std::declval<std::string&>()))> buffer;
  websocket::response_type response;
};

std::shared_ptr<WebSocketConnection> WebSocketConnection::create(std::shared_ptr<LoopCore> loop,
                                                                 size_t thread, Setup setup,
                                                                 WebSocketHandlers handlers,
                                                                 std::string remote_address) {
  return std::shared_ptr<WebSocketConnection>(new WebSocketConnection(
      std::move(loop), thread, setup, std::move(handlers), std::move(remote_address)));
}

WebSocketConnection::WebSocketConnection(std::shared_ptr<LoopCore> loop, size_t thread, Setup setup,
                                         WebSocketHandlers handlers, std::string remote_address)
    : loop_(std::move(loop)),
      thread_(thread),
      setup_(setup),
      handlers_(std::move(handlers)),
      remote_address_(std::move(remote_address)),
      outgoing_(std::numeric_limits<size_t>::max()) {}  // Its bytes are what is limited.

WebSocketConnection::~WebSocketConnection() = default;

bool WebSocketConnection::send(std::string text) {
  return enqueue({Kind::Text, 0, std::move(text)});
}
bool WebSocketConnection::send_binary(std::string bytes) {
  return enqueue({Kind::Binary, 0, std::move(bytes)});
}

bool WebSocketConnection::enqueue(Outgoing message) {
  if (done_sending_) return false;
  const size_t size = message.bytes.size() + message_overhead;
  if (queued_bytes_.fetch_add(size) + size > setup_.options.max_queued_bytes) {
    queued_bytes_.fetch_sub(size);
    if (done_sending_.exchange(true)) return false;
    loop_->post(thread_, [self = shared_from_this()] {
      self->fail(base::format("more than {} bytes were waiting to be sent",
                              self->setup_.options.max_queued_bytes));
    });
    return false;
  }
  if (!outgoing_.try_push(std::move(message))) return false;
  wake();
  return true;
}

void WebSocketConnection::close(uint16_t code, std::string reason) {
  if (done_sending_.exchange(true)) return;
  outgoing_.try_push({Kind::Close, code, cut_text(std::move(reason), max_close_reason)});
  wake();
}

void WebSocketConnection::abort() {
  done_sending_ = true;
  loop_->post(thread_, [self = shared_from_this()] { self->fail("this end cut the connection"); });
}

// One wake-up serves all that is queued until it comes.
void WebSocketConnection::wake() {
  if (wake_posted_.exchange(true)) return;
  loop_->post(thread_, [self = shared_from_this()] {
    self->wake_posted_ = false;
    self->flush();
  });
}

// False when it has ended before it began.
bool WebSocketConnection::begin(std::unique_ptr<Transport> transport) {
  if (finished_) return false;
  stream_ = std::make_unique<Stream>(std::move(transport));
  registered_ = loop_->add_resident(thread_, setup_.owner, shared_from_this());
  if (!registered_) {
    fail("the loop was stopped");
    return false;
  }
  websocket::stream_base::timeout timeout{};
  timeout.handshake_timeout = setup_.options.handshake_timeout;
  timeout.idle_timeout = websocket::stream_base::none();
  if (setup_.options.idle_timeout.count() > 0) timeout.idle_timeout = setup_.options.idle_timeout;
  timeout.keep_alive_pings = true;
  stream_->socket.set_option(timeout);
  stream_->socket.read_message_max(setup_.options.max_message_bytes);
  stream_->socket.auto_fragment(false);
  return true;
}

void WebSocketConnection::accept(std::unique_ptr<Transport> transport, const HttpRequest& head) {
  if (!begin(std::move(transport))) return;
  http::request<http::empty_body> request;
  request.method_string(head.method);
  request.target(head.target);
  request.version(11);
  for (const Header& header : head.headers) request.insert(header.name, header.value);
  stream_->socket.async_accept(request, [self = shared_from_this()](beast::error_code error) {
    if (self->finished_) return;
    if (error) return self->fail("the opening handshake failed: " + error.message());
    self->open();
  });
}

void WebSocketConnection::connect(std::unique_ptr<Transport> transport, HttpRequest head,
                                  Opened opened) {
  opened_ = std::move(opened);
  if (!begin(std::move(transport))) return;
  const std::string host(header_or_empty(head.headers, "Host"));
  const std::string target = head.target;
  stream_->socket.set_option(websocket::stream_base::decorator(
      [headers = std::move(head.headers)](websocket::request_type& request) {
        for (const Header& header : headers) {
          if (is_handshake_header(header)) continue;
          if (beast::iequals(header.name, "Host")) {
            request.set(http::field::host, header.value);
          } else {
            request.insert(header.name, header.value);
          }
        }
      }));
  stream_->socket.async_handshake(
      stream_->response, host, target, [self = shared_from_this()](beast::error_code error) {
        if (self->finished_) return;
        if (error) return self->finish(handshake_failure(error, self->stream_->response));
        self->stream_->response = {};
        std::exchange(self->opened_, nullptr)({});
        if (!self->finished_) self->open();
      });
}

void WebSocketConnection::open() {
  is_open_ = true;
  read();
  flush();
}

void WebSocketConnection::read() {
  stream_->buffer.emplace(boost::asio::dynamic_buffer(stream_->incoming));
  stream_->socket.async_read(
      *stream_->buffer, [self = shared_from_this()](beast::error_code error, size_t) {
        if (self->finished_) return;
        if (error) {
          const websocket::close_reason& reason = self->stream_->socket.reason();
          if (error == websocket::error::closed) {
            return self->finish(reason.code == websocket::close_code::none
                                    ? uint16_t{websocket::close_code::no_status}
                                    : reason.code,
                                {reason.reason.data(), reason.reason.size()});
          }
          return self->finish(own_close_code(error), error.message());
        }
        std::string message = std::exchange(self->stream_->incoming, {});
        if (self->handlers_.on_message) {
          self->handlers_.on_message(std::move(message), self->stream_->socket.got_text());
        }
        if (!self->finished_) self->read();
      });
}

void WebSocketConnection::flush() {
  if (finished_) return;
  for (Outgoing& message :
       outgoing_.pop_batch(std::numeric_limits<size_t>::max(), std::chrono::milliseconds{0})) {
    pending_.push_back(std::move(message));
  }
  write_next();
}

void WebSocketConnection::write_next() {
  if (!is_open_ || writing_ || pending_.empty()) return;
  writing_ = true;
  const Outgoing& message = pending_.front();
  if (message.kind == Kind::Close) return write_close(message);
  stream_->socket.text(message.kind == Kind::Text);
  stream_->socket.async_write(
      boost::asio::const_buffer(message.bytes.data(), message.bytes.size()),
      [self = shared_from_this()](beast::error_code error, size_t) {
        if (self->finished_) return;
        if (error == websocket::error::closed || error == boost::asio::error::operation_aborted) {
          return;  // The closing handshake is under way; the reader will tell.
        }
        if (error) return self->finish(abnormal_closure, error.message());
        self->queued_bytes_.fetch_sub(self->pending_.front().bytes.size() + message_overhead);
        self->pending_.pop_front();
        self->writing_ = false;
        self->write_next();
      });
}

void WebSocketConnection::write_close(const Outgoing& message) {
  const websocket::close_reason reason(static_cast<websocket::close_code>(message.code),
                                       message.bytes);
  stream_->socket.async_close(reason, [self = shared_from_this(), code = message.code,
                                       text = message.bytes](beast::error_code error) {
    if (self->finished_ || error == boost::asio::error::operation_aborted) return;
    if (error) return self->finish(abnormal_closure, error.message());
    self->finish(code, text);
  });
}

void WebSocketConnection::fail(const std::string& reason) {
  finish(abnormal_closure, reason);
}

void WebSocketConnection::finish(uint16_t code, const std::string& reason) {
  if (opened_) return finish({"ConnectionClosed", reason});
  if (std::exchange(finished_, true)) return;
  done_sending_ = true;
  outgoing_.close();
  const auto self = shared_from_this();
  if (stream_ != nullptr) stream_->socket.next_layer().transport().close();
  if (registered_) loop_->remove_resident(thread_, this);
  const WebSocketHandlers handlers = std::exchange(handlers_, {});
  if (handlers.on_close) handlers.on_close(code, reason);
}

void WebSocketConnection::finish(const base::Error& error) {
  if (std::exchange(finished_, true)) return;
  done_sending_ = true;
  outgoing_.close();
  const auto self = shared_from_this();
  if (stream_ != nullptr) stream_->socket.next_layer().transport().close();
  if (registered_) loop_->remove_resident(thread_, this);
  handlers_ = {};
  std::exchange(opened_, nullptr)(std::unexpected(error));
}

}  // namespace net
