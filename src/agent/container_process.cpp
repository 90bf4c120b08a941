#include "agent/container_process.h"

#include <algorithm>
#include <fstream>

namespace agent {

bool is_in_container(int64_t pid, std::span<const std::string> ids,
                     const std::filesystem::path& proc) {
  std::ifstream file(proc / std::to_string(pid) / "cgroup");
  // "0::/docker/<id>", "0::/system.slice/docker-<id>.scope", or below these.
  for (std::string line; std::getline(file, line);) {
    const bool known = std::ranges::any_of(ids, [&](const std::string& id) {
      return !id.empty() && line.find(id) != std::string::npos;
    });
    if (known) return true;
  }
  return false;
}

}  // namespace agent
