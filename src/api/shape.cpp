#include "api/shape.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/result.h"

namespace api {
namespace {

template <class Integer>
Integer load_as(const void* value) {
  Integer number;
  std::memcpy(&number, value, sizeof(number));
  return number;
}

template <class Integer>
bool store_as(void* value, int64_t number) {
  if (!std::in_range<Integer>(number)) return false;
  const auto stored = static_cast<Integer>(number);
  std::memcpy(value, &stored, sizeof(stored));
  return true;
}

using MapEntries = std::vector<std::pair<const std::string*, const void*>>;

MapEntries map_entries(const Shape& shape, const void* map) {
  MapEntries entries;
  entries.reserve(shape.map->size(map));
  shape.map->visit(map, &entries, [](void* context, const std::string& key, const void* value) {
    static_cast<MapEntries*>(context)->emplace_back(&key, value);
  });
  return entries;
}

bool equal_lists(const Shape& shape, const void* left, const void* right) {
  const size_t size = shape.list->size(left);
  if (size != shape.list->size(right)) return false;
  if (shape.list->present(left) != shape.list->present(right)) return false;
  const auto* left_item = static_cast<const std::byte*>(shape.list->data(left));
  const auto* right_item = static_cast<const std::byte*>(shape.list->data(right));
  for (size_t index = 0; index < size; ++index) {
    const size_t offset = index * shape.element->size;
    if (!equal(*shape.element, left_item + offset, right_item + offset)) return false;
  }
  return true;
}

bool equal_maps(const Shape& shape, const void* left, const void* right) {
  if (shape.map->size(left) != shape.map->size(right)) return false;
  if (shape.map->present(left) != shape.map->present(right)) return false;
  const MapEntries left_entries = map_entries(shape, left);
  const MapEntries right_entries = map_entries(shape, right);
  for (size_t index = 0; index < left_entries.size(); ++index) {
    const auto [left_key, left_value] = left_entries[index];
    const auto [right_key, right_value] = right_entries[index];
    if (*left_key != *right_key || !equal(*shape.element, left_value, right_value)) return false;
  }
  return true;
}

bool equal_structures(const Shape& shape, const void* left, const void* right) {
  for (const Member& member : shape.members) {
    const void* left_value = member_value(member, left);
    const void* right_value = member_value(member, right);
    if ((left_value == nullptr) != (right_value == nullptr)) return false;
    if (left_value != nullptr && !equal(*member.shape, left_value, right_value)) return false;
  }
  return true;
}

}  // namespace

const Member* find_member(const Shape& structure, std::string_view name) {
  for (const Member& member : structure.members) {
    if (member.name == name) return &member;
  }
  return nullptr;
}

const void* member_value(const Member& member, const void* structure) {
  const void* field = static_cast<const std::byte*>(structure) + member.offset;
  return member.optional == nullptr ? field : member.optional->get(field);
}

void* make_member_value(const Member& member, void* structure) {
  void* field = static_cast<std::byte*>(structure) + member.offset;
  return member.optional == nullptr ? field : member.optional->emplace(field);
}

bool has_value(const Member& member, const void* structure) {
  const void* value = member_value(member, structure);
  if (value == nullptr || member.optional != nullptr) return value != nullptr;
  if (member.always_printed) return true;
  switch (member.shape->kind) {
    case Kind::String:
    case Kind::Blob:
    case Kind::Document:
      return !member.shape->string->get(value).empty();
    case Kind::List:
      return member.shape->list->present(value);
    case Kind::Map:
      return member.shape->map->present(value);
    case Kind::Timestamp:
      return load_integer(*member.shape, value) != 0;
    default:
      return true;
  }
}

int64_t load_integer(const Shape& shape, const void* value) {
  switch (shape.size) {
    case 1:
      return shape.is_signed ? load_as<int8_t>(value) : load_as<uint8_t>(value);
    case 2:
      return shape.is_signed ? load_as<int16_t>(value) : load_as<uint16_t>(value);
    case 4:
      return shape.is_signed ? int64_t{load_as<int32_t>(value)} : int64_t{load_as<uint32_t>(value)};
    case 8:
      return load_as<int64_t>(value);
    default:
      CHECK(false);
  }
}

bool store_integer(const Shape& shape, void* value, int64_t number) {
  switch (shape.size) {
    case 1:
      return shape.is_signed ? store_as<int8_t>(value, number) : store_as<uint8_t>(value, number);
    case 2:
      return shape.is_signed ? store_as<int16_t>(value, number) : store_as<uint16_t>(value, number);
    case 4:
      return shape.is_signed ? store_as<int32_t>(value, number) : store_as<uint32_t>(value, number);
    case 8:
      return shape.is_signed ? store_as<int64_t>(value, number) : store_as<uint64_t>(value, number);
    default:
      CHECK(false);
  }
}

std::string_view enum_name(const Shape& enumeration, int64_t value) {
  const auto names = enumeration.names;
  if (value >= 0 && static_cast<size_t>(value) < names.size() &&
      names[static_cast<size_t>(value)].value == value) {
    return names[static_cast<size_t>(value)].name;
  }
  for (const EnumName& name : names) {
    if (name.value == value) return name.name;
  }
  return {};
}

std::optional<int64_t> enum_value(const Shape& enumeration, std::string_view name) {
  for (const EnumName& each : enumeration.names) {
    if (each.name == name) return each.value;
  }
  return std::nullopt;
}

bool equal(const Shape& shape, const void* left, const void* right) {
  switch (shape.kind) {
    case Kind::Boolean:
      return *static_cast<const bool*>(left) == *static_cast<const bool*>(right);
    case Kind::Integer:
    case Kind::Long:
    case Kind::Enum:
    case Kind::Timestamp:
      return load_integer(shape, left) == load_integer(shape, right);
    case Kind::Double:
      return *static_cast<const double*>(left) == *static_cast<const double*>(right);
    case Kind::String:
    case Kind::Blob:
    case Kind::Document:
      return shape.string->get(left) == shape.string->get(right);
    case Kind::List:
      return equal_lists(shape, left, right);
    case Kind::Map:
      return equal_maps(shape, left, right);
    case Kind::Structure:
      return equal_structures(shape, left, right);
  }
  return false;
}

}  // namespace api
