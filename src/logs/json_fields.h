// Reads single fields of JSON messages, with SQLite's own JSON functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "logs/filter_pattern.h"
#include "sqlite/database.h"

namespace logs {

// Must not outlive the database.
class JsonFields {
 public:
  static base::Result<JsonFields> prepare(sqlite::Database& database);

  // `path` as in ReadField. Errors: sqlite's.
  base::Result<JsonField> read(std::string_view message, const std::string& path);

 private:
  explicit JsonFields(sqlite::Statement statement) : statement_(std::move(statement)) {}

  sqlite::Statement statement_;
};

}  // namespace logs
