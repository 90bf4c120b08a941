// Where parameters and secrets are kept: one record each, its values sealed with a key that is not
// in the file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/shape.h"
#include "api/types.h"
#include "base/result.h"
#include "base/time.h"
#include "sqlite/database.h"

namespace secrets {

enum class Kind : uint8_t { Parameter, Secret };

struct Version {
  std::string id;                   // A secret's; of a parameter its number.
  int64_t number = 0;               // 1, 2, 3, ...
  std::vector<std::string> stages;  // A secret's: "AWSCURRENT".
  base::Time created_at;
  bool binary = false;
  api::Blob sealed;
};
API_DESCRIBED(Version);

struct Item {
  std::string name;
  std::string arn;
  std::string type;  // A parameter's: "SecureString".
  std::string data_type;
  std::string description;
  std::string key_id;
  base::Time created_at;
  base::Time changed_at;
  std::optional<base::Time> deleted_at;  // A secret that is to be deleted then.
  std::map<std::string, std::string> tags;
  std::vector<Version> versions;  // The oldest first; never empty for a parameter.
};
API_DESCRIBED(Item);

// One thread. Errors of all: those of sqlite/database.h; "Corrupt" for a record that cannot be read
// or a value that does not open with the key.
class Vault {
 public:
  // `path` ":memory:" keeps nothing. `key` has 32 bytes.
  static base::Result<Vault> open(const std::string& path, std::string key);

  base::Result<std::optional<Item>> find(Kind kind, std::string_view name);
  base::Result<void> put(Kind kind, const Item& item);
  base::Result<void> remove(Kind kind, std::string_view name);
  // Those whose names are above `after` and begin with `prefix`, in the order of their names.
  base::Result<std::vector<Item>> list(Kind kind, std::string_view prefix, std::string_view after,
                                       size_t most);

  // The value becomes part of `item` as its newest version, with the next number.
  base::Result<void> add_version(Kind kind, Item& item, std::string id, std::string_view value,
                                 base::Time now);
  base::Result<std::string> open_value(Kind kind, const Item& item, const Version& version) const;

 private:
  Vault(std::unique_ptr<sqlite::Database> database, std::string key,
        std::vector<sqlite::Statement> statements);

  std::unique_ptr<sqlite::Database> database_;  // First, so that it goes last.
  std::string key_;
  std::vector<sqlite::Statement> statements_;
};

}  // namespace secrets
