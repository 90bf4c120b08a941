#include "json/value.h"

#include <cmath>
#include <limits>

namespace json {
namespace {

const Value null_value;

// Builds a Value from events: the stack holds the open arrays and objects from outside to inside.
class Builder final : public Events {
 public:
  bool object_begin() override { return open(Value::object()); }
  bool key(std::string_view name) override {
    stack_.back().key = name;
    return true;
  }
  bool object_end() override { return close(); }
  bool array_begin() override { return open(Value::array()); }
  bool array_end() override { return close(); }
  bool string(std::string_view text) override { return add(Value(text)); }
  bool integer(int64_t value) override { return add(Value(value)); }
  bool large_integer(uint64_t value) override { return add(Value(value)); }
  bool number(double value) override { return add(Value(value)); }
  bool boolean(bool value) override { return add(Value(value)); }
  bool null() override { return add(Value()); }

  Value take() { return std::move(root_); }

 private:
  struct Level {
    Array items;
    Object fields;
    bool is_object = false;
    std::string key;
  };

  bool open(Value empty) {
    Level level;
    level.is_object = empty.is_object();
    stack_.push_back(std::move(level));
    return true;
  }

  bool close() {
    Level level = std::move(stack_.back());
    stack_.pop_back();
    return add(level.is_object ? Value(std::move(level.fields)) : Value(std::move(level.items)));
  }

  bool add(Value value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (stack_.back().is_object) {
      stack_.back().fields.push_back({std::move(stack_.back().key), std::move(value)});
    } else {
      stack_.back().items.push_back(std::move(value));
    }
    return true;
  }

  std::vector<Level> stack_;
  Value root_;
};

}  // namespace

// Out of line because Field is complete only behind the class.
Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;
Value::Value(std::nullptr_t) {}
Value::Value(bool value) : data_(value) {}
Value::Value(int32_t value) : data_(int64_t{value}) {}
Value::Value(uint32_t value) : data_(int64_t{value}) {}
Value::Value(int64_t value) : data_(value) {}
Value::Value(double value) : data_(value) {}
Value::Value(const char* text) : data_(std::string(text)) {}
Value::Value(std::string_view text) : data_(std::string(text)) {}
Value::Value(std::string text) : data_(std::move(text)) {}

Value::Value(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    data_ = static_cast<int64_t>(value);
  } else {
    data_ = static_cast<double>(value);
  }
}

Value::Value(Array items) : data_(std::move(items)) {}
Value::Value(Object fields) : data_(std::move(fields)) {}
Value Value::array(std::initializer_list<Value> items) {
  return Value(Array(items));
}
Value Value::object(std::initializer_list<Field> fields) {
  return Value(Object(fields));
}

Value Value::array(std::span<const std::string> texts) {
  Array items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.emplace_back(text);
  return Value(std::move(items));
}

std::optional<bool> Value::as_bool() const {
  const bool* value = std::get_if<bool>(&data_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<int64_t> Value::as_int64() const {
  if (const int64_t* value = std::get_if<int64_t>(&data_)) return *value;
  const double* value = std::get_if<double>(&data_);
  // Both bounds are exact doubles: -2^63 and 2^63.
  if (value == nullptr || *value != std::trunc(*value) || *value < -9223372036854775808.0 ||
      *value >= 9223372036854775808.0) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*value);
}

std::optional<double> Value::as_double() const {
  if (const double* value = std::get_if<double>(&data_)) return *value;
  const int64_t* value = std::get_if<int64_t>(&data_);
  return value == nullptr ? std::nullopt : std::optional(static_cast<double>(*value));
}

const std::string* Value::as_string() const {
  return std::get_if<std::string>(&data_);
}

std::string Value::text_or(std::string_view fallback) const {
  const std::string* text = as_string();
  return text == nullptr ? std::string(fallback) : *text;
}

std::span<const Value> Value::items() const {
  const Array* items = std::get_if<Array>(&data_);
  return items == nullptr ? std::span<const Value>() : std::span<const Value>(*items);
}

std::span<const Field> Value::fields() const {
  const Object* fields = std::get_if<Object>(&data_);
  return fields == nullptr ? std::span<const Field>() : std::span<const Field>(*fields);
}

const Value* Value::find(std::string_view name) const {
  const std::span<const Field> all = fields();
  for (size_t index = all.size(); index > 0; --index) {
    if (all[index - 1].name == name) return &all[index - 1].value;
  }
  return nullptr;
}

const Value& Value::operator[](std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? null_value : *value;
}

const Value& Value::at(size_t index) const {
  const std::span<const Value> all = items();
  return index < all.size() ? all[index] : null_value;
}

Value& Value::set(std::string_view name, Value value) {
  if (is_null()) data_ = Object();
  Object* fields = std::get_if<Object>(&data_);
  CHECK(fields != nullptr);
  for (Field& field : *fields) {
    if (field.name == name) {
      field.value = std::move(value);
      return *this;
    }
  }
  fields->push_back({std::string(name), std::move(value)});
  return *this;
}

Value& Value::push(Value value) {
  if (is_null()) data_ = Array();
  Array* items = std::get_if<Array>(&data_);
  CHECK(items != nullptr);
  items->push_back(std::move(value));
  return *this;
}

bool Value::operator==(const Value& other) const = default;

base::Result<Value> parse(std::string_view text, const ReadLimits& limits) {
  Builder builder;
  TRY(read_events(text, builder, limits));
  return builder.take();
}

std::string print(const Value& value) {
  std::string out;
  print_to(out, value);
  return out;
}

void print_to(std::string& out, const Value& value) {
  Printer printer(out);
  replay(value, printer);
}

bool replay(const Value& value, Events& events) {
  switch (value.kind()) {
    case Kind::Null:
      return events.null();
    case Kind::Boolean:
      return events.boolean(*value.as_bool());
    case Kind::Integer:
      return events.integer(*value.as_int64());
    case Kind::Double:
      return events.number(*value.as_double());
    case Kind::String:
      return events.string(*value.as_string());
    case Kind::Array:
      if (!events.array_begin()) return false;
      for (const Value& item : value.items()) {
        if (!replay(item, events)) return false;
      }
      return events.array_end();
    case Kind::Object:
      if (!events.object_begin()) return false;
      for (const Field& field : value.fields()) {
        if (!events.key(field.name) || !replay(field.value, events)) return false;
      }
      return events.object_end();
  }
  return true;
}

}  // namespace json
