// A connected socket on a thread of the loop, plain or TLS; for the files of net/ only.
#pragma once

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "net/loop_core.h"
#include "net/socket.h"
#include "net/tls_session.h"

namespace net {

// Lives on the thread of its context. Nothing here waits or calls back, except wait().
class Transport {
 public:
  // Called once, never before wait() has returned. False when the transport was closed meanwhile,
  // and may be destroyed.
  using Ready = std::move_only_function<void(bool open)>;

  // `tls` is null for a plain connection. `slot` is kept as long as the transport lives.
  Transport(boost::asio::io_context& context, Fd fd, std::shared_ptr<const TlsContext> tls,
            const std::string& server_name, std::shared_ptr<void> slot);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Ok at once for a plain connection.
  IoResult handshake();
  IoResult read(std::span<char> into);
  // Once it has wanted to wait, the next call must begin with the same bytes.
  IoResult write(std::span<const iovec> parts);
  // The next reads return these bytes first.
  void unread(std::string_view bytes);
  // Calls `ready` when the socket can be read, for WantRead, or written, for WantWrite.
  void wait(IoState want, Ready ready);

  // Tells the peer that nothing more comes.
  void shutdown_write();
  void close();
  bool is_open() const { return descriptor_.is_open(); }
  bool is_tls() const { return tls_ != nullptr; }
  // One sentence about a Failed.
  std::string failure_text(const IoResult& result) const;
  Executor executor() { return descriptor_.get_executor(); }

 private:
  using Descriptor = boost::asio::posix::basic_stream_descriptor<Executor>;

  std::shared_ptr<void> slot_;  // Counts as a connection of its server while this lives.
  Descriptor descriptor_;
  std::unique_ptr<TlsSession> tls_;
  std::string unread_;
};

}  // namespace net
