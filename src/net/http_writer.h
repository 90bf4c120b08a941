// Heads of HTTP/1.1 messages as bytes; for the files of net/ only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "net/http.h"

namespace net {

// The framing of a response that the server decides.
struct ResponseFrame {
  size_t content_length = 0;
  bool has_length = true;  // False for 204 and 304, which carry none.
  bool keep_alive = true;
  bool http_1_1 = true;     // The version of the request.
  std::string_view date{};  // Empty = none.
};

// Appends the head with its empty line. A line break inside of a header becomes a space, so that
// a value can never become a header of its own.
void append_response_head(const HttpResponse& response, const ResponseFrame& frame,
                          std::string& out);
// Appends the head of a request; Host and Content-Length only where `request` has none and there
// is something to say.
void append_request_head(const HttpRequest& request, std::string_view host, std::string& out);
// "Sun, 06 Nov 1994 08:49:37 GMT". Source: RFC 9110, 5.6.7.
std::string format_http_date(int64_t unix_seconds);

}  // namespace net
