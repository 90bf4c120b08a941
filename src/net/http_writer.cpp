#include "net/http_writer.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/format.h"
#include "base/text.h"

namespace net {
namespace {

bool breaks_line(char c) {
  return c == '\r' || c == '\n' || c == '\0';
}

void append_clean(std::string_view text, std::string& out) {
  const size_t start = out.size();
  out += text;
  if (std::ranges::any_of(text, breaks_line)) {
    std::replace_if(out.begin() + static_cast<ptrdiff_t>(start), out.end(), breaks_line, ' ');
  }
}

void append_header(std::string_view name, std::string_view value, std::string& out) {
  append_clean(name, out);
  out += ": ";
  append_clean(value, out);
  out += "\r\n";
}

bool is_framing(const Header& header) {
  return base::equal_ignoring_case(header.name, "content-length") ||
         base::equal_ignoring_case(header.name, "transfer-encoding") ||
         base::equal_ignoring_case(header.name, "connection");
}

}  // namespace

void append_response_head(const HttpResponse& response, const ResponseFrame& frame,
                          std::string& out) {
  out += "HTTP/1.1 ";
  out += std::to_string(response.status);
  out += ' ';
  out += reason_phrase(response.status);
  out += "\r\n";
  bool has_date = frame.date.empty();
  for (const Header& header : response.headers) {
    if (is_framing(header)) continue;
    has_date = has_date || base::equal_ignoring_case(header.name, "date");
    append_header(header.name, header.value, out);
  }
  if (!has_date) append_header("Date", frame.date, out);
  if (frame.has_length) {
    out += "Content-Length: ";
    out += std::to_string(frame.content_length);
    out += "\r\n";
  }
  if (!frame.keep_alive) {
    out += "Connection: close\r\n";
  } else if (!frame.http_1_1) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
}

void append_request_head(const HttpRequest& request, std::string_view host, std::string& out) {
  append_clean(request.method, out);
  out += ' ';
  append_clean(request.target, out);
  out += " HTTP/1.1\r\n";
  if (find_header(request.headers, "Host") == nullptr) append_header("Host", host, out);
  for (const Header& header : request.headers) append_header(header.name, header.value, out);
  const bool wants_length = !request.body.empty() || request.method == "POST" ||
                            request.method == "PUT" || request.method == "PATCH";
  if (wants_length && find_header(request.headers, "Content-Length") == nullptr) {
    append_header("Content-Length", std::to_string(request.body.size()), out);
  }
  out += "\r\n";
}

std::string format_http_date(int64_t unix_seconds) {
  static constexpr std::string_view days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::string_view months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds time{std::chrono::seconds{unix_seconds}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return base::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", days[std::chrono::weekday{day}.c_encoding()],
      static_cast<unsigned>(date.day()), months[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
}

}  // namespace net
