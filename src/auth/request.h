// An HTTP request as SigV4 sees it.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace auth {

// Every view must outlive the call that the request is handed to; nothing keeps one longer.
struct Request {
  std::string_view method;  // "POST"; upper case as sent.
  std::string_view path;    // As on the request line, still percent-encoded: "/" or "/a%20b".
  std::string_view query;   // As on the request line without its "?"; empty without one.
  // In the order sent, names in any case, repeated ones repeated. Host stands among them as sent,
  // with its port.
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  std::string_view body;
  // The body's SHA-256 in lower-case hexadecimal digits where the caller has it already; `body` is
  // not looked at then. Empty: computed from `body`.
  std::string_view body_sha256 = {};
};

}  // namespace auth
