// A listening socket inside a container's network namespace, worked from outside of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace agent {

// Whether this process may do so: it needs CAP_SYS_ADMIN and CAP_NET_ADMIN.
bool may_enter_namespaces();

// What is sent to that IPv4 address is dropped in this machine's own network: a container that asks
// before its network leads the address to the agent asks again a second later, and nothing of it
// leaves the machine. Stays until drop_no_more(), of whichever agent of the machine: before each
// start of a container it is asked for anew. False: it was so already. Errors: "IoError".
base::Result<bool> drop_in_own_network(const std::string& address);
// False: it was not dropped. Errors: "IoError".
base::Result<bool> drop_no_more(const std::string& address);

// What comes from other networks of this machine, as those of containers, and goes to that IPv4
// address is dropped: also before a container's own network refuses it, and with it for containers
// that are not Berth's. The machine's own programs reach it. Stays and is taken back as the above.
base::Result<bool> drop_forwarded(const std::string& address);
base::Result<bool> forward_again(const std::string& address);

struct MetadataPlace {
  std::string address;  // "169.254.170.2"
  uint16_t asked_port = 80;
  uint16_t listening_port = 0;
  std::string refused = {};  // An IPv4 address that the network shall not reach; empty: none.
};

// Gives the loopback interface of the namespace of that process the IPv4 address, listens there at
// listening_port, refuses `refused`, and leads what is sent to asked_port there. The socket does
// not block; whoever has it keeps the namespace alive. Doing it again, after the first socket was
// closed, does no harm. `container_id` is to stand in the process's cgroup: the process of another
// machine's Docker has none here. Errors: "NotFound" when the process has ended; "IoError", also
// without iptables.
base::Result<int> listen_in_namespace(int64_t pid, const std::string& container_id,
                                      const MetadataPlace& place);

}  // namespace agent
