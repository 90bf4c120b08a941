#include "net/beast_stream.h"

#include <cerrno>

namespace net {
namespace {

BeastStream::ErrorCode to_error(const IoResult& result) {
  switch (result.state) {
    case IoState::Ok:
      return {};
    case IoState::Eof:
      return boost::asio::error::eof;
    default:
      // A transport that was closed on this side is how Beast's own time-out looks.
      if (result.error == EBADF) return boost::asio::error::operation_aborted;
      return {result.error != 0 ? result.error : EPROTO, boost::system::generic_category()};
  }
}

bool must_wait(const IoResult& result) {
  return result.state == IoState::WantRead || result.state == IoState::WantWrite;
}

// An operation may not end within the call that began it.
void complete_later(Transport& transport, BeastStream::Handler handler, const IoResult& result) {
  boost::asio::post(transport.executor(), [done = std::move(handler), error = to_error(result),
                                           bytes = result.bytes]() mutable { done(error, bytes); });
}

void drain(const std::shared_ptr<Transport>& transport, boost::beast::role_type role,
           std::move_only_function<void(BeastStream::ErrorCode)> handler) {
  std::array<char, 4096> rubbish;
  IoResult result;
  do {
    result = transport->read(rubbish);
  } while (result.state == IoState::Ok);
  if (!must_wait(result)) {
    if (role == boost::beast::role_type::client) transport->shutdown_write();
    transport->close();
    boost::asio::post(transport->executor(),
                      [done = std::move(handler)]() mutable { done(BeastStream::ErrorCode{}); });
    return;
  }
  transport->wait(result.state, [transport, role, done = std::move(handler)](bool open) mutable {
    if (!open) return done(boost::asio::error::operation_aborted);
    drain(transport, role, std::move(done));
  });
}

}  // namespace

void BeastStream::start_read(std::shared_ptr<Transport> transport, boost::asio::mutable_buffer into,
                             Handler handler) {
  const IoResult result = transport->read({static_cast<char*>(into.data()), into.size()});
  if (!must_wait(result)) return complete_later(*transport, std::move(handler), result);
  Transport& waiting = *transport;
  waiting.wait(result.state, [shared = std::move(transport), into,
                              done = std::move(handler)](bool open) mutable {
    if (!open) return done(boost::asio::error::operation_aborted, 0);
    const IoResult again = shared->read({static_cast<char*>(into.data()), into.size()});
    if (must_wait(again)) return start_read(std::move(shared), into, std::move(done));
    done(to_error(again), again.bytes);
  });
}

void BeastStream::start_write(std::shared_ptr<Transport> transport, Parts parts, Handler handler) {
  const IoResult result = transport->write({parts.list.data(), parts.count});
  if (!must_wait(result)) return complete_later(*transport, std::move(handler), result);
  Transport& waiting = *transport;
  waiting.wait(result.state, [shared = std::move(transport), parts,
                              done = std::move(handler)](bool open) mutable {
    if (!open) return done(boost::asio::error::operation_aborted, 0);
    start_write(std::move(shared), parts, std::move(done));
  });
}

void BeastStream::teardown(const std::shared_ptr<Transport>& transport,
                           boost::beast::role_type role,
                           std::move_only_function<void(BeastStream::ErrorCode)> handler) {
  if (role == boost::beast::role_type::server) transport->shutdown_write();
  drain(transport, role, std::move(handler));
}

}  // namespace net
