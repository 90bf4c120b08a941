// HTTP messages and URLs as plain values. Source: RFC 9110, RFC 9112, RFC 3986.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace net {

struct Header {
  std::string name;
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};

// In the order of the wire; a repeated header is kept as often as it came.
using Headers = std::vector<Header>;

// The value of the first header of that name, whatever its case; nullptr when there is none.
const std::string* find_header(const Headers& headers, std::string_view name);
// The same, as text; empty when there is none.
std::string_view header_or_empty(const Headers& headers, std::string_view name);
size_t count_headers(const Headers& headers, std::string_view name);
// True when a header of that name has `token` in its comma-separated list, whatever the case.
bool header_has_token(const Headers& headers, std::string_view name, std::string_view token);

struct HttpRequest {
  std::string method = "GET";  // As it came; upper case.
  std::string target = "/";    // As it came: path and query, not decoded.
  Headers headers{};
  std::string body{};
  std::string remote_address{};  // "192.0.2.1:4711", "[::1]:4711" or "unix". Set by the server.
  bool tls = false;              // Came over TLS. Set by the server.
};

struct HttpResponse {
  int status = 200;
  // Content-Length, Transfer-Encoding and Connection are the server's own business: what a handler
  // sets of them is not sent. One exception: the response to HEAD may have no body and say in
  // Content-Length how long that of GET would be. Date is added where there is none.
  Headers headers{};
  std::string body{};
};

// "OK" for 200; "Unknown" for a status without a name.
std::string_view reason_phrase(int status);

struct Url {
  std::string scheme;  // Lower case: "http", "https", "ws", "wss" or "unix".
  std::string host;    // Without the brackets of an IPv6 address. Empty for unix.
  uint16_t port = 0;   // The scheme's own where the text names none. 0 for unix.
  std::string path;    // Path and query, at least "/". For unix: the path of the socket.
  friend bool operator==(const Url&, const Url&) = default;
};

// Errors: "InvalidUrl".
base::Result<Url> parse_url(std::string_view text);
// "host:port", with the port left out where it is the scheme's own: what goes into Host.
std::string authority(const Url& url);
// The scheme runs over TLS.
bool uses_tls(const Url& url);

}  // namespace net
