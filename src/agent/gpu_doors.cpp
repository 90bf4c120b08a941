#include "agent/gpu_doors.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/format.h"
#include "model/gpu_doors.h"

namespace agent {
namespace {

// More entries than any directory of devices has; one that has more is refused unread.
constexpr int most_entries = 4096;

bool is_gpu_node(const std::filesystem::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) &&
         major(status.st_rdev) == nvidia_major;
}

bool has_gpu_node(const std::filesystem::path& directory) {
  std::error_code error;
  int entries = 0;
  for (auto entry = std::filesystem::recursive_directory_iterator(
           directory, std::filesystem::directory_options::skip_permission_denied, error);
       !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    if (++entries > most_entries || is_gpu_node(entry->path())) return true;
  }
  return false;
}

}  // namespace

bool leads_to_gpu(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return false;
  if (model::holds_gpu_devices(real.string()) || is_gpu_node(real)) return true;
  return std::filesystem::is_directory(real, error) && has_gpu_node(real);
}

std::expected<void, core::OperationError> check_devices_are_no_gpus(const json::Value& body) {
  for (const json::Value& device : body["HostConfig"]["Devices"].items()) {
    const std::string path = device["PathOnHost"].text_or("");
    if (!leads_to_gpu(path)) continue;
    return std::unexpected(core::OperationError{
        core::Cause::BadParameter, "DockerClientConfigError",
        base::format("linuxParameters.devices: {} leads to a GPU of this machine, past their "
                     "book-keeping. Use resourceRequirements of type GPU instead.",
                     path)});
  }
  return {};
}

}  // namespace agent
