#include <algorithm>
#include <map>
#include <memory>

#include "api/base64.h"
#include "api/check.h"
#include "api/query.h"
#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "json/text.h"

namespace api {
namespace {

// More than any shape has; a bound for what a name like "a.a.a.a" can cost.
constexpr size_t max_depth = 32;

// The parameters as a tree: "Tags.member.1.Key" is four steps down.
struct Node {
  std::optional<std::string> text;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;

  const Node* child(std::string_view name) const {
    const auto found = children.find(name);
    return found == children.end() ? nullptr : found->second.get();
  }
};

base::Result<std::string> decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t index = 0; index < text.size(); ++index) {
    if (text[index] == '+') {
      out += ' ';
    } else if (text[index] != '%') {
      out += text[index];
    } else {
      const int high = index + 2 < text.size() ? base::hex_value(text[index + 1]) : -1;
      const int low = index + 2 < text.size() ? base::hex_value(text[index + 2]) : -1;
      if (high < 0 || low < 0) {
        return base::fail("MalformedQueryString",
                          "A % in the form body is not followed by two hexadecimal digits.");
      }
      out += static_cast<char>(high * 16 + low);
      index += 2;
    }
  }
  for (size_t index = 0; index < out.size();) {
    const size_t length = json::utf8_sequence_length(std::string_view(out).substr(index));
    if (length == 0) {
      return base::fail("MalformedQueryString", "The form body is not UTF-8 text.");
    }
    index += length;
  }
  return out;
}

void insert(Node& root, std::string_view name, const std::string& value) {
  if (static_cast<size_t>(std::ranges::count(name, '.')) >= max_depth) return;
  Node* node = &root;
  for (;;) {
    const size_t dot = name.find('.');
    std::unique_ptr<Node>& next = node->children[std::string(name.substr(0, dot))];
    if (next == nullptr) next = std::make_unique<Node>();
    node = next.get();
    if (dot == std::string_view::npos) break;
    name.remove_prefix(dot + 1);
  }
  node->text = value;
}

// The children whose names are numbers, by number.
std::vector<const Node*> numbered(const Node& node) {
  std::vector<std::pair<uint64_t, const Node*>> found;
  for (const auto& [name, child] : node.children) {
    if (const auto number = base::parse_number<uint64_t>(name)) {
      found.emplace_back(*number, child.get());
    }
  }
  std::ranges::sort(found, {}, &std::pair<uint64_t, const Node*>::first);
  std::vector<const Node*> nodes;
  nodes.reserve(found.size());
  for (const auto& [number, child] : found) nodes.push_back(child);
  return nodes;
}

class QueryReader {
 public:
  QueryReader(const ParseOptions& options, Protocol protocol)
      : options_(options), protocol_(protocol) {}

  base::Result<void> read_structure(const Node& node, const Shape& shape, void* out,
                                    const std::string& path) {
    for (const Member& member : shape.members) {
      const std::string_view name = name_of(member);
      const std::string member_path =
          path.empty() ? std::string(name) : base::format("{}.{}", path, name);
      const Node* const child = node.child(name);
      if (child == nullptr) {
        if (member.required) {
          violate(base::format("The member {} is required, but it is missing.", member_path));
        }
        continue;
      }
      // Without validation an unknown enumerator is left out, as in JSON.
      if (!options_.validate && member.shape->kind == Kind::Enum &&
          !enum_value(*member.shape, child->text.value_or(""))) {
        continue;
      }
      void* const value = make_member_value(member, out);
      TRY_VOID(read(*child, *member.shape, value, member_path));
      if (member.range == nullptr) continue;
      const auto violation = range_violation(*member.range, *member.shape, value, member_path);
      if (violation) violate(*violation);
    }
    return {};
  }

  const std::string& violation() const { return violation_; }

 private:
  std::string_view name_of(const Member& member) const {
    const bool other = protocol_ == Protocol::Ec2Query && !member.form_name.empty();
    return other ? member.form_name : member.name;
  }

  base::Result<void> read(const Node& node, const Shape& shape, void* value,
                          const std::string& path) {
    switch (shape.kind) {
      case Kind::Structure:
        return read_structure(node, shape, value, path);
      case Kind::List:
        return read_list(node, shape, value, path);
      case Kind::Map:
        return read_map(node, shape, value, path);
      default:
        if (!node.text) {
          return base::fail(std::string(options_.serialization_code),
                            base::format("The member {} must be {}, but a structure was given.",
                                         path, expectation(shape)));
        }
        return read_text(*node.text, shape, value, path);
    }
  }

  // "Names.member.1=a", or without the "member", as in EC2; "Names=" is empty.
  base::Result<void> read_list(const Node& node, const Shape& shape, void* list,
                               const std::string& path) {
    shape.list->start(list);
    const Node* const members = node.child("member");
    size_t index = 0;
    for (const Node* item : numbered(members == nullptr ? node : *members)) {
      TRY_VOID(read(*item, *shape.element, shape.list->append(list),
                    base::format("{}[{}]", path, index++)));
    }
    return {};
  }

  // "Labels.entry.1.key=a&Labels.entry.1.value=b".
  base::Result<void> read_map(const Node& node, const Shape& shape, void* map,
                              const std::string& path) {
    shape.map->start(map);
    const Node* const entries = node.child("entry");
    for (const Node* entry : numbered(entries == nullptr ? node : *entries)) {
      const Node* const key = entry->child("key");
      const Node* const value = entry->child("value");
      if (key == nullptr || !key->text || value == nullptr) {
        return base::fail(std::string(options_.serialization_code),
                          base::format("Every entry of {} must have a key and a value.", path));
      }
      TRY_VOID(read(*value, *shape.element, shape.map->insert(map, *key->text),
                    base::format("{}.{}", path, *key->text)));
    }
    return {};
  }

  base::Result<void> read_text(const std::string& text, const Shape& shape, void* value,
                               const std::string& path) {
    switch (shape.kind) {
      case Kind::String:
        shape.string->set(value, text);
        return {};
      case Kind::Document: {
        std::string json;
        json::append_string(json, text);
        shape.string->set(value, json);
        return {};
      }
      case Kind::Enum:
        read_enum(text, shape, value, path);
        return {};
      case Kind::Boolean:
        if (text != "true" && text != "false") break;
        *static_cast<bool*>(value) = text == "true";
        return {};
      default:
        if (read_number(text, shape, value)) return {};
    }
    return base::fail(std::string(options_.serialization_code),
                      base::format("The member {} must be {}, but {} was given.", path,
                                   expectation(shape), quoted(text)));
  }

  static bool read_number(const std::string& text, const Shape& shape, void* value) {
    if (shape.kind == Kind::Blob) {
      const auto bytes = decode_base64(text);
      if (bytes) shape.string->set(value, *bytes);
      return bytes.has_value();
    }
    if (shape.kind == Kind::Double) {
      auto number = special_double(text);
      if (!number) number = base::parse_number<double>(text);
      if (number) *static_cast<double*>(value) = *number;
      return number.has_value();
    }
    if (shape.kind != Kind::Timestamp) {
      const auto number = base::parse_number<int64_t>(text);
      return number && store_integer(shape, value, *number);
    }
    if (const auto time = base::parse_rfc3339(text)) {
      return store_integer(shape, value, time->time_since_epoch().count());
    }
    const auto seconds = base::parse_number<double>(text);
    const auto milliseconds = seconds ? timestamp_milliseconds(*seconds) : std::nullopt;
    return milliseconds && store_integer(shape, value, *milliseconds);
  }

  void read_enum(const std::string& text, const Shape& shape, void* value,
                 const std::string& path) {
    const auto number = enum_value(shape, text);
    if (number) {
      store_integer(shape, value, *number);
    } else {
      violate(base::format("The member {} must be {}, but {} was given.", path, expectation(shape),
                           quoted(text)));
    }
  }

  void violate(std::string sentence) {
    if (options_.validate && violation_.empty()) violation_ = std::move(sentence);
  }

  const ParseOptions& options_;
  const Protocol protocol_;
  std::string violation_;
};

}  // namespace

base::Result<QueryRequest> parse_query(std::string_view body) {
  QueryRequest request;
  while (!body.empty()) {
    const size_t end = std::min(body.find('&'), body.size());
    const std::string_view pair = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    std::string name = TRY(decode(pair.substr(0, equals)));
    std::string value =
        equals == std::string_view::npos ? std::string() : TRY(decode(pair.substr(equals + 1)));
    if (name == "Action" && request.action.empty()) {
      request.action = std::move(value);
    } else if (name == "Version" && request.version.empty()) {
      request.version = std::move(value);
    } else {
      request.parameters.emplace_back(std::move(name), std::move(value));
    }
  }
  return request;
}

std::string_view query_of(std::string_view target) {
  const size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
}

std::string query_parameter(std::string_view target, std::string_view name) {
  const auto query = parse_query(query_of(target));
  if (!query) return {};
  const auto found =
      std::ranges::find_if(query->parameters, [&](const auto& one) { return one.first == name; });
  return found == query->parameters.end() ? std::string() : found->second;
}

base::Result<void> parse_into(const QueryRequest& request, const Shape& shape, void* out,
                              const ParseOptions& options, Protocol protocol) {
  Node root;
  for (const auto& [name, value] : request.parameters) insert(root, name, value);
  QueryReader reader(options, protocol);
  TRY_VOID(reader.read_structure(root, shape, out, ""));
  if (!reader.violation().empty()) {
    return base::fail(std::string(options.validation_code), reader.violation());
  }
  return {};
}

}  // namespace api
