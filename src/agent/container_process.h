// Which container a process of this machine is in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace agent {

// Whether the process is in the cgroup of one of these containers, by Docker's ids. False for a
// process that is gone. `proc`: where procfs is mounted.
bool is_in_container(int64_t pid, std::span<const std::string> ids,
                     const std::filesystem::path& proc = "/proc");

}  // namespace agent
