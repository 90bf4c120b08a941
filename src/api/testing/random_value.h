// Random values of any described shape, for property tests.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "api/shape.h"
#include "base/random.h"

namespace api::testing {

inline std::string random_text(base::Random& random, uint64_t length) {
  // Every length of UTF-8 sequence, and what JSON and XML escape.
  constexpr std::array<std::string_view, 16> characters = {
      "a", "B", "7", "-", "/", " ", "\"", "\\", "\n", "\x01", "<", "&", "é", "你", "😀", "\x7F"};
  std::string text;
  for (uint64_t index = 0; index < length; ++index) {
    text += characters[random.below(characters.size())];
  }
  return text;
}

inline int64_t random_integer(const Shape& shape, const Range& range, base::Random& random) {
  const uint32_t bits = std::min(shape.size * 8 - (shape.is_signed ? 1 : 0), 63U);
  auto number = static_cast<int64_t>(random.next() >> (64 - bits) >> random.below(bits));
  if (shape.is_signed && random.chance(50)) number = -number - 1;
  return std::clamp(number, range.min, range.max);
}

inline double random_double(const Range& range, base::Random& random) {
  const double number = static_cast<double>(static_cast<int64_t>(random.next())) /
                        static_cast<double>(1 + random.below(1'000'000'007));
  if (range.min == Range().min && range.max == Range().max) return number;
  return std::clamp(number, static_cast<double>(range.min), static_cast<double>(range.max));
}

inline uint64_t random_length(const Range& range, base::Random& random, uint64_t most) {
  const auto min = static_cast<uint64_t>(std::max<int64_t>(range.min, 0));
  const auto max = static_cast<uint64_t>(std::max<int64_t>(range.max, 0));
  return std::min(max, min + random.below(most));
}

inline void fill_random(const Shape& shape, const Range& range, void* value, base::Random& random,
                        int depth);

inline void fill_structure(const Shape& shape, void* value, base::Random& random, int depth) {
  const uint64_t chosen = shape.members.empty() ? 0 : random.below(shape.members.size());
  for (size_t index = 0; index < shape.members.size(); ++index) {
    const Member& member = shape.members[index];
    const bool wanted =
        member.required || (depth > 0 && random.chance(60)) || member.optional == nullptr;
    if (shape.is_union ? index != chosen : !wanted) continue;
    const bool container = member.shape->kind == Kind::List || member.shape->kind == Kind::Map;
    if (container && !member.required && !shape.is_union && random.chance(30)) continue;
    fill_random(*member.shape, member.range == nullptr ? Range() : *member.range,
                make_member_value(member, value), random, depth - 1);
  }
}

inline void fill_scalar(const Shape& shape, const Range& range, void* value, base::Random& random) {
  switch (shape.kind) {
    case Kind::Boolean:
      *static_cast<bool*>(value) = random.chance(50);
      return;
    case Kind::Double:
      *static_cast<double*>(value) = random_double(range, random);
      return;
    case Kind::Enum:
      store_integer(shape, value, shape.names[random.below(shape.names.size())].value);
      return;
    case Kind::Timestamp:
      store_integer(shape, value, static_cast<int64_t>(random.below(4'000'000'000'000)) - 100'000);
      return;
    case Kind::Document:
      shape.string->set(value, R"({"a":[1,-2.5,"x\n",true,null,{}],"b":"é"})");
      return;
    case Kind::Blob: {
      std::string bytes;
      for (uint64_t size = random_length(range, random, 9); bytes.size() < size;) {
        bytes += static_cast<char>(random.below(256));
      }
      shape.string->set(value, bytes);
      return;
    }
    case Kind::String:
      shape.string->set(value, random_text(random, random_length(range, random, 12)));
      return;
    default:
      store_integer(shape, value, random_integer(shape, range, random));
  }
}

// Fills the default value at `value`; what it makes is valid: required members are there, ranges
// are kept, unions have one member. Below `depth` only required members are filled.
inline void fill_random(const Shape& shape, const Range& range, void* value, base::Random& random,
                        int depth) {
  switch (shape.kind) {
    case Kind::Structure:
      return fill_structure(shape, value, random, depth);
    case Kind::List: {
      shape.list->start(value);
      const uint64_t size = random_length(range, random, depth > 0 ? 3 : 1);
      for (uint64_t index = 0; index < size; ++index) {
        fill_random(*shape.element, Range(), shape.list->append(value), random, depth - 1);
      }
      return;
    }
    case Kind::Map: {
      shape.map->start(value);
      const uint64_t size = random_length(range, random, depth > 0 ? 3 : 1);
      for (uint64_t index = 0; index < size; ++index) {
        const std::string key = random_text(random, 4) + std::to_string(index);
        fill_random(*shape.element, Range(), shape.map->insert(value, key), random, depth - 1);
      }
      return;
    }
    default:
      return fill_scalar(shape, range, value, random);
  }
}

}  // namespace api::testing
