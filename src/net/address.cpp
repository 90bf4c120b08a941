#include "net/address.h"

#include "net/socket.h"

namespace net {

base::Result<uint16_t> find_free_port(const std::string& address) {
  const Fd fd = TRY(listen_tcp(address, 0));
  return local_port(fd.get());
}

base::Result<void> check_port_free(const std::string& address, uint16_t port) {
  const Fd fd = TRY(listen_tcp(address, port));
  return {};
}

}  // namespace net
