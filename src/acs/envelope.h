// The envelope of both streams, {"type":"<name>","message":{...}}, over variants of described
// structs whose names are the types' names.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "api/json.h"
#include "api/shape.h"
#include "base/format.h"
#include "base/result.h"
#include "json/value.h"

namespace acs {

struct Envelope {
  std::string type;
  json::Value message;  // An object.
};

// Reads {"type","message"}, or the bare refusal {"<Name>Exception":"<text>"} as if it were
// enveloped. Errors: SerializationException.
base::Result<Envelope> open_envelope(std::string_view frame);

// The text of one frame; `body` is JSON.
std::string seal(std::string_view type, std::string_view body);

template <class Variant>
std::string_view envelope_type(const Variant& message) {
  return std::visit([](const auto& m) { return api::shape_of<std::decay_t<decltype(m)>>().name; },
                    message);
}

template <class Variant>
std::string print_alternative(const Variant& message) {
  return std::visit([](const auto& m) { return api::print(m); }, message);
}

// Messages of a newer peer are read as far as they are understood.
template <class T>
base::Result<T> parse_body(const Envelope& envelope) {
  base::Result<T> message = api::parse<T>(envelope.message, {.validate = false});
  if (!message) {
    return base::fail(message.error().code,
                      base::format("{}: {}", envelope.type, message.error().message));
  }
  return message;
}

// Errors: "UnknownMessageType", and those of parse_body.
template <class Variant, size_t index = 0>
base::Result<Variant> parse_alternative(const Envelope& envelope) {
  if constexpr (index == std::variant_size_v<Variant>) {
    return base::fail(
        "UnknownMessageType",
        base::format("A message of the unknown type '{}' is ignored.", envelope.type));
  } else {
    using T = std::variant_alternative_t<index, Variant>;
    if (api::shape_of<T>().name != envelope.type) {
      return parse_alternative<Variant, index + 1>(envelope);
    }
    return Variant(TRY(parse_body<T>(envelope)));
  }
}

}  // namespace acs
