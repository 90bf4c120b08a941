#include "server/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "server/audit_entry.h"

namespace server {
namespace {

std::unexpected<base::Error> audit_error(const std::string& path, const char* what) {
  return base::fail("IoError", base::format("The audit log {} cannot be {}: {}.", path, what,
                                            std::strerror(errno)));
}

base::Result<int> open_audit_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return audit_error(path, "opened");
  if (::fchmod(file, 0600) != 0) {
    ::close(file);
    return audit_error(path, "made its owner's alone");
  }
  return file;
}

// A machine that has lost its power may leave half a line.
bool ends_within_line(int file, off_t bytes) {
  char last = '\n';
  return bytes > 0 && ::pread(file, &last, 1, bytes - 1) == 1 && last != '\n';
}

std::string older(const std::string& path, int number) {
  return number == 0 ? path : base::format("{}.{}", path, number);
}

}  // namespace

AuditLog::AuditLog(AuditLogOptions options, int file, uint64_t bytes)
    : options_(std::move(options)), file_(file), bytes_(bytes) {}

AuditLog::AuditLog(AuditLog&& other) noexcept
    : options_(std::move(other.options_)),
      file_(std::exchange(other.file_, -1)),
      bytes_(other.bytes_),
      not_written_(other.not_written_) {}

AuditLog::~AuditLog() {
  if (file_ >= 0) ::close(file_);
}

base::Result<AuditLog> AuditLog::open(AuditLogOptions options) {
  const int file = TRY(open_audit_file(options.path));
  struct stat about{};
  if (::fstat(file, &about) != 0) {
    ::close(file);
    return audit_error(options.path, "looked at");
  }
  AuditLog log(std::move(options), file, static_cast<uint64_t>(about.st_size));
  // Where there is no room for it now, there is none for a line either.
  if (ends_within_line(file, about.st_size) && ::write(file, "\n", 1) == 1) ++log.bytes_;
  return log;
}

base::Result<void> AuditLog::rotate() {
  // First, under a name of its own: where it cannot be made, all files stay as they are.
  const std::string unnamed = options_.path + ".new";
  const int next = TRY(open_audit_file(unnamed));
  for (int number = options_.files - 1; number > 0; --number) {
    // Those that are not there yet are none.
    std::rename(older(options_.path, number - 1).c_str(), older(options_.path, number).c_str());
  }
  if (std::rename(unnamed.c_str(), options_.path.c_str()) != 0) {
    auto failed = audit_error(options_.path, "begun anew");
    ::close(next);
    return failed;
  }
  ::close(std::exchange(file_, next));
  bytes_ = 0;
  return {};
}

base::Result<void> AuditLog::write_whole(std::string_view text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(file_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      auto failed = audit_error(options_.path, "written");
      // No half a line stays; a file that cannot be cut back ends one by itself.
      if (done > 0 && ::ftruncate(file_, static_cast<off_t>(bytes_)) != 0) bytes_ += done;
      return failed;
    }
    done += static_cast<size_t>(wrote);
  }
  bytes_ += text.size();
  return {};
}

base::Result<void> AuditLog::append(std::string_view lines, uint64_t count, base::Time now) {
  const auto written = [&]() -> base::Result<void> {
    if (bytes_ > 0 && bytes_ + lines.size() > options_.file_bytes) TRY_VOID(rotate());
    if (not_written_ > 0) {
      TRY_VOID(write_whole(not_written_line(now, not_written_)));
      not_written_ = 0;
    }
    return write_whole(lines);
  }();
  if (!written) not_written_ += count;
  return written;
}

}  // namespace server
