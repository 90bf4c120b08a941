// What tasks may ask of a machine beyond their own containers: its operator's word, which its agent
// registers as attributes (`berth.profile`, `berth.allow.<rule>`). Where there are none,
// everything.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace model {

// A need is the name of its rule, and for some its value behind a blank: "privileged",
// "host-paths /data/x", "capabilities SYS_PTRACE".
namespace needs {
inline constexpr std::string_view privileged = "privileged";
inline constexpr std::string_view host_paths = "host-paths";
inline constexpr std::string_view docker_socket = "docker-socket";
// Named volumes of Docker that outlive the task, of other drivers than local, or with options:
// they may mount any path of the machine.
inline constexpr std::string_view docker_volumes = "docker-volumes";
inline constexpr std::string_view host_network = "host-network";
inline constexpr std::string_view host_pid = "host-pid";
inline constexpr std::string_view host_ipc = "host-ipc";
inline constexpr std::string_view capabilities = "capabilities";  // Linux's.
inline constexpr std::string_view devices = "devices";
inline constexpr std::string_view security_options = "security-options";
}  // namespace needs

struct TaskBounds {
  bool bounded = false;                     // False: everything is allowed.
  std::set<std::string> rules = {};         // Those without values.
  std::vector<std::string> host_paths{};    // Plain, with all that is below them.
  std::set<std::string> capabilities = {};  // "SYS_PTRACE"; "ALL" is every one.
  friend bool operator==(const TaskBounds&, const TaskBounds&) = default;
};

// `profile`: "shared", "trusted" or empty; `allow`: "privileged", "host-paths=/data:/scratch",
// "capabilities=SYS_PTRACE:NET_ADMIN". Whoever allows something is bounded. Errors:
// InvalidParameterException, which names the option.
base::Result<TaskBounds> parse_task_bounds(std::string_view profile,
                                           const std::vector<std::string>& allow);

std::map<std::string, std::string> attributes_of(const TaskBounds& bounds);
TaskBounds bounds_of(const std::map<std::string, std::string>& attributes);

bool permits(const TaskBounds& bounds, std::string_view need);
// "host path /data is not allowed", and what would allow it: "berth agent --allow
// host-paths=/data".
std::string not_allowed(std::string_view need);
std::string allowed_by(std::string_view need);

// Of a task that mounts the path, as it is spelled: links are not followed. `sockets`: of container
// runtimes; who has such a one, or a directory above it, has the machine.
std::vector<std::string> needs_of_host_path(std::string_view path,
                                            const std::vector<std::string>& sockets);
const std::vector<std::string>& sockets_of_runtimes();
// "cap_sys_ptrace" is SYS_PTRACE.
std::string need_of_capability(std::string_view capability);
// False for those that only take something away from the container.
bool needs_security_option(std::string_view option);

}  // namespace model
