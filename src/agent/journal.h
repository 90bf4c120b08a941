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
#include "sqlite/database.h"

namespace agent {

struct LogKey {
  std::string task_arn;
  std::string container;
  friend auto operator<=>(const LogKey&, const LogKey&) = default;
};

// How far a container's output is with the log service. Its events are numbered 0, 1, 2, ... in
// Docker's order. Docker drops the oldest lines of much output, so that counting from the beginning
// is no way to find the place again: the events are counted from a time shortly before it.
struct LogPosition {
  std::string runtime_id;
  int64_t next_event = 0;   // Number of the first event that is not delivered.
  int64_t since_ns = 0;     // Of the delivered events, those not older than this
  int64_t since_count = 0;  // are so many.
  int64_t newest_ns = 0;    // Time of the newest delivered event.
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
  Journal(std::unique_ptr<sqlite::Database> database, std::vector<sqlite::Statement> statements);
  base::Result<void> write(const Writes& writes);

  std::unique_ptr<sqlite::Database> database_;  // First, so that it goes last.
  sqlite::Statement put_record_;
  sqlite::Statement delete_record_;
  sqlite::Statement put_position_;
  sqlite::Statement delete_position_;
};

}  // namespace agent
