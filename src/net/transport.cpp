#include "net/transport.h"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>

namespace net {
namespace {

// A TLS record costs a header and a MAC: small parts of one message go into one.
constexpr size_t gather_bytes = 4096;

}  // namespace

Transport::Transport(boost::asio::io_context& context, Fd fd, std::shared_ptr<const TlsContext> tls,
                     const std::string& server_name, std::shared_ptr<void> slot)
    : slot_(std::move(slot)), descriptor_(context.get_executor()) {
  if (tls != nullptr) {
    tls_ = std::make_unique<TlsSession>(std::move(tls), fd.get(), server_name);
  }
  boost::system::error_code error;
  descriptor_.assign(fd.get(), error);
  if (!error) static_cast<void>(fd.release());  // Otherwise it is not open, as is_open() says.
}

Transport::~Transport() {
  close();
}

IoResult Transport::handshake() {
  if (!descriptor_.is_open()) return {IoState::Failed, 0, EBADF};
  return tls_ == nullptr ? IoResult{} : tls_->handshake();
}

IoResult Transport::read(std::span<char> into) {
  if (!unread_.empty()) {
    const size_t count = std::min(into.size(), unread_.size());
    std::memcpy(into.data(), unread_.data(), count);
    unread_.erase(0, count);
    return {IoState::Ok, count, 0};
  }
  if (!descriptor_.is_open()) return {IoState::Failed, 0, EBADF};
  return tls_ != nullptr ? tls_->read(into) : read_socket(descriptor_.native_handle(), into);
}

IoResult Transport::write(std::span<const iovec> parts) {
  if (!descriptor_.is_open()) return {IoState::Failed, 0, EBADF};
  while (!parts.empty() && parts.front().iov_len == 0) parts = parts.subspan(1);
  if (parts.empty()) return {};
  if (tls_ == nullptr) return write_socket(descriptor_.native_handle(), parts);
  if (parts.size() == 1 || parts.front().iov_len >= gather_bytes) {
    return tls_->write({static_cast<const char*>(parts.front().iov_base), parts.front().iov_len});
  }
  std::array<char, gather_bytes> gathered;
  size_t size = 0;
  for (const iovec& part : parts) {
    const size_t count = std::min(part.iov_len, gathered.size() - size);
    std::memcpy(gathered.data() + size, part.iov_base, count);
    size += count;
  }
  return tls_->write({gathered.data(), size});
}

void Transport::unread(std::string_view bytes) {
  unread_.insert(0, bytes);
}

void Transport::wait(IoState want, Ready ready) {
  if (want == IoState::WantRead && (!unread_.empty() || (tls_ != nullptr && tls_->has_pending()))) {
    boost::asio::post(descriptor_.get_executor(),
                      [call = std::move(ready)]() mutable { call(true); });
    return;
  }
  const auto type = want == IoState::WantWrite ? boost::asio::posix::descriptor_base::wait_write
                                               : boost::asio::posix::descriptor_base::wait_read;
  descriptor_.async_wait(
      type,
      [call = std::move(ready)](const boost::system::error_code& error) mutable { call(!error); });
}

void Transport::shutdown_write() {
  if (!descriptor_.is_open()) return;
  if (tls_ != nullptr) tls_->shutdown();
  ::shutdown(descriptor_.native_handle(), SHUT_WR);
}

void Transport::close() {
  boost::system::error_code ignored;  // The descriptor is gone either way.
  descriptor_.close(ignored);
  unread_.clear();
  slot_.reset();
}

std::string Transport::failure_text(const IoResult& result) const {
  if (tls_ != nullptr && !tls_->error_text().empty()) return tls_->error_text();
  return errno_text(result.error);
}

}  // namespace net
