// HTTP/1.1 messages out of bytes, without sockets; for the files of net/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "net/http.h"

namespace net {

enum class ParseState : uint8_t {
  NeedMore,  // Feed what was not consumed, and more after it.
  Head,      // The head is complete, once per message; a body may follow.
  Done,      // The message is complete.
  Failed,
};

struct ParseStep {
  ParseState state = ParseState::NeedMore;
  size_t consumed = 0;
};

struct HeadFacts {
  bool http_1_1 = false;
  bool keep_alive = false;
  bool chunked = false;
  bool to_eof = false;  // A response that ends with the connection.
  std::optional<uint64_t> content_length;
};

// Gets each piece of a body; false = stop parsing.
using BodySink = std::function<bool(std::string_view)>;

// One of both kinds; what belongs to the other kind stays empty.
class HttpParser {
 public:
  enum class Kind : uint8_t { Request, Response };

  HttpParser(Kind kind, size_t max_head_bytes);
  ~HttpParser();
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  // Begins the next message.
  void start();
  // The response to a HEAD request has no body, whatever its head says. After start().
  void expect_no_body();
  // After Head. More body fails with body_too_long().
  void set_body_limit(size_t bytes);
  // After Head. Without a sink the body is collected in the message.
  void set_body_sink(BodySink sink);

  ParseStep feed(std::string_view bytes);
  // The peer sends no more. Done where that ends the message.
  ParseState feed_eof();

  // Anything of the message was seen.
  bool started() const;
  // After Head.
  HeadFacts facts() const;
  uint64_t body_bytes() const;
  bool body_too_long() const;
  bool stopped() const;  // By the sink.
  // After Failed: the status for the peer, and a sentence.
  int failure_status() const;
  std::string_view failure_text() const;

  HttpRequest& request();
  HttpResponse& response();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace net
