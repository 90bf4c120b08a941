#include "net/http.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace net {
namespace {

uint16_t default_port(std::string_view scheme) {
  if (scheme == "http" || scheme == "ws") return 80;
  if (scheme == "https" || scheme == "wss") return 443;
  return 0;
}

std::unexpected<base::Error> invalid(std::string_view text, std::string_view why) {
  return base::fail("InvalidUrl", base::format("\"{}\" is not a URL: {}", text, why));
}

// Splits "host", "host:port" or "[v6]:port" of `whole` (named in errors).
base::Result<void> parse_host(std::string_view whole, std::string_view text, Url& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return invalid(whole, "the ] of the address is missing");
    url.host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return invalid(whole, "after ] comes only :port");
    port = rest.empty() ? rest : rest.substr(1);
    if (!rest.empty() && port.empty()) return invalid(whole, "the port after : is missing");
  } else {
    const size_t colon = text.find(':');
    url.host = text.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = text.substr(colon + 1);
      if (port.empty()) return invalid(whole, "the port after : is missing");
    }
  }
  if (url.host.empty()) return invalid(whole, "the host is missing");
  const auto bad = [](char c) { return c <= ' ' || c == 0x7f || c == '@' || c == '\\'; };
  if (std::ranges::any_of(url.host, bad)) return invalid(whole, "the host has a bad character");
  url.port = default_port(url.scheme);
  if (port.empty()) return {};
  url.port = base::parse_number<uint16_t>(port).value_or(0);
  if (url.port == 0) {
    return invalid(whole, "the port is not a number from 1 to 65535");
  }
  return {};
}

}  // namespace

const std::string* find_header(const Headers& headers, std::string_view name) {
  const auto found = std::ranges::find_if(
      headers, [&](const Header& header) { return base::equal_ignoring_case(header.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

std::string_view header_or_empty(const Headers& headers, std::string_view name) {
  const std::string* value = find_header(headers, name);
  return value == nullptr ? std::string_view{} : std::string_view(*value);
}

size_t count_headers(const Headers& headers, std::string_view name) {
  return static_cast<size_t>(std::ranges::count_if(
      headers, [&](const Header& header) { return base::equal_ignoring_case(header.name, name); }));
}

bool header_has_token(const Headers& headers, std::string_view name, std::string_view token) {
  for (const Header& header : headers) {
    if (!base::equal_ignoring_case(header.name, name)) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      if (base::equal_ignoring_case(base::trimmed(rest.substr(0, comma)), token)) return true;
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
  }
  return false;
}

std::string_view reason_phrase(int status) {
  struct Row {
    int status;
    std::string_view phrase;
  };
  // The IANA registry of HTTP status codes, those in use here.
  static constexpr Row rows[] = {
      {100, "Continue"},
      {101, "Switching Protocols"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {416, "Range Not Satisfiable"},
      {417, "Expectation Failed"},
      {422, "Unprocessable Content"},
      {426, "Upgrade Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
  };
  const auto* found = std::ranges::find(rows, status, &Row::status);
  return found == std::end(rows) ? "Unknown" : found->phrase;
}

base::Result<Url> parse_url(std::string_view text) {
  const size_t mark = text.find("://");
  if (mark == std::string_view::npos) {
    return invalid(text, "it must begin with http://, https://, ws://, wss:// or unix://");
  }
  Url url;
  for (const char c : text.substr(0, mark)) url.scheme += base::lower(c);
  std::string_view rest = text.substr(mark + 3);
  if (url.scheme == "unix") {
    if (!rest.starts_with('/')) return invalid(text, "unix:// wants an absolute path");
    url.path = rest;
    return url;
  }
  if (default_port(url.scheme) == 0) {
    return invalid(text, "its scheme must be http, https, ws, wss or unix");
  }
  rest = rest.substr(0, rest.find('#'));
  const size_t path = rest.find_first_of("/?");
  TRY_VOID(parse_host(text, rest.substr(0, path), url));
  url.path = path == std::string_view::npos ? "/" : std::string(rest.substr(path));
  if (url.path.front() == '?') url.path.insert(0, 1, '/');
  const auto bad = [](char c) { return (c >= 0 && c <= ' ') || c == 0x7f; };
  if (std::ranges::any_of(url.path, bad)) {
    return invalid(text, "a space or control character in the path must be percent-encoded");
  }
  return url;
}

std::string authority(const Url& url) {
  const std::string host =
      url.host.find(':') == std::string::npos ? url.host : base::format("[{}]", url.host);
  if (url.port == default_port(url.scheme)) return host;
  return base::format("{}:{}", host, url.port);
}

bool uses_tls(const Url& url) {
  return url.scheme == "https" || url.scheme == "wss";
}

}  // namespace net
