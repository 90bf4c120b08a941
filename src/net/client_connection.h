// A connection of the blocking client; for the files of net/ only.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/queue.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http.h"
#include "net/socket.h"
#include "net/tls_session.h"

namespace net {

using Deadline = std::chrono::steady_clock::time_point;

// Zero = no limit.
inline Deadline deadline_after(base::Milliseconds timeout) {
  if (timeout.count() == 0) return Deadline::max();
  return std::chrono::steady_clock::now() + timeout;
}

// What the connections of one client share. For any thread.
struct ClientTarget {
  Url url;
  std::string where;  // "host:port" or "unix:/path", for errors.
  std::shared_ptr<const TlsContext> tls;
  std::string server_name;
  std::atomic<bool> cancelled{false};
  Fd cancel_event;  // An eventfd; readable from the moment of cancel() on.
};

// Errors as HttpClient. For one thread at a time, but that reading and writing may be two threads,
// and cut() may be any.
class ClientConnection {
 public:
  // Tries each address of the host.
  static base::Result<std::unique_ptr<ClientConnection>> connect(
      std::shared_ptr<const ClientTarget> target, Deadline deadline);

  // 0 = the peer sends nothing more.
  base::Result<size_t> read(std::span<char> into, Deadline deadline);
  base::Result<void> write(std::string_view bytes, Deadline deadline);
  void close_write();
  // Whoever waits in read() or write() gets "ConnectionClosed".
  void cut();
  // The peer has closed, or has sent what nobody asked for.
  bool is_stale() const;
  const ClientTarget& target() const { return *target_; }

 private:
  ClientConnection(std::shared_ptr<const ClientTarget> target, Fd fd);
  static base::Result<std::unique_ptr<ClientConnection>> connect_to(
      std::shared_ptr<const ClientTarget> target, const Endpoint& endpoint, Deadline deadline);
  base::Result<void> shake_hands(Deadline deadline);
  base::Result<void> wait(IoState want, Deadline deadline) const;
  // "ConnectionClosed" once this stream was cut or the client cancelled.
  base::Result<void> check_wanted() const;
  base::Error failure(const IoResult& result) const;
  // A TLS session is for one thread at a time: who has taken the token may use it.
  template <class Use>
  IoResult use_session(Use use);

  const std::shared_ptr<const ClientTarget> target_;  // Shared with the client.
  Fd fd_;
  std::unique_ptr<TlsSession> tls_;
  base::Queue<bool> token_{1};
  std::atomic<bool> cut_{false};
};

}  // namespace net
