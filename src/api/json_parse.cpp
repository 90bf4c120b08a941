#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "api/base64.h"
#include "api/check.h"
#include "api/json.h"
#include "base/format.h"
#include "base/time.h"
#include "json/events.h"

namespace api {
namespace {

// Puts the events of one JSON document into the value of a shape as they come.
// A value that cannot be read stops it; the first that is not allowed is remembered.
class JsonReader final : public json::Events {
 public:
  JsonReader(const Shape& shape, void* out, const ParseOptions& options)
      : root_shape_(shape), root_(out), options_(options) {
    frames_.reserve(16);
  }

  base::Result<void> result(const base::Result<bool>& read) {
    if (!read) {
      return base::fail(std::string(options_.serialization_code), read.error().message);
    }
    if (!error_.empty()) return base::fail(std::string(options_.serialization_code), error_);
    if (!violation_.empty()) return base::fail(std::string(options_.validation_code), violation_);
    return {};
  }

  bool object_begin() override {
    if (starts_aside([](json::Printer& p) { p.object_begin(); }, 1)) return true;
    const Shape& shape = *expected();
    if (shape.kind != Kind::Structure && shape.kind != Kind::Map) {
      return mismatch(shape, "an object");
    }
    const Range* const range = expected_range();
    void* const value = place();
    if (shape.kind == Kind::Map) shape.map->start(value);
    frames_.push_back({.shape = &shape, .value = value, .range = range});
    return true;
  }

  bool key(std::string_view name) override {
    if (goes_aside([&](json::Printer& p) { p.key(name); }, 0)) return true;
    Frame& frame = frames_.back();
    if (frame.shape->kind == Kind::Map) {
      frame.key = name;
    } else {
      find_member_of(frame, name);
      if (frame.member == nullptr && options_.refuse_unknown) {
        violate(base::format("The member {} is not known.", join(path(), name)));
      }
    }
    return true;
  }

  bool object_end() override {
    if (goes_aside([](json::Printer& p) { p.object_end(); }, -1)) return true;
    frames_.back().member = nullptr;
    if (options_.validate && frames_.back().shape->kind == Kind::Structure) check_members();
    return container_end();
  }

  bool array_begin() override {
    if (starts_aside([](json::Printer& p) { p.array_begin(); }, 1)) return true;
    const Shape& shape = *expected();
    if (shape.kind != Kind::List) return mismatch(shape, "a list");
    const Range* const range = expected_range();
    void* const value = place();
    shape.list->start(value);
    frames_.push_back({.shape = &shape, .value = value, .range = range});
    return true;
  }

  bool array_end() override {
    if (goes_aside([](json::Printer& p) { p.array_end(); }, -1)) return true;
    return container_end();
  }

  bool string(std::string_view text) override {
    if (starts_aside([&](json::Printer& p) { p.string(text); }, 0)) return true;
    const Shape& shape = *expected();
    const Range* const range = expected_range();
    switch (shape.kind) {
      case Kind::String: {
        void* const value = place();
        shape.string->set(value, text);
        return finish(shape, range, value);
      }
      case Kind::Enum:
        return enumerator(shape, text);
      case Kind::Blob: {
        const std::optional<std::string> bytes = decode_base64(text);
        if (!bytes) return mismatch(shape, "the string " + quoted(text));
        void* const value = place();
        shape.string->set(value, *bytes);
        return finish(shape, range, value);
      }
      case Kind::Timestamp: {
        const std::optional<base::Time> time = base::parse_rfc3339(text);
        if (!time) return mismatch(shape, "the string " + quoted(text));
        return put_integer(shape, range, time->time_since_epoch().count());
      }
      case Kind::Double:
        if (const std::optional<double> value = special_double(text)) {
          return put_double(shape, range, *value);
        }
        [[fallthrough]];
      default:
        return mismatch(shape, "the string " + quoted(text));
    }
  }

  bool integer(int64_t number) override {
    if (starts_aside([&](json::Printer& p) { p.integer(number); }, 0)) return true;
    const Shape& shape = *expected();
    switch (shape.kind) {
      case Kind::Integer:
      case Kind::Long:
        return put_integer(shape, expected_range(), number);
      case Kind::Double:
        return put_double(shape, expected_range(), static_cast<double>(number));
      case Kind::Timestamp:
        return put_timestamp(shape, static_cast<double>(number));
      default:
        return mismatch(shape, base::format("the number {}", number));
    }
  }

  bool large_integer(uint64_t number) override {
    if (starts_aside([&](json::Printer& p) { p.large_integer(number); }, 0)) return true;
    const Shape& shape = *expected();
    if (shape.kind == Kind::Long && !shape.is_signed) {
      void* const value = place();
      std::memcpy(value, &number, sizeof(number));
      const Range* const range = expected_range();
      if (options_.validate && range != nullptr && range->max != Range().max) {
        violate(base::format("The member {} must be at most {}, but {} was given.", path(),
                             range->max, number));
      }
      finish_value();
      return true;
    }
    if (shape.kind == Kind::Double) {
      return put_double(shape, expected_range(), static_cast<double>(number));
    }
    return mismatch(shape, base::format("the number {}", number));
  }

  bool number(double number) override {
    if (starts_aside([&](json::Printer& p) { p.number(number); }, 0)) return true;
    const Shape& shape = *expected();
    switch (shape.kind) {
      case Kind::Double:
        return put_double(shape, expected_range(), number);
      case Kind::Timestamp:
        return put_timestamp(shape, number);
      case Kind::Integer:
      case Kind::Long:
        // Both bounds are exact doubles: -2^63 and 2^63.
        if (number == std::trunc(number) && number >= -9223372036854775808.0 &&
            number < 9223372036854775808.0) {
          return put_integer(shape, expected_range(), static_cast<int64_t>(number));
        }
        [[fallthrough]];
      default:
        return mismatch(shape, base::format("the number {}", number));
    }
  }

  bool boolean(bool boolean) override {
    if (starts_aside([&](json::Printer& p) { p.boolean(boolean); }, 0)) return true;
    const Shape& shape = *expected();
    if (shape.kind != Kind::Boolean) return mismatch(shape, boolean ? "true" : "false");
    *static_cast<bool*>(place()) = boolean;
    finish_value();
    return true;
  }

  bool null() override {
    if (aside_depth_ > 0) return goes_aside([](json::Printer& p) { p.null(); }, 0);
    if (expected() == nullptr) return true;
    // In a structure null says that the member is absent; an element cannot be absent.
    if (!frames_.empty() && frames_.back().shape->kind == Kind::Structure) return true;
    return mismatch(*expected(), "null");
  }

 private:
  static constexpr size_t words = 2;  // Of 64 members each: see api::members().

  struct Frame {
    const Shape* shape;
    void* value;
    const Range* range = nullptr;
    const Member* member = nullptr;  // Structure: whose value comes next; nullptr: to be ignored.
    size_t next_member = 0;          // Structure: where the search for the next one starts.
    size_t index = 0;                // List: of the element that comes next.
    std::array<uint64_t, words> seen = {};  // Structure: the members that have a value.
    std::string key = {};                   // Map: of the value that comes next.
  };

  // The shape of the value that comes next; nullptr when it is to be ignored.
  const Shape* expected() const {
    if (frames_.empty()) return &root_shape_;
    const Frame& frame = frames_.back();
    if (frame.shape->kind != Kind::Structure) return frame.shape->element;
    return frame.member == nullptr ? nullptr : frame.member->shape;
  }

  const Range* expected_range() const {
    const bool is_member = !frames_.empty() && frames_.back().member != nullptr;
    return is_member ? frames_.back().member->range : nullptr;
  }

  std::string_view expected_hint() const {
    const bool is_member = !frames_.empty() && frames_.back().member != nullptr;
    return is_member ? frames_.back().member->hint : std::string_view();
  }

  // Where the value that comes next belongs.
  void* place() {
    if (frames_.empty()) return root_;
    Frame& frame = frames_.back();
    switch (frame.shape->kind) {
      case Kind::List:
        return frame.shape->list->append(frame.value);
      case Kind::Map:
        return frame.shape->map->insert(frame.value, frame.key);
      default: {
        const auto position = static_cast<size_t>(frame.member - frame.shape->members.data());
        frame.seen[position / 64] |= uint64_t{1} << (position % 64);
        return make_member_value(*frame.member, frame.value);
      }
    }
  }

  // Members mostly come in the order of the table: the search goes on from the last one.
  static void find_member_of(Frame& frame, std::string_view name) {
    const std::span<const Member> members = frame.shape->members;
    frame.member = nullptr;
    for (size_t step = 0; step < members.size(); ++step) {
      size_t position = frame.next_member + step;
      if (position >= members.size()) position -= members.size();
      if (members[position].name == name) {
        frame.member = &members[position];
        frame.next_member = position + 1;
        return;
      }
    }
  }

  // True when a value that starts now is ignored or becomes part of a document. `change` is 1 when
  // it opens an object or a list.
  template <class Print>
  bool starts_aside(Print print, int change) {
    if (goes_aside(print, change)) return true;
    const Shape* shape = expected();
    if (shape == nullptr) {
      aside_depth_ = static_cast<uint32_t>(change);
      return true;
    }
    if (shape->kind != Kind::Document) return false;
    document_.clear();
    printer_.emplace(document_);
    print(*printer_);
    aside_depth_ = static_cast<uint32_t>(change);
    if (aside_depth_ == 0) finish_document();
    return true;
  }

  // True when the event is within such a value. `change` is -1 when it closes an object or a list.
  template <class Print>
  bool goes_aside(Print print, int change) {
    if (aside_depth_ == 0) [[likely]]
      return false;
    if (printer_) print(*printer_);
    aside_depth_ = static_cast<uint32_t>(static_cast<int>(aside_depth_) + change);
    if (aside_depth_ == 0 && printer_) finish_document();
    return true;
  }

  void finish_document() {
    const Shape& shape = *expected();
    shape.string->set(place(), document_);
    printer_.reset();
    finish_value();
  }

  bool put_integer(const Shape& shape, const Range* range, int64_t number) {
    // A number that the type cannot hold is found before the field is touched.
    int64_t probe = 0;
    if (!store_integer(shape, &probe, number)) {
      return mismatch(shape, base::format("the number {}", number));
    }
    void* const value = place();
    store_integer(shape, value, number);
    return finish(shape, range, value);
  }

  bool put_double(const Shape& shape, const Range* range, double number) {
    void* const value = place();
    *static_cast<double*>(value) = number;
    return finish(shape, range, value);
  }

  bool put_timestamp(const Shape& shape, double seconds) {
    const std::optional<int64_t> milliseconds = timestamp_milliseconds(seconds);
    if (!milliseconds) return mismatch(shape, base::format("the number {}", seconds));
    return put_integer(shape, nullptr, *milliseconds);
  }

  bool enumerator(const Shape& shape, std::string_view text) {
    const std::optional<int64_t> value = enum_value(shape, text);
    if (value) {
      store_integer(shape, place(), *value);
    } else if (options_.validate) {
      violate(base::format("The member {} must be {}, but {} was given.", path(),
                           expectation(shape), quoted(text)),
              expected_hint());
      // What is there but wrong is not missing as well.
      if (frames_.back().shape->kind == Kind::Structure) place();
    }
    finish_value();
    return true;
  }

  bool finish(const Shape& shape, const Range* range, const void* value) {
    if (range != nullptr) check_range(*range, shape, value);
    finish_value();
    return true;
  }

  void finish_value() {
    if (!frames_.empty()) ++frames_.back().index;
  }

  bool container_end() {
    const Frame frame = std::move(frames_.back());
    frames_.pop_back();
    return finish(*frame.shape, frame.range, frame.value);
  }

  void check_range(const Range& range, const Shape& shape, const void* value) {
    if (!options_.validate || !violation_.empty()) return;
    const auto violation = range_violation(range, shape, value, path());
    if (violation) violate(*violation, expected_hint());
  }

  void check_members() {
    const Frame& frame = frames_.back();
    const std::span<const Member> members = frame.shape->members;
    size_t given = 0;
    for (size_t position = 0; position < members.size(); ++position) {
      const bool seen = (frame.seen[position / 64] >> (position % 64) & 1U) != 0;
      if (seen) ++given;
      if (!seen && members[position].required) {
        violate(base::format("The member {} is required, but it is missing.",
                             join(path(), members[position].name)),
                members[position].hint);
      }
    }
    if (!frame.shape->is_union || given == 1) return;
    std::string names;
    for (const Member& member : members) {
      if (!names.empty()) names += ", ";
      names += member.name;
    }
    violate(base::format("The member {} must have exactly one of its members ({}), but it has {}.",
                         path(), names, given));
  }

  void violate(std::string sentence, std::string_view hint = {}) {
    if (!violation_.empty()) return;
    violation_ = std::move(sentence);
    if (!hint.empty()) violation_.append(" ").append(hint);
  }

  bool mismatch(const Shape& shape, std::string_view given) {
    const std::string where = path();
    error_ = where.empty() ? base::format("The JSON document must be {}, but {} was given.",
                                          expectation(shape), given)
                           : base::format("The member {} must be {}, but {} was given.", where,
                                          expectation(shape), given);
    return false;
  }

  static std::string join(std::string path, std::string_view name) {
    if (!path.empty()) path += '.';
    return path.append(name);
  }

  // "containerDefinitions[0].memory": the value that comes next, or the open container.
  std::string path() const {
    std::string text;
    for (size_t level = 0; level < frames_.size(); ++level) {
      const Frame& frame = frames_[level];
      switch (frame.shape->kind) {
        case Kind::List:
          text += base::format("[{}]", frame.index);
          break;
        case Kind::Map:
          text = join(std::move(text), frame.key);
          break;
        default:
          if (frame.member != nullptr) text = join(std::move(text), frame.member->name);
      }
    }
    return text;
  }

  const Shape& root_shape_;
  void* root_;
  const ParseOptions& options_;
  std::vector<Frame> frames_;
  uint32_t aside_depth_ = 0;  // Open objects and lists of a value that is ignored or a document.
  std::string document_;
  std::optional<json::Printer> printer_;  // Writes document_ while inside of one.
  std::string error_;
  std::string violation_;
};

}  // namespace

base::Result<void> parse_into(std::string_view text, const Shape& shape, void* out,
                              const ParseOptions& options) {
  JsonReader reader(shape, out, options);
  return reader.result(json::read_events(text, reader, {.max_depth = options.max_depth}));
}

base::Result<void> parse_value_into(const json::Value& document, const Shape& shape, void* out,
                                    const ParseOptions& options) {
  JsonReader reader(shape, out, options);
  return reader.result(json::replay(document, reader));
}

}  // namespace api
