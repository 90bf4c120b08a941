#include "net/client_connection.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/format.h"

namespace net {
namespace {

int poll_timeout(Deadline deadline) {
  if (deadline == Deadline::max()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT_MAX));
}

}  // namespace

ClientConnection::ClientConnection(std::shared_ptr<const ClientTarget> target, Fd fd)
    : target_(std::move(target)), fd_(std::move(fd)) {
  if (target_->tls != nullptr) {
    tls_ = std::make_unique<TlsSession>(target_->tls, fd_.get(), target_->server_name);
  }
  token_.push(true);
}

base::Result<std::unique_ptr<ClientConnection>> ClientConnection::connect(
    std::shared_ptr<const ClientTarget> target, Deadline deadline) {
  std::vector<Endpoint> endpoints;
  if (target->url.scheme == "unix") {
    endpoints.push_back(TRY(unix_endpoint(target->url.path)));
  } else {
    endpoints = parse_address(target->url.host, target->url.port);
    if (endpoints.empty()) endpoints = TRY(resolve(target->url.host, target->url.port));
  }
  base::Error last;
  for (const Endpoint& endpoint : endpoints) {
    auto connection = connect_to(target, endpoint, deadline);
    if (connection || connection.error().code != "ConnectionRefused") return connection;
    last = connection.error();
  }
  return base::fail(std::move(last));
}

base::Result<std::unique_ptr<ClientConnection>> ClientConnection::connect_to(
    std::shared_ptr<const ClientTarget> target, const Endpoint& endpoint, Deadline deadline) {
  Fd fd = TRY(start_connect(endpoint));
  std::unique_ptr<ClientConnection> made(new ClientConnection(std::move(target), std::move(fd)));
  TRY_VOID(made->wait(IoState::WantWrite, deadline));
  const int error = connect_error(made->fd_.get());
  if (error != 0) return base::fail(connect_failure(endpoint, error));
  if (made->tls_ != nullptr) TRY_VOID(made->shake_hands(deadline));
  return made;
}

base::Result<void> ClientConnection::shake_hands(Deadline deadline) {
  while (true) {
    const IoResult result = tls_->handshake();
    if (result.state == IoState::Ok) return {};
    if (result.state == IoState::Eof || result.state == IoState::Failed) {
      return base::fail(
          "TlsError", base::format("the TLS handshake with {} failed: {}", target_->where,
                                   result.state == IoState::Eof ? "the server closed the connection"
                                                                : tls_->error_text()));
    }
    TRY_VOID(wait(result.state, deadline));
  }
}

template <class Use>
IoResult ClientConnection::use_session(Use use) {
  token_.pop();
  const IoResult result = use();
  token_.push(true);
  return result;
}

base::Result<size_t> ClientConnection::read(std::span<char> into, Deadline deadline) {
  while (true) {
    const IoResult result = tls_ == nullptr ? read_socket(fd_.get(), into)
                                            : use_session([&] { return tls_->read(into); });
    TRY_VOID(check_wanted());
    switch (result.state) {
      case IoState::Ok:
        return result.bytes;
      case IoState::Eof:
        return size_t{0};
      case IoState::Failed:
        return base::fail(failure(result));
      case IoState::WantRead:
      case IoState::WantWrite:
        TRY_VOID(wait(result.state, deadline));
    }
  }
}

base::Result<void> ClientConnection::write(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    const IoResult result =
        tls_ == nullptr ? write_socket(fd_.get(), {&part, 1})
                        : use_session([&] { return tls_->write({bytes.data(), bytes.size()}); });
    TRY_VOID(check_wanted());
    switch (result.state) {
      case IoState::Ok:
        bytes.remove_prefix(result.bytes);
        break;
      case IoState::Eof:
      case IoState::Failed:
        return base::fail(failure(result));
      case IoState::WantRead:
      case IoState::WantWrite:
        TRY_VOID(wait(result.state, deadline));
    }
  }
  return {};
}

void ClientConnection::close_write() {
  if (tls_ != nullptr) {
    use_session([&] {
      tls_->shutdown();
      return IoResult{};
    });
  }
  ::shutdown(fd_.get(), SHUT_WR);
}

void ClientConnection::cut() {
  cut_ = true;
  ::shutdown(fd_.get(), SHUT_RDWR);
}

bool ClientConnection::is_stale() const {
  pollfd wanted{fd_.get(), POLLIN, 0};
  return ::poll(&wanted, 1, 0) != 0;
}

base::Result<void> ClientConnection::check_wanted() const {
  if (!cut_ && !target_->cancelled) return {};
  return base::fail("ConnectionClosed", target_->where + ": this end cancelled the call");
}

base::Result<void> ClientConnection::wait(IoState want, Deadline deadline) const {
  const short events = want == IoState::WantWrite ? POLLOUT : POLLIN;
  while (true) {
    std::array<pollfd, 2> wanted{pollfd{fd_.get(), events, 0},
                                 pollfd{target_->cancel_event.get(), POLLIN, 0}};
    const int count = ::poll(wanted.data(), wanted.size(), poll_timeout(deadline));
    if (count < 0 && errno != EINTR) {
      return base::fail("ConnectionClosed",
                        base::format("cannot wait for {}: {}", target_->where, errno_text(errno)));
    }
    TRY_VOID(check_wanted());
    if (count > 0) return {};
    if (std::chrono::steady_clock::now() >= deadline) {
      return base::fail("Timeout", target_->where + " did not answer in time");
    }
  }
}

base::Error ClientConnection::failure(const IoResult& result) const {
  // The server closing in the middle is one thing, however the system calls it.
  if (result.error == 0 && tls_ != nullptr) {
    return {"TlsError", base::format("{}: {}", target_->where, tls_->error_text())};
  }
  return {"ConnectionClosed",
          base::format("the connection to {} broke: {}", target_->where, errno_text(result.error))};
}

}  // namespace net
