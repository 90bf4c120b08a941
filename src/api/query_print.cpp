#include "api/base64.h"
#include "api/query.h"
#include "base/time.h"
#include "json/text.h"

namespace api {
namespace {

// Characters that XML 1.0 cannot hold at all become U+FFFD.
void append_text(std::string& out, std::string_view text) {
  for (size_t index = 0; index < text.size();) {
    const size_t length = json::utf8_sequence_length(text.substr(index));
    const std::string_view character = text.substr(index, length);
    index += length == 0 ? 1 : length;
    if (character == "&") {
      out += "&amp;";
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "\"") {
      out += "&quot;";
    } else if (character == "\r") {
      out += "&#xD;";
    } else if (length == 0 || (length == 1 && static_cast<unsigned char>(character[0]) < 0x20 &&
                               character != "\t" && character != "\n")) {
      out += "\xEF\xBF\xBD";
    } else {
      out += character;
    }
  }
}

void open(std::string& out, std::string_view name) {
  out.append("<").append(name).append(">");
}
void close(std::string& out, std::string_view name) {
  out.append("</").append(name).append(">");
}

void append_element(std::string& out, std::string_view name, std::string_view text) {
  open(out, name);
  append_text(out, text);
  close(out, name);
}

// What a member and the elements of a list are called.
struct Names {
  bool ec2 = false;
  std::string_view of(const Member& member) const {
    return ec2 && !member.xml_name.empty() ? member.xml_name : member.name;
  }
  std::string_view of_items(const Member& member) const {
    if (!ec2) return "member";
    return member.xml_item_name.empty() ? "item" : member.xml_item_name;
  }
};

// `item_name`: of the elements, where the value is a list.
void append_value(std::string& out, const Names& names, const Shape& shape, const void* value,
                  std::string_view item_name);

void append_members(std::string& out, const Names& names, const Shape& shape,
                    const void* structure) {
  for (const Member& member : shape.members) {
    if (!has_value(member, structure)) continue;
    open(out, names.of(member));
    append_value(out, names, *member.shape, member_value(member, structure),
                 names.of_items(member));
    close(out, names.of(member));
  }
}

void append_list(std::string& out, const Names& names, const Shape& shape, const void* list,
                 std::string_view item_name) {
  const auto* item = static_cast<const std::byte*>(shape.list->data(list));
  const size_t size = shape.list->size(list);
  for (size_t index = 0; index < size; ++index) {
    open(out, item_name);
    append_value(out, names, *shape.element, item + index * shape.element->size, item_name);
    close(out, item_name);
  }
}

void append_map(std::string& out, const Names& names, const Shape& shape, const void* map) {
  struct Context {
    std::string& out;
    const Names& names;
    const Shape& element;
  } context{out, names, *shape.element};
  shape.map->visit(map, &context, [](void* opaque, const std::string& key, const void* value) {
    Context& target = *static_cast<Context*>(opaque);
    open(target.out, "entry");
    append_element(target.out, "key", key);
    open(target.out, "value");
    append_value(target.out, target.names, target.element, value, "member");
    close(target.out, "value");
    close(target.out, "entry");
  });
}

void append_double(std::string& out, double value) {
  std::string text;
  json::append_double(text, value);
  std::erase(text, '"');  // Those that are no numbers are strings in JSON.
  out += text;
}

void append_value(std::string& out, const Names& names, const Shape& shape, const void* value,
                  std::string_view item_name) {
  switch (shape.kind) {
    case Kind::Structure:
      return append_members(out, names, shape, value);
    case Kind::List:
      return append_list(out, names, shape, value, item_name);
    case Kind::Map:
      return append_map(out, names, shape, value);
    case Kind::String:
    case Kind::Document:
      return append_text(out, shape.string->get(value));
    case Kind::Blob:
      return append_base64(out, shape.string->get(value));
    case Kind::Enum:
      return append_text(out, enum_name(shape, load_integer(shape, value)));
    case Kind::Boolean:
      out += *static_cast<const bool*>(value) ? "true" : "false";
      return;
    case Kind::Double:
      return append_double(out, *static_cast<const double*>(value));
    case Kind::Timestamp:
      out += base::format_rfc3339(base::Time(base::Milliseconds(load_integer(shape, value))));
      return;
    case Kind::Integer:
    case Kind::Long:
      // Of the numbers only these are the same in JSON and XML.
      return print_to(out, shape, value);
  }
}

void open_root(std::string& out, const Service& service, std::string_view name) {
  out.append("<").append(name).append(" xmlns=\"");
  append_text(out, service.xml_namespace);
  out += "\">";
}

// Source: EC2 API reference, "Making requests"; "requestId" and "RequestID" are its own spellings.
std::string ec2_response(const Service& service, std::string_view response, const Shape& shape,
                         const void* output, std::string_view request_id) {
  std::string out;
  open_root(out, service, response);
  append_element(out, "requestId", request_id);
  append_value(out, {.ec2 = true}, shape, output, {});
  close(out, response);
  return out;
}

std::string ec2_error(const base::Error& error, std::string_view request_id) {
  std::string out = "<Response><Errors><Error>";
  append_element(out, "Code", error.code);
  append_element(out, "Message", error.message);
  out += "</Error></Errors>";
  append_element(out, "RequestID", request_id);
  return out + "</Response>";
}

}  // namespace

std::string print_query_response(const Service& service, std::string_view action,
                                 const Shape& shape, const void* output,
                                 std::string_view request_id) {
  const std::string response = std::string(action) + "Response";
  if (service.protocol == Protocol::Ec2Query) {
    return ec2_response(service, response, shape, output, request_id);
  }
  const std::string result = std::string(action) + "Result";
  std::string out;
  open_root(out, service, response);
  open(out, result);
  append_value(out, {.ec2 = false}, shape, output, {});
  close(out, result);
  open(out, "ResponseMetadata");
  append_element(out, "RequestId", request_id);
  close(out, "ResponseMetadata");
  close(out, response);
  return out;
}

std::string print_query_error(const Service& service, const base::Error& error,
                              std::string_view request_id) {
  if (service.protocol == Protocol::Ec2Query) return ec2_error(error, request_id);
  const ErrorType* const type = find_error(service, error.code);
  const bool server_fault =
      type != nullptr ? type->server_fault
                      : error.code == "InternalFailure" || error.code == "ServiceUnavailable";
  std::string out;
  open_root(out, service, "ErrorResponse");
  open(out, "Error");
  append_element(out, "Type", server_fault ? "Receiver" : "Sender");
  append_element(out, "Code", type == nullptr ? std::string_view(error.code) : type->query_code);
  append_element(out, "Message", error.message);
  close(out, "Error");
  append_element(out, "RequestId", request_id);
  close(out, "ErrorResponse");
  return out;
}

}  // namespace api
