// Keeps a file to one process.
#pragma once

#include <string>

#include "base/result.h"

namespace store {

// Held for as long as the object lives, and let go by the kernel when the process dies.
class OwnerLock {
 public:
  // Locks `<path>.lock`, a file beside `path` with the holder's process id in it; it stays when the
  // lock is gone. Not on `path` itself: closing any descriptor of a file drops SQLite's own locks.
  // Errors: "Busy" naming the process that holds it; "IoError".
  static base::Result<OwnerLock> acquire(const std::string& path);
  OwnerLock(OwnerLock&& other) noexcept;
  OwnerLock& operator=(OwnerLock&&) = delete;
  ~OwnerLock();

 private:
  explicit OwnerLock(int file) : file_(file) {}

  int file_;  // -1 once moved from.
};

}  // namespace store
