#include "json/events.h"

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>

#include "base/format.h"
#include "json/text.h"

namespace json {
namespace {

using boost::json::error_code;
using boost::json::string_view;

std::string_view view(string_view text) {
  return {text.data(), text.size()};
}

// The handler that boost::json::basic_parser calls: joins the parts of a text and passes on.
class Adapter {
 public:
  static constexpr size_t max_object_size = ~size_t{0};
  static constexpr size_t max_array_size = ~size_t{0};
  static constexpr size_t max_key_size = ~size_t{0};
  static constexpr size_t max_string_size = ~size_t{0};

  explicit Adapter(Events& events) : events_(events) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& error) { return pass(events_.object_begin(), error); }
  bool on_object_end(size_t, error_code& error) { return pass(events_.object_end(), error); }
  bool on_array_begin(error_code& error) { return pass(events_.array_begin(), error); }
  bool on_array_end(size_t, error_code& error) { return pass(events_.array_end(), error); }
  bool on_key_part(string_view part, size_t, error_code&) { return add_part(part); }
  bool on_key(string_view last, size_t, error_code& error) {
    return pass(events_.key(joined(last)), error);
  }
  bool on_string_part(string_view part, size_t, error_code&) { return add_part(part); }
  bool on_string(string_view last, size_t, error_code& error) {
    return pass(events_.string(joined(last)), error);
  }
  bool on_number_part(string_view part, error_code&) { return add_part(part); }
  bool on_int64(int64_t value, string_view, error_code& error) {
    parts_.clear();
    return pass(events_.integer(value), error);
  }
  bool on_uint64(uint64_t value, string_view, error_code& error) {
    parts_.clear();
    return pass(events_.large_integer(value), error);
  }
  bool on_double(double rough, string_view last, error_code& error) {
    // The parser's own conversion may be off by a unit in the last place.
    const std::string_view text = joined(last);
    double exact = rough;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), exact);
    return pass(events_.number(read.ec == std::errc() ? exact : rough), error);
  }
  bool on_bool(bool value, error_code& error) { return pass(events_.boolean(value), error); }
  bool on_null(error_code& error) { return pass(events_.null(), error); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

  bool stopped() const { return stopped_; }

 private:
  bool pass(bool go_on, error_code& error) {
    parts_.clear();
    if (go_on) [[likely]]
      return true;
    stopped_ = true;
    error = boost::json::error::syntax;  // The parser asks for some error when a handler stops it.
    return false;
  }
  bool add_part(string_view part) {
    parts_ += view(part);
    return true;
  }
  std::string_view joined(string_view last) {
    if (parts_.empty()) [[likely]]
      return view(last);
    parts_ += view(last);
    return parts_;
  }

  Events& events_;
  std::string parts_;
  bool stopped_ = false;
};

}  // namespace

base::Result<bool> read_events(std::string_view text, Events& events, const ReadLimits& limits) {
  boost::json::parse_options options;
  options.max_depth = limits.max_depth;
  boost::json::basic_parser<Adapter> parser(options, events);
  error_code error;
  const size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (parser.handler().stopped()) return false;
  if (error == boost::json::error::too_deep) {
    return base::fail("SerializationException",
                      base::format("The JSON text is nested deeper than {} levels at byte {}.",
                                   limits.max_depth, read));
  }
  if (error) {
    return base::fail("SerializationException",
                      base::format("The text is not valid JSON at byte {} of {}: {}.", read,
                                   text.size(), error.message()));
  }
  if (read < text.size()) {
    return base::fail(
        "SerializationException",
        base::format("The JSON document ends at byte {}, but more text follows.", read));
  }
  return true;
}

void Printer::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

bool Printer::object_begin() {
  separate();
  out_ += '{';
  first_ = true;
  return true;
}

bool Printer::key(std::string_view name) {
  separate();
  append_string(out_, name);
  out_ += ':';
  first_ = true;  // The value follows without a comma.
  return true;
}

bool Printer::object_end() {
  out_ += '}';
  first_ = false;
  return true;
}

bool Printer::array_begin() {
  separate();
  out_ += '[';
  first_ = true;
  return true;
}

bool Printer::array_end() {
  out_ += ']';
  first_ = false;
  return true;
}

bool Printer::string(std::string_view text) {
  separate();
  append_string(out_, text);
  return true;
}

bool Printer::integer(int64_t value) {
  separate();
  append_integer(out_, value);
  return true;
}

bool Printer::large_integer(uint64_t value) {
  separate();
  append_integer(out_, value);
  return true;
}

bool Printer::number(double value) {
  separate();
  append_double(out_, value);
  return true;
}

bool Printer::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return true;
}

bool Printer::null() {
  separate();
  out_ += "null";
  return true;
}

}  // namespace json
