#include "model/gpu_doors.h"

#include <algorithm>
#include <array>
#include <vector>

namespace model {
namespace {

constexpr auto doors = std::to_array<std::string_view>(
    {"/dev/nvidia", "/var/run/nvidia-container-devices", "/run/nvidia-container-devices"});

}  // namespace

std::string plain_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string plain;
  for (const std::string_view part : parts) plain.append("/").append(part);
  return plain.empty() ? "/" : plain;
}

bool is_gpu_path(std::string_view path) {
  const std::string plain = plain_path(path);
  return std::ranges::any_of(doors, [&](std::string_view door) { return plain.starts_with(door); });
}

bool holds_gpu_devices(std::string_view host_path) {
  const std::string plain = plain_path(host_path);
  return plain == "/" || plain == "/dev" || is_gpu_path(plain);
}

}  // namespace model
