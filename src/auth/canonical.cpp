#include "auth/canonical.h"

#include <algorithm>

#include "base/text.h"

namespace auth {
namespace {

bool is_white(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Without white space at the ends, and each run inside as one space.
void append_trimmed(std::string& out, std::string_view value) {
  bool pending = false;
  bool any = false;
  for (const char c : value) {
    if (is_white(c)) {
      pending = any;
      continue;
    }
    if (pending) out += ' ';
    pending = false;
    any = true;
    out += c;
  }
}

// Appends the folded values of a header. False when the request has none.
bool append_folded(std::string& out, const Request& request, std::string_view name) {
  bool found = false;
  for (const auto& [header, value] : request.headers) {
    if (!base::equal_ignoring_case(header, name)) continue;
    if (found) out += ',';
    append_trimmed(out, value);
    found = true;
  }
  return found;
}

// Calls `use(piece)` for each piece of `text` between separators.
template <class Use>
void for_each_piece(std::string_view text, char separator, Use use) {
  while (true) {
    const size_t end = text.find(separator);
    use(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string uri_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? base::hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? base::hex_value(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string canonical_path(std::string_view path) {
  if (path.empty() || path == "/") return "/";
  std::vector<std::string_view> segments;
  for_each_piece(path, '/', [&](std::string_view segment) {
    if (segment.empty() || segment == ".") return;
    if (segment != "..") {
      segments.push_back(segment);
    } else if (!segments.empty()) {
      segments.pop_back();
    }
  });
  std::string out;
  for (const std::string_view segment : segments) {
    out += '/';
    out += base::percent_encoded(segment);
  }
  if (out.empty() || path.back() == '/') out += '/';
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  if (query.empty()) return parameters;
  for_each_piece(query, '&', [&](std::string_view pair) {
    if (pair.empty()) return;
    const size_t equals = pair.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
    parameters.emplace_back(uri_decode(pair.substr(0, equals)), uri_decode(value));
  });
  return parameters;
}

std::string canonical_query(std::string_view query, std::string_view left_out) {
  std::vector<std::pair<std::string, std::string>> parameters = parse_query(query);
  if (!left_out.empty()) {
    std::erase_if(parameters, [&](const auto& parameter) { return parameter.first == left_out; });
  }
  // The order is that of the encoded texts: "a-b" stands before "a b" only there.
  for (auto& [name, value] : parameters) {
    name = base::percent_encoded(name);
    value = base::percent_encoded(value);
  }
  std::sort(parameters.begin(), parameters.end());
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (!out.empty()) out += '&';
    out += name;
    out += '=';
    out += value;
  }
  return out;
}

std::optional<std::string> folded_header(const Request& request, std::string_view name) {
  std::string value;
  if (!append_folded(value, request, name)) return std::nullopt;
  return value;
}

std::string canonical_request(const Request& request, const CanonicalParts& parts) {
  std::string out;
  out.reserve(1'024);
  out.append(request.method).append("\n");
  out.append(parts.path).append("\n");
  out.append(parts.query).append("\n");
  for (const std::string_view name : parts.signed_headers) {
    out.append(name).append(":");
    append_folded(out, request, name);
    out += '\n';
  }
  out += '\n';
  for (size_t i = 0; i < parts.signed_headers.size(); ++i) {
    if (i > 0) out += ';';
    out.append(parts.signed_headers[i]);
  }
  out.append("\n").append(parts.payload_hash);
  return out;
}

std::string string_to_sign(std::string_view timestamp, std::string_view scope,
                           std::string_view canonical_request_hash) {
  std::string out;
  out.reserve(192);
  out.append(algorithm).append("\n");
  out.append(timestamp).append("\n");
  out.append(scope).append("\n");
  out.append(canonical_request_hash);
  return out;
}

}  // namespace auth
