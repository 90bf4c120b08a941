// Shapes: what a C++ type looks like on the wire, as data. One walker per format (api/json.h,
// api/query.h) reads and prints every described type through these tables. api/describe.h makes
// them; the tables of the AWS services are generated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace api {

enum class Kind : uint8_t {
  Boolean,
  Integer,  // An integer type of at most 32 bits.
  Long,     // An integer type of 64 bits, or base::Milliseconds.
  Double,
  String,  // std::string or base::Id.
  Enum,
  Timestamp,  // base::Time.
  Blob,       // api::Blob: bytes, base64 on the wire.
  Document,   // api::Document: any JSON.
  List,
  Map,  // From text to values.
  Structure,
};

struct Shape;

// Allowed values of a number; allowed lengths of a string (in characters), list or map.
struct Range {
  int64_t min = INT64_MIN;
  int64_t max = INT64_MAX;
};

// Access to a field that may be without a value (std::optional).
struct OptionalAccess {
  const void* (*get)(const void* field);  // nullptr when it has no value.
  void* (*emplace)(void* field);          // A fresh default value.
};

struct Member {
  std::string_view name;  // On the wire: "containerDefinitions".
  std::string_view key;   // As it starts in JSON text: "\"containerDefinitions\":".
  const Shape* shape = nullptr;
  const OptionalAccess* optional = nullptr;  // nullptr: the field is the value itself.
  const Range* range = nullptr;              // nullptr: every value is allowed.
  uint32_t offset = 0;
  bool required = false;
  bool always_printed = false;  // A required plain field: also when it is empty.
  std::string_view hint = {};   // A sentence for whoever gives a value that is not allowed.
  // EC2 gives a member more names: in the form of a request, in the XML of a reply, and there of a
  // list's elements. Empty: `name`, and "item".
  std::string_view form_name = {};
  std::string_view xml_name = {};
  std::string_view xml_item_name = {};
};

struct StringAccess {
  std::string_view (*get)(const void* value);
  void (*set)(void* value, std::string_view text);
};

struct ListAccess {
  const void* (*data)(const void* list);  // The elements stand element->size bytes apart.
  size_t (*size)(const void* list);
  bool (*present)(const void* list);
  void (*start)(void* list);  // Makes it present and empty.
  void* (*append)(void* list);
};

struct MapAccess {
  size_t (*size)(const void* map);
  bool (*present)(const void* map);
  void (*start)(void* map);
  void* (*insert)(void* map, std::string_view key);  // The value of that key.
  void (*visit)(const void* map, void* context,
                void (*see)(void* context, const std::string& key, const void* value));
};

struct EnumName {
  int64_t value;
  std::string_view name;
};

struct Shape {
  Kind kind;
  bool is_signed = false;                  // Integer, Long, Enum.
  bool is_union = false;                   // Structure: exactly one member has a value.
  uint32_t size = 0;                       // sizeof the C++ type.
  std::string_view name;                   // "RunTaskRequest"; of other kinds the kind's name.
  const Shape* element = nullptr;          // List, Map.
  const StringAccess* string = nullptr;    // String, Blob, Document.
  const ListAccess* list = nullptr;        // List.
  const MapAccess* map = nullptr;          // Map.
  std::span<const EnumName> names = {};    // Enum.
  std::span<const Member> members = {};    // Structure.
  void* (*create)() = nullptr;             // Structure: a new default value, for destroy.
  void (*destroy)(void* value) = nullptr;  // Structure.
};

// Announces, in the namespace of `Type` and right behind it, that its shape is described in some
// .cpp by one of the macros of api/describe.h. `Type` is a struct or an enum class by its plain
// name.
#define API_DESCRIBED(Type)                                                  \
  extern const ::api::Shape api_shape_##Type;                                \
  [[maybe_unused]] constexpr const ::api::Shape* api_shape_of(const Type*) { \
    return &api_shape_##Type;                                                \
  }                                                                          \
  static_assert(true)

template <class T>
struct ShapeOf {
  static constexpr const Shape* value = api_shape_of(static_cast<const T*>(nullptr));
};

// The shape of a described struct or enum, or, with api/describe.h, of any type that a field of
// one may have.
template <class T>
const Shape& shape_of() {
  return *ShapeOf<T>::value;
}

// nullptr without a member of that wire name.
const Member* find_member(const Shape& structure, std::string_view name);

// Whether a field has something to print: an optional its value, a list or map its presence, a
// plain text or time anything but its empty value unless required; other plain fields always.
bool has_value(const Member& member, const void* structure);
// The address of the member's value within `structure`; nullptr for an optional without one.
const void* member_value(const Member& member, const void* structure);
// The address to write the member's value to; an optional gets a fresh one.
void* make_member_value(const Member& member, void* structure);

// The integer behind a value of kind Integer, Long, Enum or Timestamp. An unsigned 64-bit integer
// keeps its bits.
int64_t load_integer(const Shape& shape, const void* value);
// False, and nothing stored, when the C++ type cannot hold it.
bool store_integer(const Shape& shape, void* value, int64_t number);

// The wire name; empty for a number that is no enumerator.
std::string_view enum_name(const Shape& enumeration, int64_t value);
std::optional<int64_t> enum_value(const Shape& enumeration, std::string_view name);

// The name of an enumerator on the wire: api::to_string(LaunchType::Ec2) == "EC2".
template <class E>
  requires std::is_enum_v<E>
std::string_view to_string(E value) {
  return enum_name(shape_of<E>(), static_cast<int64_t>(value));
}

// The enumerator with this wire name: api::parse_enum<LaunchType>("EC2").
template <class E>
  requires std::is_enum_v<E>
std::optional<E> parse_enum(std::string_view name) {
  const std::optional<int64_t> value = enum_value(shape_of<E>(), name);
  return value ? std::optional(static_cast<E>(*value)) : std::nullopt;
}

// Whether two values of `shape` are the same: presence and content of every field.
bool equal(const Shape& shape, const void* left, const void* right);

}  // namespace api
