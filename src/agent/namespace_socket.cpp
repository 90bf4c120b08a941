#include "agent/namespace_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fib_rules.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "agent/child_process.h"
#include "agent/container_process.h"
#include "base/format.h"

namespace agent {
namespace {

constexpr int backlog = 64;
// A second address of the loopback interface has a label of its own. Source: netdevice(7).
constexpr const char* loopback_label = "lo:ecs";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::unexpected<base::Error> failed(std::string_view what) {
  return base::fail("IoError", base::format("{}: {}", what, std::strerror(errno)));
}

sockaddr_in address_of(const std::string& text, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  return address;
}

ifreq request_for(const char* name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  return request;
}

// Since an earlier agent, or an earlier start in the same network.
bool has_address() {
  const Descriptor control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = request_for(loopback_label);
  return control.get() >= 0 && ::ioctl(control.get(), SIOCGIFADDR, &request) == 0;
}

base::Result<void> add_address(const std::string& text) {
  const Descriptor control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (control.get() < 0) return failed("socket");
  ifreq up = request_for("lo");
  if (::ioctl(control.get(), SIOCGIFFLAGS, &up) != 0) return failed("the loopback interface");
  up.ifr_flags = static_cast<short>(up.ifr_flags | IFF_UP);
  if (::ioctl(control.get(), SIOCSIFFLAGS, &up) != 0) return failed("the loopback interface");
  ifreq address = request_for(loopback_label);
  const sockaddr_in value = address_of(text, 0);
  std::memcpy(&address.ifr_addr, &value, sizeof value);
  if (::ioctl(control.get(), SIOCSIFADDR, &address) != 0) return failed("its second address");
  ifreq mask = request_for(loopback_label);
  const sockaddr_in all = address_of("255.255.255.255", 0);
  std::memcpy(&mask.ifr_netmask, &all, sizeof all);
  if (::ioctl(control.get(), SIOCSIFNETMASK, &mask) != 0) return failed("its netmask");
  return {};
}

base::Result<int> listen_on(const MetadataPlace& place) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failed("socket");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(socket.get(), IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
  const sockaddr_in address = address_of(place.address, place.listening_port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return failed(base::format("{}:{}", place.address, place.listening_port));
  }
  if (::listen(socket.get(), backlog) != 0) return failed("listen");
  return socket.release();
}

// Where Debian, Alpine and others have it.
std::string iptables_path() {
  for (const char* path : {"/usr/sbin/iptables", "/sbin/iptables", "/usr/bin/iptables"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return {};
}

// A server of the container may listen at the asked port of all its addresses; the agent's socket
// therefore is at another, and the requests are led there. The program runs in the namespace of the
// thread that starts it.
base::Result<void> redirect(const MetadataPlace& place, bool again) {
  const std::string path = iptables_path();
  if (path.empty()) {
    return base::fail("IoError", "iptables is not installed; apt-get install iptables");
  }
  const std::vector<std::string> rule = {
      "OUTPUT",
      "-d",
      place.address,
      "-p",
      "tcp",
      "--dport",
      base::format("{}", place.asked_port),
      "-j",
      "DNAT",
      "--to-destination",
      base::format("{}:{}", place.address, place.listening_port)};
  std::string output;
  for (const char* action : {"-C", "-A"}) {
    if (action[1] == 'C' && !again) continue;  // A new network has no rule to check for.
    std::vector<std::string> arguments = {"-w", "5", "-t", "nat", action};
    arguments.insert(arguments.end(), rule.begin(), rule.end());
    const ChildEnd end = TRY(run_child({.path = path, .arguments = std::move(arguments)}));
    if (end.exit_code == 0) return {};
    output = end.output;
  }
  return base::fail("IoError", base::format("{}: {}", path, output));
}

std::unexpected<base::Error> route_failed(const std::string& address, int error) {
  errno = error;
  return failed(base::format("the route to {}", address));
}

// Adds or removes a route of that type. Answers the kernel's errno. Source: rtnetlink(7).
base::Result<int> ask_for_route(uint16_t what, uint8_t type, const std::string& address);

// The address last: who asks before it is there asks again, and finds all in place.
base::Result<int> make_place(const MetadataPlace& place) {
  if (!place.refused.empty()) {
    const int error = TRY(ask_for_route(RTM_NEWROUTE, RTN_UNREACHABLE, place.refused));
    if (error != 0 && error != EEXIST) return route_failed(place.refused, error);
  }
  Descriptor socket(TRY(listen_on(place)));
  TRY_VOID(redirect(place, has_address()));
  TRY_VOID(add_address(place.address));
  return socket.release();
}

bool has_capability(uint32_t capability) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  return ((data[capability / 32].effective >> (capability % 32)) & 1U) != 0;
}

// Sends a request to the kernel's routing. Answers its errno.
base::Result<int> ask_kernel(const void* request, size_t size) {
  const Descriptor link(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (link.get() < 0) return failed("netlink");
  if (::send(link.get(), request, size, 0) < 0) return failed("netlink");
  struct {
    nlmsghdr header;
    nlmsgerr error;
    std::array<char, 256> rest;
  } answer{};
  if (::recv(link.get(), &answer, sizeof answer, 0) < 0) return failed("netlink");
  if (answer.header.nlmsg_type != NLMSG_ERROR) return base::fail("IoError", "netlink: no answer");
  return -answer.error.error;
}

nlmsghdr header_of(uint16_t what, bool adds, size_t size) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(size);
  header.nlmsg_type = what;
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  if (adds) header.nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
  return header;
}

base::Result<int> ask_for_route(uint16_t what, uint8_t type, const std::string& address) {
  struct {
    nlmsghdr header;
    rtmsg route;
    rtattr destination_head;
    in_addr destination;
  } request{};
  request.header = header_of(what, what == RTM_NEWROUTE, sizeof request);
  request.route.rtm_family = AF_INET;
  request.route.rtm_dst_len = 32;
  request.route.rtm_table = RT_TABLE_MAIN;
  request.route.rtm_protocol = RTPROT_STATIC;
  request.route.rtm_type = type;
  request.destination_head.rta_type = RTA_DST;
  request.destination_head.rta_len = RTA_LENGTH(sizeof request.destination);
  request.destination = address_of(address, 0).sin_addr;
  return ask_kernel(&request, sizeof request);
}

// Rules of routing, in their order: what this machine's own programs send goes its ordinary way,
// everything else to the address nowhere. Before those of the tables main and default.
// Source: linux/fib_rules.h.
constexpr uint32_t own_rule = 16'925;
constexpr uint32_t others_rule = 16'926;

base::Result<int> ask_for_rule(uint16_t what, uint32_t priority, const std::string& address) {
  struct {
    nlmsghdr header;
    fib_rule_hdr rule;
    rtattr destination_head;
    in_addr destination;
    rtattr priority_head;
    uint32_t priority;
    rtattr from_head;
    std::array<char, 4> from;  // An interface; "lo" is where own programs send from.
  } request{};
  const bool own = priority == own_rule;
  const size_t size =
      own ? sizeof request : sizeof request - sizeof request.from_head - sizeof request.from;
  request.header = header_of(what, what == RTM_NEWRULE, size);
  request.rule.family = AF_INET;
  request.rule.dst_len = 32;
  request.rule.table = own ? RT_TABLE_MAIN : RT_TABLE_UNSPEC;
  request.rule.action = own ? FR_ACT_TO_TBL : FR_ACT_BLACKHOLE;
  request.destination_head.rta_type = FRA_DST;
  request.destination_head.rta_len = RTA_LENGTH(sizeof request.destination);
  request.destination = address_of(address, 0).sin_addr;
  request.priority_head.rta_type = FRA_PRIORITY;
  request.priority_head.rta_len = RTA_LENGTH(sizeof request.priority);
  request.priority = priority;
  request.from_head.rta_type = FRA_IIFNAME;
  request.from_head.rta_len = RTA_LENGTH(sizeof "lo");
  std::memcpy(request.from.data(), "lo", sizeof "lo");
  return ask_kernel(&request, size);
}

std::unexpected<base::Error> rule_failed(const std::string& address, int error) {
  errno = error;
  return failed(base::format("the rule of routing to {}", address));
}

}  // namespace

base::Result<bool> drop_in_own_network(const std::string& address) {
  const int error = TRY(ask_for_route(RTM_NEWROUTE, RTN_BLACKHOLE, address));
  if (error != 0 && error != EEXIST) return route_failed(address, error);
  return error == 0;
}

base::Result<bool> drop_no_more(const std::string& address) {
  const int error = TRY(ask_for_route(RTM_DELROUTE, RTN_BLACKHOLE, address));
  if (error != 0 && error != ESRCH) return route_failed(address, error);
  return error == 0;
}

base::Result<bool> drop_forwarded(const std::string& address) {
  bool made = false;
  for (const uint32_t priority : {own_rule, others_rule}) {
    const int error = TRY(ask_for_rule(RTM_NEWRULE, priority, address));
    if (error != 0 && error != EEXIST) return rule_failed(address, error);
    made = made || error == 0;
  }
  return made;
}

base::Result<bool> forward_again(const std::string& address) {
  bool gone = false;
  for (const uint32_t priority : {others_rule, own_rule}) {
    const int error = TRY(ask_for_rule(RTM_DELRULE, priority, address));
    if (error != 0 && error != ENOENT) return rule_failed(address, error);
    gone = gone || error == 0;
  }
  return gone;
}

bool may_enter_namespaces() {
  return has_capability(CAP_SYS_ADMIN) && has_capability(CAP_NET_ADMIN);
}

base::Result<int> listen_in_namespace(int64_t pid, const std::string& container_id,
                                      const MetadataPlace& place) {
  const Descriptor target(
      ::open(base::format("/proc/{}/ns/net", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (target.get() < 0 && errno == ENOENT) {
    return base::fail("NotFound", base::format("process {} has ended", pid));
  }
  if (target.get() < 0) return failed(base::format("the network of process {}", pid));
  // Asked after the file is open: the process is the container's, and so is the namespace.
  if (!is_in_container(pid, {&container_id, 1})) {
    return base::fail("IoError",
                      base::format("process {} is not the container's on this machine", pid));
  }
  base::Result<int> socket = base::fail("IoError", "not tried");
  // A thread's namespace goes with the thread.
  std::jthread([&] {
    const bool entered = ::setns(target.get(), CLONE_NEWNET) == 0;
    socket = entered ? make_place(place) : base::Result<int>(failed("setns"));
  }).join();
  return socket;
}

}  // namespace agent
