#include "secrets/vault.h"

#include <array>
#include <utility>

#include "api/describe.h"
#include "api/json.h"
#include "base/format.h"
#include "crypto/crypto.h"
#include "sqlite/upgrade.h"

namespace secrets {

API_DESCRIBE(Version, API_MEMBER(id, "id"), API_MEMBER(number, "number"),
             API_MEMBER(stages, "stages"), API_MEMBER(created_at, "createdAt"),
             API_MEMBER(binary, "binary"), API_MEMBER(sealed, "sealed"));
API_DESCRIBE(Item, API_MEMBER(name, "name"), API_MEMBER(arn, "arn"), API_MEMBER(type, "type"),
             API_MEMBER(data_type, "dataType"), API_MEMBER(description, "description"),
             API_MEMBER(key_id, "keyId"), API_MEMBER(created_at, "createdAt"),
             API_MEMBER(changed_at, "changedAt"), API_MEMBER(deleted_at, "deletedAt"),
             API_MEMBER(tags, "tags"), API_MEMBER(versions, "versions"));

namespace {

constexpr size_t key_size = 32;

enum Query : uint8_t { Find, Put, Remove, List, QueryCount };
constexpr std::array<const char*, QueryCount> queries{
    "SELECT record FROM item WHERE kind = ? AND name = ?",
    "INSERT INTO item(kind, name, record) VALUES(?, ?, ?) "
    "ON CONFLICT(kind, name) DO UPDATE SET record = excluded.record",
    "DELETE FROM item WHERE kind = ? AND name = ?",
    "SELECT record FROM item WHERE kind = ?1 AND name > ?2 AND substr(name, 1, length(?3)) = ?3 "
    "ORDER BY name LIMIT ?4"};

base::Result<void> make_tables(sqlite::Database& database) {
  return database.execute(
      "CREATE TABLE item(kind TEXT NOT NULL, name TEXT NOT NULL, record TEXT NOT NULL, "
      "PRIMARY KEY(kind, name)) STRICT, WITHOUT ROWID");
}
constexpr std::array steps{sqlite::UpgradeStep{.from = 0, .run = make_tables},
                           sqlite::UpgradeStep{.from = 1, .run = sqlite::begin_checksums}};

std::string_view name_of(Kind kind) {
  return kind == Kind::Parameter ? "parameter" : "secret";
}

// A sealed value opens in its own place only.
std::string place_of(Kind kind, const std::string& name, int64_t number) {
  return base::format("{}\n{}\n{}", name_of(kind), name, number);
}

base::Result<Item> parse_item(std::string_view record) {
  auto item = api::parse<Item>(record, {.validate = false});
  if (!item) return base::fail(std::string(sqlite::corrupt), item.error().message);
  return std::move(*item);
}

}  // namespace

Vault::Vault(std::unique_ptr<sqlite::Database> database, std::string key,
             std::vector<sqlite::Statement> statements)
    : database_(std::move(database)), key_(std::move(key)), statements_(std::move(statements)) {}

base::Result<Vault> Vault::open(const std::string& path, std::string key) {
  if (key.size() != key_size) {
    return base::fail("InvalidKey",
                      base::format("The key of the secret store has {} bytes; it must have {}.",
                                   key.size(), key_size));
  }
  auto database = TRY(sqlite::Database::open(path, {}));
  TRY_VOID(sqlite::upgrade(*database, steps, sqlite::user_version_place));
  std::vector<sqlite::Statement> statements;
  for (const char* const query : queries) statements.push_back(TRY(database->prepare(query)));
  return Vault(std::move(database), std::move(key), std::move(statements));
}

base::Result<std::optional<Item>> Vault::find(Kind kind, std::string_view name) {
  sqlite::Statement& query = statements_[Find];
  query.bind_text(1, name_of(kind)).bind_text(2, name);
  if (!TRY(query.step())) return std::optional<Item>();
  auto item = parse_item(query.column_text(0));
  query.reset();
  if (!item) return base::fail(std::move(item).error());
  return std::optional<Item>(std::move(*item));
}

base::Result<void> Vault::put(Kind kind, const Item& item) {
  return statements_[Put]
      .bind_text(1, name_of(kind))
      .bind_text(2, item.name)
      .bind_text(3, api::print(item))
      .run();
}

base::Result<void> Vault::remove(Kind kind, std::string_view name) {
  return statements_[Remove].bind_text(1, name_of(kind)).bind_text(2, name).run();
}

base::Result<std::vector<Item>> Vault::list(Kind kind, std::string_view prefix,
                                            std::string_view after, size_t most) {
  sqlite::Statement& query = statements_[List];
  query.bind_text(1, name_of(kind)).bind_text(2, after).bind_text(3, prefix);
  query.bind_int64(4, static_cast<int64_t>(most));
  std::vector<Item> items;
  while (TRY(query.step())) {
    auto item = parse_item(query.column_text(0));
    if (!item) {
      query.reset();
      return base::fail(std::move(item).error());
    }
    items.push_back(std::move(*item));
  }
  return items;
}

base::Result<void> Vault::add_version(Kind kind, Item& item, std::string id, std::string_view value,
                                      base::Time now) {
  const int64_t number = item.versions.empty() ? 1 : item.versions.back().number + 1;
  Version version;
  version.id = id.empty() ? base::format("{}", number) : std::move(id);
  version.number = number;
  version.created_at = now;
  version.sealed.bytes = TRY(crypto::seal(key_, value, place_of(kind, item.name, number)));
  item.versions.push_back(std::move(version));
  return {};
}

base::Result<std::string> Vault::open_value(Kind kind, const Item& item,
                                            const Version& version) const {
  auto value = crypto::open(key_, version.sealed.bytes, place_of(kind, item.name, version.number));
  if (!value) {
    return base::fail(std::string(sqlite::corrupt),
                      base::format("The value of {} does not open with the server's key: was "
                                   "secrets.key replaced?",
                                   item.name));
  }
  return std::move(*value);
}

}  // namespace secrets
