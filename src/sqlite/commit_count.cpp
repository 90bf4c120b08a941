#include "sqlite/commit_count.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/format.h"

namespace sqlite {
namespace {

// "0123456789abcdef 00000000000000000042\n": of one length, so that it is written over in one step.
constexpr size_t lineage_digits = 16;
constexpr size_t count_digits = 20;
constexpr size_t line_bytes = lineage_digits + 1 + count_digits + 1;

// nullopt: there is none that was written whole, or it is of another database.
std::optional<int64_t> read_count(int file, std::string_view lineage) {
  std::array<char, line_bytes + 1> bytes{};
  const ssize_t got = ::pread(file, bytes.data(), bytes.size(), 0);
  if (got != static_cast<ssize_t>(line_bytes)) return std::nullopt;
  const std::string_view line(bytes.data(), line_bytes);
  if (!line.starts_with(lineage) || line[lineage_digits] != ' ' || line.back() != '\n') {
    return std::nullopt;
  }
  int64_t count = 0;
  const char* const end = line.data() + line_bytes - 1;
  const auto parsed = std::from_chars(line.data() + lineage_digits + 1, end, count);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return count;
}

}  // namespace

base::Result<void> create_commit_count(Database& database) {
  return database.execute(
      "CREATE TABLE commit_count(lineage TEXT NOT NULL, number INTEGER NOT NULL);"
      "INSERT INTO commit_count VALUES(lower(hex(randomblob(8))), 0);");
}

base::Result<CommitCount> CommitCount::begin(Database& database) {
  auto select = TRY(database.prepare("SELECT lineage, number FROM commit_count"));
  if (!TRY(select.step()) || select.column_text(0).size() != lineage_digits) {
    return select.damaged("it does not count its commits");
  }
  std::string lineage(select.column_text(0));
  const int64_t count = select.column_int64(1);
  select.reset();
  const std::string path = database.path() + ".commits";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return base::fail(std::string(io_error),
                      base::format("Cannot open {}: {}.", path, std::strerror(errno)));
  }
  auto advance = database.prepare("UPDATE commit_count SET number = number + 1 RETURNING number");
  if (!advance) {
    ::close(file);
    return base::fail(std::move(advance).error());
  }
  CommitCount begun(std::move(*advance), std::move(lineage), count, file);
  const int64_t acknowledged = read_count(file, begun.lineage_).value_or(0);
  if (acknowledged > count) {
    return base::fail(
        std::string(corrupt),
        base::format("{} lacks its last {} commits, which were acknowledged ({} of {}): its "
                     "write-ahead log was lost or damaged, or an older copy was put in its place. "
                     "Restore a backup; to go on with what is there, remove {}.",
                     database.path(), acknowledged - count, count, acknowledged, path));
  }
  // Whatever else stood in it.
  if (::ftruncate(file, static_cast<off_t>(line_bytes)) != 0) {
    return base::fail(std::string(io_error),
                      base::format("Cannot write {}: {}.", path, std::strerror(errno)));
  }
  begun.acknowledge();
  return begun;
}

CommitCount::CommitCount(Statement advance, std::string lineage, int64_t count, int file)
    : advance_(std::move(advance)), lineage_(std::move(lineage)), count_(count), file_(file) {}

CommitCount::CommitCount(CommitCount&& other) noexcept
    : advance_(std::move(other.advance_)),
      lineage_(std::move(other.lineage_)),
      count_(other.count_),
      file_(std::exchange(other.file_, -1)) {}

CommitCount& CommitCount::operator=(CommitCount&& other) noexcept {
  std::swap(advance_, other.advance_);
  std::swap(lineage_, other.lineage_);
  std::swap(count_, other.count_);
  std::swap(file_, other.file_);
  return *this;
}

CommitCount::~CommitCount() {
  if (file_ >= 0) ::close(file_);
}

base::Result<void> CommitCount::advance() {
  const bool found = TRY(advance_.step());
  if (!found) return advance_.damaged("it does not count its commits");
  count_ = advance_.column_int64(0);
  advance_.reset();
  return {};
}

void CommitCount::acknowledge() {
  const std::string line = base::format("{} {:020}\n", lineage_, count_);
  // What cannot be written (a full disk, say) asks for less at the next start, and for nothing now.
  if (::pwrite(file_, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) return;
}

}  // namespace sqlite
