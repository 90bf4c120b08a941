// Any bytes as an HTTP request and as a response, in one piece and in pieces that the first byte
// chooses: no crash, no more kept than is allowed, and the same message from both.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_parser.h"

namespace {

using net::HttpParser;
using net::ParseState;

constexpr size_t max_head_bytes = 4096;
constexpr size_t max_body_bytes = 10'000;

struct Read {
  ParseState state = ParseState::NeedMore;
  int status = 0;
  std::string start;  // Method and target.
  net::Headers headers;
  std::string body;
};

Read read(HttpParser::Kind kind, std::string_view bytes, size_t piece) {
  HttpParser parser(kind, max_head_bytes);
  std::string waiting;
  Read read;
  while (true) {
    const net::ParseStep step = parser.feed(waiting);
    CHECK(step.consumed <= waiting.size());
    waiting.erase(0, step.consumed);
    read.state = step.state;
    if (step.state == ParseState::Head) {
      parser.set_body_limit(max_body_bytes);
      continue;
    }
    if (step.state != ParseState::NeedMore) break;
    if (bytes.empty()) {
      read.state = parser.feed_eof();
      break;
    }
    waiting += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (read.state == ParseState::Failed) {
    CHECK(parser.failure_status() >= 400 && !parser.failure_text().empty());
    return read;
  }
  if (read.state != ParseState::Done) return read;
  if (kind == HttpParser::Kind::Request) {
    read.start = parser.request().method + " " + parser.request().target;
    read.headers = parser.request().headers;
    read.body = parser.request().body;
  } else {
    read.status = parser.response().status;
    read.headers = parser.response().headers;
    read.body = parser.response().body;
  }
  CHECK(read.body.size() <= max_body_bytes);
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const HttpParser::Kind kind : {HttpParser::Kind::Request, HttpParser::Kind::Response}) {
    const Read whole = read(kind, bytes, bytes.size() + 1);
    const Read cut = read(kind, bytes, size_t{1} + data[0] % 61U);
    // Which of two faults is met first may depend on the pieces; that there is one may not.
    CHECK((whole.state == ParseState::Done) == (cut.state == ParseState::Done));
    if (whole.state != ParseState::Done) continue;
    CHECK(whole.start == cut.start && whole.status == cut.status);
    CHECK(whole.headers == cut.headers && whole.body == cut.body);
  }
  static_cast<void>(net::parse_url(bytes));  // Any answer is right, as long as there is one.
  return 0;
}
