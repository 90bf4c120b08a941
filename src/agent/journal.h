// The agent's own file, agent.db: what Core must find again after a restart, how far each
// container's output was shipped, and a few settings of the instance.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/core.h"
#include "base/result.h"
#include "sqlite/commit_count.h"
#include "sqlite/database.h"

namespace agent {

struct LogKey {
  std::string task_arn;
  std::string container;
  friend auto operator<=>(const LogKey&, const LogKey&) = default;
};

// A line of Docker's log: no two of a container have the same time, to the nanosecond, and text.
struct LineMark {
  int64_t time_ns = 0;             // Since 1970.
  std::optional<uint64_t> hash{};  // base::fnv1a of its bytes; an older agent kept none.
  friend bool operator==(const LineMark&, const LineMark&) = default;
};

// How far a container's output is with the log service. Its events are numbered 0, 1, 2, ... in
// Docker's order. The place in Docker's log is the line that was delivered last: times are no way
// to find it, since clocks are set back, and neither is counting from the beginning, since Docker
// drops the oldest lines of much output.
struct LogPosition {
  std::string runtime_id;
  int64_t next_event = 0;             // Number of the first event that is not delivered.
  std::optional<LineMark> last = {};  // The last delivered event's line.
  friend bool operator==(const LogPosition&, const LogPosition&) = default;
};

// Belongs to one thread at a time. Errors of all: those of sqlite/database.h.
class Journal {
 public:
  // "Busy" when another process, or another agent of this one, has it.
  // `vfs` is for tests: see sqlite/faulty_vfs.h.
  static base::Result<std::unique_ptr<Journal>> open(const std::filesystem::path& file,
                                                     const std::string& vfs = {});

  base::Result<std::vector<core::JournalRecord>> records();
  base::Result<std::map<LogKey, LogPosition>> log_positions();
  base::Result<std::optional<std::string>> setting(std::string_view name);
  base::Result<void> set_setting(std::string_view name, std::string_view value);

  struct Writes {
    std::vector<core::JournalWrite> records;                     // In their order.
    std::map<LogKey, std::optional<LogPosition>> log_positions;  // nullopt: delete.
  };
  // In one transaction, on the disk when it returns.
  base::Result<void> commit(const Writes& writes);

 private:
  Journal(std::unique_ptr<sqlite::Database> database, sqlite::CommitCount count,
          std::vector<sqlite::Statement> statements);
  base::Result<void> write(const Writes& writes);

  std::unique_ptr<sqlite::Database> database_;  // First, so that it goes last.
  sqlite::CommitCount count_;
  sqlite::Statement put_record_;
  sqlite::Statement delete_record_;
  sqlite::Statement put_position_;
  sqlite::Statement delete_position_;
};

}  // namespace agent
