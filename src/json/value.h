// A JSON document as a value: for bodies whose shape is not described in api/ (the Docker Engine
// API, tests). Described structs are parsed by api/json.h without this tree.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "json/events.h"
#include "json/text.h"

namespace json {

enum class Kind : uint8_t { Null, Boolean, Integer, Double, String, Array, Object };

struct Field;
class Value;
using Array = std::vector<Value>;
using Object = std::vector<Field>;  // In the order of the text.

// Example:
//   const json::Value body = TRY(json::parse(text));
//   bool running = body["State"]["Running"].as_bool().value_or(false);
//   for (const json::Value& name : body["Names"].items()) use(name.text_or(""));
//   json::Value request = json::Value::object({{"Image", "busybox"}, {"Tty", false}});
//   request.set("HostConfig", json::Value::object({{"Memory", int64_t{64} << 20}}));
//   send(json::print(request));
class Value {
 public:
  Value();  // null
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(std::nullptr_t);
  Value(bool value);
  Value(int32_t value);
  Value(uint32_t value);
  Value(int64_t value);
  Value(uint64_t value);  // A double when above the range of int64_t.
  Value(double value);
  Value(const char* text);
  Value(std::string_view text);
  Value(std::string text);
  Value(Array items);
  Value(Object fields);
  static Value array(std::initializer_list<Value> items = {});
  static Value array(std::span<const std::string> texts);
  static Value object(std::initializer_list<Field> fields = {});

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::Null; }
  bool is_array() const { return kind() == Kind::Array; }
  bool is_object() const { return kind() == Kind::Object; }

  // nullopt when the value is of another kind. as_int64 takes a double without fraction too, and
  // as_double takes an integer.
  std::optional<bool> as_bool() const;
  std::optional<int64_t> as_int64() const;
  std::optional<double> as_double() const;
  const std::string* as_string() const;  // nullptr when it is no string.
  // A copy of the string, or `fallback` when it is no string.
  std::string text_or(std::string_view fallback) const;

  // The elements of an array; none for any other kind.
  std::span<const Value> items() const;
  // The fields of an object in their order; none for any other kind.
  std::span<const Field> fields() const;
  // The last field with this name; nullptr without one or when this is no object.
  const Value* find(std::string_view name) const;
  // As find, but a null value instead of nullptr: chains through absent objects.
  const Value& operator[](std::string_view name) const;
  // An element; a null value when there is none.
  const Value& at(size_t index) const;

  // Sets a field, replacing the one of that name. A null value becomes an object first; any other
  // kind is a CHECK failure. Returns *this.
  Value& set(std::string_view name, Value value);
  // Appends an element, likewise for arrays.
  Value& push(Value value);

  // Fields compare in order; an integer is never equal to a double.
  bool operator==(const Value& other) const;

 private:
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object> data_;
};

struct Field {
  std::string name;
  Value value;
  bool operator==(const Field&) const = default;
};

// Errors: as read_events.
base::Result<Value> parse(std::string_view text, const ReadLimits& limits = {});

std::string print(const Value& value);
void print_to(std::string& out, const Value& value);

// Delivers the value as events, as if its text were read. False when `events` stopped it.
bool replay(const Value& value, Events& events);

}  // namespace json
