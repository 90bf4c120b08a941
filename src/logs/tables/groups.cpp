#include "logs/tables/groups.h"

#include <algorithm>
#include <array>

namespace logs {
namespace {

// The places in Groups::statements_.
enum GroupQuery : uint8_t {
  FindGroup,
  VisitGroups,
  ExpiringGroups,
  LargerGroups,
  LargestGroup,
  InsertGroup,
  SetRetention,
  SetDeletionProtection,
  AddStoredBytes,
  RemoveWritersOfGroup,
  RemoveStreams,
  RemoveTags,
  RemoveGroup,
  LeaveGroupEvents,
  ReadTags,
  PutTag,
  RemoveTag,
  GroupQueryCount,
};

#define GROUP_COLUMNS \
  "id, name, creation_time, retention_in_days, class, deletion_protection, stored_bytes"

constexpr std::array<const char*, GroupQueryCount> group_queries = {
    "SELECT " GROUP_COLUMNS " FROM log_group WHERE name = ?",
    "SELECT " GROUP_COLUMNS " FROM log_group WHERE name >= ? ORDER BY name",
    "SELECT " GROUP_COLUMNS " FROM log_group WHERE retention_in_days IS NOT NULL OR ? ORDER BY id",
    "SELECT " GROUP_COLUMNS " FROM log_group WHERE stored_bytes > ? ORDER BY id",
    "SELECT " GROUP_COLUMNS
    " FROM log_group WHERE stored_bytes = "
    "(SELECT max(stored_bytes) FROM log_group) LIMIT 1",
    "INSERT INTO log_group(name, creation_time, retention_in_days, class, deletion_protection, "
    "stored_bytes) VALUES(?, ?, ?, ?, ?, 0)",
    "UPDATE log_group SET retention_in_days = ?2 WHERE id = ?1",
    "UPDATE log_group SET deletion_protection = ?2 WHERE id = ?1",
    "UPDATE log_group SET stored_bytes = stored_bytes + ?2 WHERE id = ?1",
    "DELETE FROM log_stream_writer WHERE stream_id IN "
    "(SELECT id FROM log_stream WHERE group_id = ?)",
    "DELETE FROM log_stream WHERE group_id = ?",
    "DELETE FROM log_group_tag WHERE group_id = ?",
    "DELETE FROM log_group WHERE id = ?",
    "INSERT INTO deleted_group(id) VALUES(?)",
    "SELECT key, value FROM log_group_tag WHERE group_id = ? ORDER BY key",
    "INSERT INTO log_group_tag(group_id, key, value) VALUES(?, ?, ?) "
    "ON CONFLICT(group_id, key) DO UPDATE SET value = excluded.value",
    "DELETE FROM log_group_tag WHERE group_id = ? AND key = ?",
};
#undef GROUP_COLUMNS

Group read_group_row(const sqlite::Statement& row) {
  Group group;
  group.id = row.column_int64(0);
  group.name = row.column_text(1);
  group.creation_time = row.column_int64(2);
  if (!row.column_is_null(3)) group.retention_in_days = static_cast<int32_t>(row.column_int64(3));
  group.log_group_class = row.column_text(4);
  group.deletion_protection_enabled = row.column_int64(5) != 0;
  group.stored_bytes = row.column_int64(6);
  return group;
}

void bind_days(sqlite::Statement& statement, int index, std::optional<int32_t> days) {
  if (days) {
    statement.bind_int64(index, *days);
  } else {
    statement.bind_null(index);
  }
}

}  // namespace

std::span<const char* const> Groups::sql() {
  return group_queries;
}

base::Result<Groups> Groups::prepare(sqlite::Database& database) {
  Groups groups(database);
  groups.statements_.reserve(group_queries.size());
  for (const char* sql : group_queries) groups.statements_.push_back(TRY(database.prepare(sql)));
  return groups;
}

base::Result<std::optional<Group>> Groups::find(std::string_view name) {
  sqlite::Statement& row = statements_[FindGroup].bind_text(1, name);
  if (!TRY(row.step())) return std::nullopt;
  Group group = read_group_row(row);
  row.reset();
  return group;
}

base::Result<void> Groups::visit(std::string_view after, std::string_view prefix,
                                 const std::function<bool(const Group&)>& visit) {
  // With a zero byte behind it, `after` is the least name that it does not include.
  const std::string from = std::max(std::string(prefix), std::string(after) + '\0');
  sqlite::Statement& row = statements_[VisitGroups].bind_text(1, from);
  while (TRY(row.step())) {
    const Group group = read_group_row(row);
    if (!group.name.starts_with(prefix) || !visit(group)) {
      row.reset();
      break;
    }
  }
  return {};
}

base::Result<std::vector<Group>> Groups::expiring(bool all) {
  return read_all(statements_[ExpiringGroups].bind_int64(1, all ? 1 : 0));
}

base::Result<std::vector<Group>> Groups::larger_than(int64_t stored_bytes) {
  return read_all(statements_[LargerGroups].bind_int64(1, stored_bytes));
}

base::Result<std::optional<Group>> Groups::largest() {
  auto found = TRY(read_all(statements_[LargestGroup]));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

base::Result<std::vector<Group>> Groups::read_all(sqlite::Statement& row) {
  std::vector<Group> found;
  while (TRY(row.step())) found.push_back(read_group_row(row));
  return found;
}

base::Result<void> Groups::insert(const Group& group, const Tags& tags) {
  sqlite::Statement& statement = statements_[InsertGroup];
  statement.bind_text(1, group.name).bind_int64(2, group.creation_time);
  bind_days(statement, 3, group.retention_in_days);
  statement.bind_text(4, group.log_group_class);
  statement.bind_int64(5, group.deletion_protection_enabled ? 1 : 0);
  TRY_VOID(statement.run());
  const int64_t id = database_->last_insert_rowid();
  for (const auto& [key, value] : tags) TRY_VOID(put_tag(id, key, value));
  return {};
}

base::Result<void> Groups::set_retention(int64_t id, std::optional<int32_t> days) {
  sqlite::Statement& statement = statements_[SetRetention].bind_int64(1, id);
  bind_days(statement, 2, days);
  return statement.run();
}

base::Result<void> Groups::set_deletion_protection(int64_t id, bool enabled) {
  return statements_[SetDeletionProtection].bind_int64(1, id).bind_int64(2, enabled ? 1 : 0).run();
}

base::Result<void> Groups::add_stored_bytes(int64_t id, int64_t bytes) {
  return statements_[AddStoredBytes].bind_int64(1, id).bind_int64(2, bytes).run();
}

base::Result<void> Groups::remove(int64_t id) {
  for (const GroupQuery query :
       {RemoveWritersOfGroup, RemoveStreams, RemoveTags, RemoveGroup, LeaveGroupEvents}) {
    TRY_VOID(statements_[query].bind_int64(1, id).run());
  }
  return {};
}

base::Result<Tags> Groups::tags(int64_t id) {
  Tags tags;
  sqlite::Statement& row = statements_[ReadTags].bind_int64(1, id);
  while (TRY(row.step())) tags.emplace(row.column_text(0), row.column_text(1));
  return tags;
}

base::Result<void> Groups::put_tag(int64_t id, std::string_view key, std::string_view value) {
  return statements_[PutTag].bind_int64(1, id).bind_text(2, key).bind_text(3, value).run();
}

base::Result<void> Groups::remove_tag(int64_t id, std::string_view key) {
  return statements_[RemoveTag].bind_int64(1, id).bind_text(2, key).run();
}

}  // namespace logs
