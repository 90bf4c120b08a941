#include <cstring>

#include "api/base64.h"
#include "api/json.h"
#include "json/text.h"

namespace api {
namespace {

// "1700000000.25": seconds with the milliseconds as decimals, without trailing zeros.
void append_timestamp(std::string& out, int64_t milliseconds) {
  if (milliseconds < 0) out += '-';
  const uint64_t size = milliseconds < 0 ? 0 - static_cast<uint64_t>(milliseconds)
                                         : static_cast<uint64_t>(milliseconds);
  json::append_integer(out, size / 1000);
  uint64_t fraction = size % 1000;
  if (fraction == 0) return;
  out += '.';
  for (uint64_t digit = 100; fraction > 0; digit /= 10) {
    out += static_cast<char>('0' + fraction / digit);
    fraction %= digit;
  }
}

void append_integer(std::string& out, const Shape& shape, const void* value) {
  const int64_t number = load_integer(shape, value);
  if (shape.is_signed || shape.size < sizeof(number)) {
    json::append_integer(out, number);
  } else {
    json::append_integer(out, static_cast<uint64_t>(number));
  }
}

void append_json_list(std::string& out, const Shape& shape, const void* list) {
  out += '[';
  const size_t size = shape.list->size(list);
  const auto* item = static_cast<const std::byte*>(shape.list->data(list));
  for (size_t index = 0; index < size; ++index) {
    if (index > 0) out += ',';
    print_to(out, *shape.element, item + index * shape.element->size);
  }
  out += ']';
}

void append_json_map(std::string& out, const Shape& shape, const void* map) {
  struct Context {
    std::string& out;
    const Shape& element;
    bool first = true;
  } context{out, *shape.element};
  out += '{';
  shape.map->visit(map, &context, [](void* opaque, const std::string& key, const void* value) {
    Context& target = *static_cast<Context*>(opaque);
    if (!target.first) target.out += ',';
    target.first = false;
    json::append_string(target.out, key);
    target.out += ':';
    print_to(target.out, target.element, value);
  });
  out += '}';
}

void append_structure(std::string& out, const Shape& shape, const void* structure) {
  out += '{';
  bool first = true;
  for (const Member& member : shape.members) {
    if (!has_value(member, structure)) continue;
    if (!first) out += ',';
    first = false;
    out += member.key;
    print_to(out, *member.shape, member_value(member, structure));
  }
  out += '}';
}

}  // namespace

void print_to(std::string& out, const Shape& shape, const void* value) {
  switch (shape.kind) {
    case Kind::Boolean:
      out += *static_cast<const bool*>(value) ? "true" : "false";
      return;
    case Kind::Integer:
    case Kind::Long:
      return append_integer(out, shape, value);
    case Kind::Double:
      return json::append_double(out, *static_cast<const double*>(value));
    case Kind::String:
      return json::append_string(out, shape.string->get(value));
    case Kind::Enum:
      return json::append_string(out, enum_name(shape, load_integer(shape, value)));
    case Kind::Timestamp:
      return append_timestamp(out, load_integer(shape, value));
    case Kind::Blob:
      out += '"';
      append_base64(out, shape.string->get(value));
      out += '"';
      return;
    case Kind::Document: {
      const std::string_view json = shape.string->get(value);
      out += json.empty() ? "null" : json;
      return;
    }
    case Kind::List:
      return append_json_list(out, shape, value);
    case Kind::Map:
      return append_json_map(out, shape, value);
    case Kind::Structure:
      return append_structure(out, shape, value);
  }
}

}  // namespace api
