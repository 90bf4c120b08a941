// A Transport in the shape that Beast reads from and writes to; for websocket_connection.cpp only.
#pragma once

#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/role.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "net/transport.h"

namespace net {

// All handlers are erased to one type, so that Beast's templates are compiled once for plain and
// TLS connections alike.
class BeastStream {
 public:
  using executor_type = Executor;
  using ErrorCode = boost::beast::error_code;
  using Handler = std::move_only_function<void(ErrorCode, size_t)>;

  explicit BeastStream(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  executor_type get_executor() const { return transport_->executor(); }
  Transport& transport() { return *transport_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode, size_t)>(
        [transport = transport_, buffers](auto&& handler) {
          start_read(transport, first_part(buffers), std::forward<decltype(handler)>(handler));
        },
        token);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode, size_t)>(
        [transport = transport_, buffers](auto&& handler) {
          Parts parts;
          for (const boost::asio::const_buffer part : boost::beast::buffers_range_ref(buffers)) {
            if (part.size() == 0) continue;
            parts.list[parts.count++] = {const_cast<void*>(part.data()), part.size()};
            if (parts.count == parts.list.size()) break;
          }
          start_write(transport, parts, std::forward<decltype(handler)>(handler));
        },
        token);
  }

  // Ends the connection after the closing handshake, as RFC 6455, 7.1.1 asks: the server closes
  // first.
  static void teardown(const std::shared_ptr<Transport>& transport, boost::beast::role_type role,
                       std::move_only_function<void(ErrorCode)> handler);
  const std::shared_ptr<Transport>& shared() const { return transport_; }

 private:
  struct Parts {
    std::array<iovec, 8> list;
    size_t count = 0;
  };

  template <class Buffers>
  static boost::asio::mutable_buffer first_part(const Buffers& buffers) {
    for (const boost::asio::mutable_buffer part : boost::beast::buffers_range_ref(buffers)) {
      if (part.size() != 0) return part;
    }
    return {};
  }

  // The transport is shared with the operation so that it outlives the wait.
  static void start_read(std::shared_ptr<Transport> transport, boost::asio::mutable_buffer into,
                         Handler handler);
  static void start_write(std::shared_ptr<Transport> transport, Parts parts, Handler handler);

  std::shared_ptr<Transport> transport_;  // Shared with operations under way.
};

// Beast finds these two by their names.
inline void beast_close_socket(BeastStream& stream) {
  stream.transport().close();
}
template <class Handler>
void async_teardown(boost::beast::role_type role, BeastStream& stream, Handler&& handler) {
  BeastStream::teardown(stream.shared(), role, std::forward<Handler>(handler));
}

}  // namespace net
