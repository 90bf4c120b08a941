// The file of the audit log and the older ones beside it. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace server {

struct AuditLogOptions {
  std::string path;  // Of the newest file; older ones are PATH.1, PATH.2 and so on.
  uint64_t file_bytes = uint64_t{32} << 20;
  int files = 8;  // The newest included.
};

// What it has taken is with the kernel: the end of the process loses none of it. The files are
// their owner's alone.
class AuditLog {
 public:
  // Errors: "IoError" naming the file and what to do.
  static base::Result<AuditLog> open(AuditLogOptions options);
  ~AuditLog();
  AuditLog(AuditLog&& other) noexcept;
  AuditLog& operator=(AuditLog&&) = delete;

  // Appends whole lines, `count` of them; at the latest then it begins a new file where this one is
  // full. Lines that the disk does not take are counted, and the count is what it takes first as
  // soon as it takes something again. Errors: "IoError"; the file then ends with its last whole
  // line.
  base::Result<void> append(std::string_view lines, uint64_t count, base::Time now);

  // Lines lost since it last took any.
  uint64_t not_written() const { return not_written_; }

 private:
  AuditLog(AuditLogOptions options, int file, uint64_t bytes);
  base::Result<void> write_whole(std::string_view text);
  base::Result<void> rotate();

  AuditLogOptions options_;
  int file_;
  uint64_t bytes_;
  uint64_t not_written_ = 0;
};

}  // namespace server
