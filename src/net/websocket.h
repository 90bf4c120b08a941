// One end of a WebSocket connection. Source: RFC 6455.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/time.h"

namespace net {

// Codes of WebSocket::close().
inline constexpr uint16_t close_going_away = 1001;
inline constexpr uint16_t close_policy_violation = 1008;

struct WebSocketOptions {
  size_t max_message_bytes = size_t{1} << 20;    // A bigger one from the peer closes with 1009.
  size_t max_queued_bytes = size_t{8} << 20;     // More waiting to be sent closes the connection.
  base::Milliseconds handshake_timeout{10'000};  // For the opening and the closing handshake.
  // Silence that closes the connection; at half of it the peer is pinged, which a living peer
  // answers. Zero = never.
  base::Milliseconds idle_timeout{0};
};

// Both are called on a thread of the loop, never two at once for one WebSocket, and must not block.
struct WebSocketHandlers {
  // A whole message. `is_text`: it came as text (and is then valid UTF-8), not as binary.
  std::function<void(std::string message, bool is_text)> on_message{};
  // Called exactly once, the last of all calls. The code is the peer's, or the one that this end
  // closed with; 1006 when the connection broke, timed out or was cut, with the cause as reason.
  std::function<void(uint16_t code, std::string reason)> on_close{};
};

// Every member may be called from any thread, and from within the handlers. The connection lives
// until it is closed, whether or not somebody holds this object; the handlers are let go of after
// on_close, so they may hold it.
class WebSocket {
 public:
  virtual ~WebSocket() = default;

  // Queues one message. False when the connection is closed or closing, or when more than
  // max_queued_bytes would be waiting: then the connection is cut, and on_close comes.
  virtual bool send(std::string text) = 0;
  virtual bool send_binary(std::string bytes) = 0;
  // Sends what is queued and then closes with `code` (1000 = normal, 1001 = going away, 4000..4999
  // own codes); a reason is cut at 123 bytes. The second call does nothing.
  virtual void close(uint16_t code, std::string reason) = 0;
  // Cuts the connection now, without the closing handshake.
  virtual void abort() = 0;

  // Bytes that wait to be sent.
  virtual size_t queued_bytes() const = 0;
  // As HttpRequest::remote_address.
  virtual const std::string& remote_address() const = 0;
};

}  // namespace net
