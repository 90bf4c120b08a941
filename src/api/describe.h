// How a struct gets its shape. In the header, right behind the type:
//
//   enum class Health { Unknown, Healthy };
//   API_DESCRIBED(Health);
//   struct Heartbeat {
//     std::string message_id;
//     std::optional<bool> healthy;
//     std::vector<Probe> probes;  // Probe is described, too.
//     std::map<std::string, std::string> labels;
//     int64_t sequence = 0;
//     base::Time sent_at;
//     Health health = Health::Unknown;
//     friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
//   };
//   API_DESCRIBED(Heartbeat);
//
// and in one .cpp, which alone includes this header, in the same namespace:
//
//   API_DESCRIBE_ENUM(Health, {Health::Unknown, "UNKNOWN"}, {Health::Healthy, "HEALTHY"});
//   API_DESCRIBE(Heartbeat,
//                API_REQUIRED(message_id, "messageId"),
//                API_MEMBER(healthy, "healthy"),
//                API_MEMBER(probes, "probes"),
//                API_MEMBER(labels, "labels"),
//                API_RANGED(sequence, "sequence", (::api::Range{.min = 0})),
//                API_MEMBER(sent_at, "sentAt"),
//                API_MEMBER(health, "health"));
//
// then api::print(heartbeat) and api::parse<Heartbeat>(text) work (api/json.h).
//
// A field is one of: bool; int8_t to uint64_t; double; std::string; base::Id<Tag>; base::Time;
// base::Milliseconds (a number); api::Blob; api::Document; a described struct or enum;
// std::vector, api::List, std::map<std::string, T>, api::Map of these; or std::optional of these.
// A struct may hold itself within a list or map, or as an api::Box.
//
// API_REQUIRED makes parse() refuse text without the member, API_RANGED what is outside of the
// range (see Range); API_REQUIRED_RANGED is both. A member that is absent or null stays as it was.
//
// Printing leaves out an optional without a value and an absent api::List or api::Map; and, unless
// required, a plain string, Id, blob, document, vector or map that is empty and a plain base::Time
// of 1970-01-01: give such fields no other default, or an empty one would come back as that
// default. Every other plain field is always printed.
//
// An enum whose enumerators count from 0 in the order of its names is the fastest, any other works.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "api/shape.h"
#include "api/types.h"
#include "base/id.h"
#include "base/time.h"

namespace api {

template <class T>
inline constexpr Shape scalar_shape = [] {
  static_assert(std::is_arithmetic_v<T>, "this type is not described: see api/describe.h");
  // NOLINTNEXTLINE(bugprone-branch-clone): the branches of another T look the same to it.
  if constexpr (std::is_same_v<T, bool>) {
    return Shape{.kind = Kind::Boolean, .size = sizeof(T), .name = "boolean"};
  } else if constexpr (std::is_integral_v<T>) {
    return Shape{.kind = sizeof(T) > 4 ? Kind::Long : Kind::Integer,
                 .is_signed = std::is_signed_v<T>,
                 .size = sizeof(T),
                 .name = sizeof(T) > 4 ? "long" : "integer"};
  } else {
    static_assert(std::is_same_v<T, double>);
    return Shape{.kind = Kind::Double, .size = sizeof(T), .name = "double"};
  }
}();

template <class T>
  requires std::is_arithmetic_v<T>
struct ShapeOf<T> {
  static constexpr const Shape* value = &scalar_shape<T>;
};

inline constexpr Shape time_shape{
    .kind = Kind::Timestamp, .is_signed = true, .size = sizeof(base::Time), .name = "timestamp"};
template <>
struct ShapeOf<base::Time> {
  static constexpr const Shape* value = &time_shape;
};

inline constexpr Shape milliseconds_shape{
    .kind = Kind::Long, .is_signed = true, .size = sizeof(base::Milliseconds), .name = "long"};
template <>
struct ShapeOf<base::Milliseconds> {
  static constexpr const Shape* value = &milliseconds_shape;
};
static_assert(sizeof(base::Time) == 8 && sizeof(base::Milliseconds) == 8);

inline constexpr StringAccess string_access{
    .get = [](const void* value) -> std::string_view {
      return *static_cast<const std::string*>(value);
    },
    .set = [](void* value,
              std::string_view text) { static_cast<std::string*>(value)->assign(text); },
};
inline constexpr Shape string_shape{
    .kind = Kind::String, .size = sizeof(std::string), .name = "string", .string = &string_access};
template <>
struct ShapeOf<std::string> {
  static constexpr const Shape* value = &string_shape;
};

// A Blob and a Document are a std::string at their first byte.
inline constexpr Shape blob_shape{
    .kind = Kind::Blob, .size = sizeof(Blob), .name = "blob", .string = &string_access};
template <>
struct ShapeOf<Blob> {
  static constexpr const Shape* value = &blob_shape;
};
inline constexpr Shape document_shape{
    .kind = Kind::Document, .size = sizeof(Document), .name = "document", .string = &string_access};
template <>
struct ShapeOf<Document> {
  static constexpr const Shape* value = &document_shape;
};

template <class Id>
inline constexpr StringAccess id_access{
    .get = [](const void* value) -> std::string_view {
      return static_cast<const Id*>(value)->str();
    },
    .set = [](void* value, std::string_view text) { *static_cast<Id*>(value) = Id(text); },
};
template <class Id>
inline constexpr Shape id_shape{
    .kind = Kind::String, .size = sizeof(Id), .name = "string", .string = &id_access<Id>};
template <class Tag, class Order>
struct ShapeOf<base::Id<Tag, Order>> {
  static constexpr const Shape* value = &id_shape<base::Id<Tag, Order>>;
};

// For std::vector and std::map as for api::List and api::Map.
template <class Container>
bool is_present(const Container& container) {
  if constexpr (requires { container.present(); }) return container.present();
  return !container.empty();
}
template <class Container>
void start_container(void* container) {
  static_cast<Container*>(container)->clear();
  if constexpr (requires(Container& c) { c.set_present(); }) {
    static_cast<Container*>(container)->set_present();
  }
}

template <class L>
inline constexpr ListAccess list_access{
    .data = [](const void* list) -> const void* { return static_cast<const L*>(list)->data(); },
    .size = [](const void* list) { return static_cast<const L*>(list)->size(); },
    .present = [](const void* list) { return is_present(*static_cast<const L*>(list)); },
    .start = &start_container<L>,
    .append = [](void* list) -> void* { return &static_cast<L*>(list)->emplace_back(); },
};
template <class L>
inline constexpr Shape list_shape{.kind = Kind::List,
                                  .size = sizeof(L),
                                  .name = "list",
                                  .element = ShapeOf<typename L::value_type>::value,
                                  .list = &list_access<L>};
template <class T>
struct ShapeOf<std::vector<T>> {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addressable elements");
  static constexpr const Shape* value = &list_shape<std::vector<T>>;
};
template <class T>
struct ShapeOf<List<T>> {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addressable elements");
  static constexpr const Shape* value = &list_shape<List<T>>;
};

template <class M>
inline constexpr MapAccess map_access{
    .size = [](const void* map) { return static_cast<const M*>(map)->size(); },
    .present = [](const void* map) { return is_present(*static_cast<const M*>(map)); },
    .start = &start_container<M>,
    .insert = [](void* map, std::string_view key) -> void* {
      return &(*static_cast<M*>(map))[std::string(key)];
    },
    .visit =
        [](const void* map, void* context,
           void (*see)(void* context, const std::string& key, const void* value)) {
          for (const auto& [key, value] : *static_cast<const M*>(map)) see(context, key, &value);
        },
};
template <class M>
inline constexpr Shape map_shape{.kind = Kind::Map,
                                 .size = sizeof(M),
                                 .name = "map",
                                 .element = ShapeOf<typename M::mapped_type>::value,
                                 .map = &map_access<M>};
template <class T>
struct ShapeOf<std::map<std::string, T>> {
  static constexpr const Shape* value = &map_shape<std::map<std::string, T>>;
};
template <class T>
struct ShapeOf<Map<T>> {
  static constexpr const Shape* value = &map_shape<Map<T>>;
};

// For std::optional as for api::Box.
template <class Optional>
inline constexpr OptionalAccess optional_access{
    .get = [](const void* field) -> const void* {
      const auto* optional = static_cast<const Optional*>(field);
      return optional->has_value() ? &**optional : nullptr;
    },
    .emplace = [](void* field) -> void* { return &static_cast<Optional*>(field)->emplace(); },
};

template <class Field>
struct FieldAccess {
  static constexpr const Shape* shape = ShapeOf<Field>::value;
  static constexpr const OptionalAccess* optional = nullptr;
};
template <class T>
struct FieldAccess<std::optional<T>> {
  static constexpr const Shape* shape = ShapeOf<T>::value;
  static constexpr const OptionalAccess* optional = &optional_access<std::optional<T>>;
};
template <class T>
struct FieldAccess<Box<T>> {
  static constexpr const Shape* shape = ShapeOf<T>::value;
  static constexpr const OptionalAccess* optional = &optional_access<Box<T>>;
};

inline constexpr Range any_value{};
template <Range range>
inline constexpr Range stored_range = range;

template <class Field, Range range = any_value>
consteval Member member(std::string_view key, size_t offset, bool required) {
  return {.name = key.substr(1, key.size() - 3),
          .key = key,
          .shape = FieldAccess<Field>::shape,
          .optional = FieldAccess<Field>::optional,
          .range = range.min == any_value.min && range.max == any_value.max ? nullptr
                                                                            : &stored_range<range>,
          .offset = static_cast<uint32_t>(offset),
          .required = required,
          .always_printed = required && FieldAccess<Field>::optional == nullptr &&
                            !requires(const Field& field){field.present();
}
};  // namespace api
}

// `member` with a sentence that follows what is said about a value that is not allowed.
consteval Member hinted(Member member, std::string_view hint) {
  member.hint = hint;
  return member;
}

// `member` with the names that EC2 gives it besides; empty: the same.
consteval Member ec2_named(Member member, std::string_view form_name, std::string_view xml_name,
                           std::string_view xml_item_name = {}) {
  member.form_name = form_name;
  member.xml_name = xml_name;
  member.xml_item_name = xml_item_name;
  return member;
}

template <class... Members>
consteval std::array<Member, sizeof...(Members)> members(Members... all) {
  static_assert(sizeof...(Members) <= 128, "the reader of api/json_parse.cpp counts to 128");
  return {all...};
}

template <class T>
consteval Shape structure(std::string_view name, std::span<const Member> members, bool is_union) {
  return {.kind = Kind::Structure,
          .is_union = is_union,
          .size = sizeof(T),
          .name = name,
          .members = members,
          .create = []() -> void* { return std::make_unique<T>().release(); },
          .destroy = [](void* value) { std::unique_ptr<T>(static_cast<T*>(value)).reset(); }};
}

template <class E>
consteval Shape enumeration(std::string_view name, std::span<const EnumName> names) {
  return {.kind = Kind::Enum,
          .is_signed = std::is_signed_v<std::underlying_type_t<E>>,
          .size = sizeof(E),
          .name = name,
          .names = names};
}

template <class E>
struct TypedEnumName {
  E value;
  std::string_view name;
};
template <class E, size_t count>
consteval std::array<EnumName, count> enum_names(const TypedEnumName<E> (&names)[count]) {
  std::array<EnumName, count> untyped{};
  for (size_t index = 0; index < count; ++index) {
    untyped[index] = {static_cast<int64_t>(names[index].value), names[index].name};
  }
  return untyped;
}

}  // namespace api

// Offsets are taken of structs that are not of standard layout, which clang and gcc define.
#define API_FIELD(field, wire_name, is_required) \
  ::api::member<decltype(Self::field)>("\"" wire_name "\":", offsetof(Self, field), is_required)
#define API_MEMBER(field, wire_name) API_FIELD(field, wire_name, false)
#define API_REQUIRED(field, wire_name) API_FIELD(field, wire_name, true)
#define API_RANGED_FIELD(field, wire_name, range, is_required)                             \
  ::api::member<decltype(Self::field), range>("\"" wire_name "\":", offsetof(Self, field), \
                                              is_required)
#define API_RANGED(field, wire_name, range) API_RANGED_FIELD(field, wire_name, range, false)
#define API_REQUIRED_RANGED(field, wire_name, range) API_RANGED_FIELD(field, wire_name, range, true)

#define API_DESCRIBE_AS(Type, is_union, ...)                                      \
  _Pragma("clang diagnostic push")                                                \
      _Pragma("clang diagnostic ignored \"-Winvalid-offsetof\"") namespace {      \
    struct api_members_##Type {                                                   \
      using Self = Type;                                                          \
      static constexpr auto value = ::api::members(__VA_ARGS__);                  \
    };                                                                            \
  }                                                                               \
  _Pragma("clang diagnostic pop") constinit const ::api::Shape api_shape_##Type = \
      ::api::structure<Type>(#Type, api_members_##Type::value, is_union)
#define API_DESCRIBE(Type, ...) API_DESCRIBE_AS(Type, false, __VA_ARGS__)
// Exactly one member has a value, as in Smithy's unions.
#define API_DESCRIBE_UNION(Type, ...) API_DESCRIBE_AS(Type, true, __VA_ARGS__)

#define API_DESCRIBE_ENUM(Type, ...)                                        \
  namespace {                                                               \
  constexpr auto api_names_##Type = ::api::enum_names<Type>({__VA_ARGS__}); \
  }                                                                         \
  constinit const ::api::Shape api_shape_##Type = ::api::enumeration<Type>(#Type, api_names_##Type)
