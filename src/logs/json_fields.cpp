#include "logs/json_fields.h"

#include <utility>

namespace logs {
namespace {

// SQLite's names, sqlite.org/json1.html#jtype; a NULL is an absent field.
JsonField::Kind kind_of(std::string_view type) {
  if (type == "text") return JsonField::Kind::Text;
  if (type == "integer" || type == "real") return JsonField::Kind::Number;
  if (type == "true") return JsonField::Kind::True;
  if (type == "false") return JsonField::Kind::False;
  if (type == "null") return JsonField::Kind::Null;
  return type.empty() ? JsonField::Kind::Missing : JsonField::Kind::Container;
}

}  // namespace

base::Result<JsonFields> JsonFields::prepare(sqlite::Database& database) {
  return JsonFields(
      TRY(database.prepare("SELECT json_type(?1, ?2), json_extract(?1, ?2) WHERE json_valid(?1)")));
}

base::Result<JsonField> JsonFields::read(std::string_view message, const std::string& path) {
  // Most lines are not JSON at all: see that without asking SQLite.
  const size_t start = message.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || (message[start] != '{' && message[start] != '[')) {
    return JsonField{};
  }
  sqlite::Statement& row = statement_.bind_text(1, message).bind_text(2, path);
  if (!TRY(row.step())) return JsonField{};
  JsonField field{.kind = kind_of(row.column_text(0))};
  if (field.kind == JsonField::Kind::Text || field.kind == JsonField::Kind::Number) {
    field.text = row.column_text(1);
  }
  if (field.kind == JsonField::Kind::Number) field.number = row.column_double(1);
  row.reset();
  return field;
}

}  // namespace logs
