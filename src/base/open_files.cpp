#include "base/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace base {
namespace {

constexpr rlim_t most_open_files = rlim_t{1} << 20;
constexpr size_t fewest_open_files = 20;  // Source: _POSIX_OPEN_MAX.

}  // namespace

size_t open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fewest_open_files;
  return std::min(limit.rlim_cur, most_open_files);
}

size_t raise_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fewest_open_files;
  const rlim_t wanted = std::min(limit.rlim_max, most_open_files);
  if (wanted > limit.rlim_cur) {
    limit.rlim_cur = wanted;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  return open_files_limit();
}

}  // namespace base
