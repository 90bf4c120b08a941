#include "logs/limits.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace logs {
namespace {

constexpr int64_t most_reserved_bytes = int64_t{512} << 20;
constexpr int64_t reserved_part = 20;

std::optional<struct statvfs> disk_of(const std::string& path) {
  struct statvfs disk{};
  const std::string folder = std::filesystem::path(path).parent_path();
  if (::statvfs(folder.empty() ? "." : folder.c_str(), &disk) != 0) return std::nullopt;
  return disk;
}

int64_t bytes_in(const struct statvfs& disk, uint64_t blocks) {
  return static_cast<int64_t>(blocks * disk.f_frsize);
}

}  // namespace

int64_t disk_reserve(const std::string& path) {
  const auto disk = disk_of(path);
  if (!disk) return 0;
  return std::min(bytes_in(*disk, disk->f_blocks) / reserved_part, most_reserved_bytes);
}

int64_t free_on_disk(const std::string& path) {
  const auto disk = disk_of(path);
  return disk ? bytes_in(*disk, disk->f_bavail) : -1;
}

}  // namespace logs
