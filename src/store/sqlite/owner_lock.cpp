#include "store/sqlite/owner_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"

namespace store {
namespace {

// "1234", or empty when the file does not hold a number.
std::string read_holder(int file) {
  char text[20] = {};
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  std::string holder(text, size > 0 ? static_cast<size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.find_first_not_of("0123456789") == std::string::npos ? holder : "";
}

std::unexpected<base::Error> failure(const std::string& path, const char* action) {
  return base::fail("IoError",
                    base::format("Cannot {} {}: {}.", action, path, std::strerror(errno)));
}

}  // namespace

base::Result<OwnerLock> OwnerLock::acquire(const std::string& path) {
  const std::string lock_path = path + ".lock";
  const int file = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return failure(lock_path, "open");
  OwnerLock lock(file);
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return failure(lock_path, "lock");
    const std::string holder = read_holder(file);
    return base::fail("Busy",
                      base::format("{} is in use by {}: stop it, or choose another directory "
                                   "for the data.",
                                   path, holder.empty() ? "another process" : "process " + holder));
  }
  const std::string holder = base::format("{}\n", ::getpid());
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size())) {
    return failure(lock_path, "write");
  }
  return lock;
}

OwnerLock::OwnerLock(OwnerLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

OwnerLock::~OwnerLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace store
