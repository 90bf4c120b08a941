// JSON as a stream of events: the fast way to read it, without a tree in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace json {

// Receives one JSON document in its order of text. Texts are unescaped UTF-8 and live only during
// the call. A false return stops the reading at once.
class Events {
 public:
  virtual ~Events() = default;
  virtual bool object_begin() = 0;
  virtual bool key(std::string_view name) = 0;
  virtual bool object_end() = 0;
  virtual bool array_begin() = 0;
  virtual bool array_end() = 0;
  virtual bool string(std::string_view text) = 0;
  virtual bool integer(int64_t value) = 0;
  // Only for integers above the range of int64_t.
  virtual bool large_integer(uint64_t value) = 0;
  // A number with a fraction or an exponent, or an integer beyond 64 bits.
  virtual bool number(double value) = 0;
  virtual bool boolean(bool value) = 0;
  virtual bool null() = 0;
};

struct ReadLimits {
  uint32_t max_depth = 64;  // Of arrays and objects within each other.
};

// Reads the one document in `text`. True: read to its end. False: `events` stopped it.
// Errors: SerializationException with the byte where `text` stops being strict JSON (RFC 8259) in
// valid UTF-8, or where it is nested deeper than the limit; events seen until then were delivered.
base::Result<bool> read_events(std::string_view text, Events& events,
                               const ReadLimits& limits = {});

// Writes the events it receives as compact JSON text.
class Printer final : public Events {
 public:
  explicit Printer(std::string& out) : out_(out) {}  // `out` outlives the Printer.
  bool object_begin() override;
  bool key(std::string_view name) override;
  bool object_end() override;
  bool array_begin() override;
  bool array_end() override;
  bool string(std::string_view text) override;
  bool integer(int64_t value) override;
  bool large_integer(uint64_t value) override;
  bool number(double value) override;
  bool boolean(bool value) override;
  bool null() override;

 private:
  void separate();

  std::string& out_;
  bool first_ = true;  // Nothing stands before the next key or element in its object or array.
};

}  // namespace json
