// The tables log_group and log_group_tag.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"

namespace logs {

struct Group {
  int64_t id = 0;
  std::string name = {};
  int64_t creation_time = 0;
  std::optional<int32_t> retention_in_days = {};  // Absent: events never expire.
  std::string log_group_class = {};               // "STANDARD" or "INFREQUENT_ACCESS".
  bool deletion_protection_enabled = false;
  int64_t stored_bytes = 0;  // As PutLogEvents counts: 26 bytes are added to each message.
};

using Tags = std::map<std::string, std::string>;

// Must not outlive the database. Errors: sqlite's.
class Groups {
 public:
  static base::Result<Groups> prepare(sqlite::Database& database);
  // Every statement it uses.
  static std::span<const char* const> sql();

  base::Result<std::optional<Group>> find(std::string_view name);
  // Visits groups in the order of their names' bytes, those behind `after` that start with
  // `prefix`, until there are none left or `visit` answers false.
  base::Result<void> visit(std::string_view after, std::string_view prefix,
                           const std::function<bool(const Group&)>& visit);
  // Those with a retention; or all.
  base::Result<std::vector<Group>> expiring(bool all);
  base::Result<std::vector<Group>> larger_than(int64_t stored_bytes);
  // The one that holds the most bytes.
  base::Result<std::optional<Group>> largest();

  // The id of `group` is not looked at: a new one is given. The name must be free.
  base::Result<void> insert(const Group& group, const Tags& tags);
  base::Result<void> set_retention(int64_t id, std::optional<int32_t> days);
  base::Result<void> set_deletion_protection(int64_t id, bool enabled);
  base::Result<void> add_stored_bytes(int64_t id, int64_t bytes);
  // Removes the group with its streams and tags; its events are left to Sweeper.
  base::Result<void> remove(int64_t id);

  base::Result<Tags> tags(int64_t id);
  base::Result<void> put_tag(int64_t id, std::string_view key, std::string_view value);
  base::Result<void> remove_tag(int64_t id, std::string_view key);

 private:
  static base::Result<std::vector<Group>> read_all(sqlite::Statement& row);
  explicit Groups(sqlite::Database& database) : database_(&database) {}

  sqlite::Database* database_;
  std::vector<sqlite::Statement> statements_;
};

}  // namespace logs
