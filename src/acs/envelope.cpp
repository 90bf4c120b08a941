#include "acs/envelope.h"

namespace acs {
namespace {

// Error names end in one of these; other members of a frame without `type` mean nothing.
bool names_an_error(std::string_view name) {
  return name.ends_with("Exception") || name == "ErrorMessage";
}

}  // namespace

base::Result<Envelope> open_envelope(std::string_view frame) {
  json::Value document = TRY(json::parse(frame));
  if (const std::string* type = document["type"].as_string()) {
    const json::Value& message = document["message"];
    if (!message.is_object() && !message.is_null()) {
      return base::fail("SerializationException",
                        base::format("The member 'message' of a {} is not an object.", *type));
    }
    return Envelope{*type, message.is_null() ? json::Value::object() : message};
  }
  for (const json::Field& field : document.fields()) {
    if (names_an_error(field.name)) {
      return Envelope{field.name, json::Value::object({{"message", field.value.text_or("")}})};
    }
  }
  return base::fail("SerializationException",
                    "The frame is no message: an object with a text member 'type' is needed.");
}

std::string seal(std::string_view type, std::string_view body) {
  std::string frame = "{\"type\":";
  json::append_string(frame, type);
  frame += ",\"message\":";
  frame += body;
  frame += "}";
  return frame;
}

}  // namespace acs
