#include "net/http_parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <optional>

#include "base/result.h"

namespace net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using ErrorCode = boost::beast::error_code;

constexpr size_t max_fields = 512;
// An empty line before a request is left over from a sloppy peer (RFC 9112, 2.2).
constexpr size_t max_leading_newlines = 4;

// What both kinds of message share while they are parsed.
struct Message {
  HttpRequest request;
  HttpResponse response;
  BodySink sink;
  uint64_t body_bytes = 0;
  uint64_t body_limit = std::numeric_limits<uint64_t>::max();
  bool http_1_1 = false;
  bool head_done = false;
  bool body_too_long = false;
  bool stopped = false;
  bool too_many_fields = false;
};

template <bool is_request>
class Parser final : public http::basic_parser<is_request> {
 public:
  explicit Parser(Message& message) : message_(message) {}

 private:
  void on_request_impl(http::verb, beast::string_view method, beast::string_view target,
                       int version, ErrorCode&) override {
    message_.http_1_1 = version >= 11;
    message_.request.method.assign(method.data(), method.size());
    message_.request.target.assign(target.data(), target.size());
  }

  void on_response_impl(int code, beast::string_view, int version, ErrorCode&) override {
    message_.http_1_1 = version >= 11;
    message_.response.status = code;
  }

  void on_field_impl(http::field, beast::string_view name, beast::string_view value,
                     ErrorCode& error) override {
    // Fields behind a chunked body are dropped: they came after the head was judged.
    if (message_.head_done) return;
    Headers& headers = is_request ? message_.request.headers : message_.response.headers;
    if (headers.size() >= max_fields) {
      message_.too_many_fields = true;
      error = http::error::header_limit;
      return;
    }
    headers.push_back({{name.data(), name.size()}, {value.data(), value.size()}});
  }

  void on_header_impl(ErrorCode&) override { message_.head_done = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}

  size_t on_body_impl(beast::string_view piece, ErrorCode& error) override {
    message_.body_bytes += piece.size();
    if (message_.body_bytes > message_.body_limit) {
      message_.body_too_long = true;
      error = http::error::body_limit;
      return 0;
    }
    if (message_.sink) {
      if (!message_.sink({piece.data(), piece.size()})) {
        message_.stopped = true;
        error = http::error::end_of_stream;
      }
    } else {
      (is_request ? message_.request.body : message_.response.body)
          .append(piece.data(), piece.size());
    }
    return piece.size();
  }

  void on_chunk_header_impl(std::uint64_t, beast::string_view, ErrorCode&) override {}
  size_t on_chunk_body_impl(std::uint64_t, beast::string_view piece, ErrorCode& error) override {
    return on_body_impl(piece, error);
  }
  void on_finish_impl(ErrorCode&) override {}

  Message& message_;
};

}  // namespace

class HttpParser::Impl {
 public:
  Impl(Kind kind, size_t max_head_bytes) : kind_(kind), max_head_bytes_(max_head_bytes) { start(); }

  void start() {
    message_ = Message{};
    error_ = {};
    head_bytes_ = 0;
    leading_newlines_ = 0;
    request_parser_.reset();
    response_parser_.reset();
    if (kind_ == Kind::Request) {
      prepare(request_parser_.emplace(message_));
    } else {
      prepare(response_parser_.emplace(message_));
    }
  }

  void expect_no_body() {
    if (response_parser_) response_parser_->skip(true);
  }

  ParseStep feed(std::string_view bytes) {
    return kind_ == Kind::Request ? feed_to(*request_parser_, bytes)
                                  : feed_to(*response_parser_, bytes);
  }

  ParseState feed_eof() {
    if (kind_ == Kind::Request || !response_parser_->got_some()) return ParseState::Failed;
    if (response_parser_->is_done()) return ParseState::Done;
    response_parser_->put_eof(error_);
    return error_ ? ParseState::Failed : ParseState::Done;
  }

  bool started() const {
    return kind_ == Kind::Request ? request_parser_->got_some() : response_parser_->got_some();
  }

  HeadFacts facts() const {
    return kind_ == Kind::Request ? facts_of(*request_parser_) : facts_of(*response_parser_);
  }

  int failure_status() const {
    if (message_.body_too_long) return 413;
    if (error_ == http::error::header_limit) return 431;
    if (error_ == http::error::bad_version) return 505;
    return 400;
  }

  std::string_view failure_text() const {
    if (message_.body_too_long) return "The body is longer than is allowed.";
    if (message_.too_many_fields) return "The head has more than 512 fields.";
    if (error_ == http::error::header_limit) return "The head is longer than is allowed.";
    if (error_ == http::error::bad_version) return "The version is not HTTP/1.1 or HTTP/1.0.";
    if (error_ == http::error::bad_method) return "The method is malformed.";
    if (error_ == http::error::bad_target) return "The request target is malformed.";
    if (error_ == http::error::bad_field || error_ == http::error::bad_obs_fold) {
      return "The name of a header is malformed.";
    }
    if (error_ == http::error::bad_value) return "The value of a header is malformed.";
    if (error_ == http::error::bad_line_ending) return "A line does not end in CR LF.";
    if (error_ == http::error::bad_content_length ||
        error_ == http::error::multiple_content_length) {
      return "The Content-Length is malformed, contradictory or beside a Transfer-Encoding.";
    }
    if (error_ == http::error::bad_transfer_encoding) {
      return "The Transfer-Encoding is malformed or beside a Content-Length.";
    }
    if (error_ == http::error::bad_chunk || error_ == http::error::bad_chunk_extension) {
      return "The chunked body is malformed.";
    }
    if (error_ == http::error::partial_message) return "The message was cut off.";
    return "The message is not HTTP.";
  }

  Message message_;

 private:
  template <class P>
  void prepare(P& parser) {
    parser.header_limit(static_cast<uint32_t>(max_head_bytes_));
    parser.body_limit(boost::none);
  }

  template <class P>
  ParseStep feed_to(P& parser, std::string_view bytes) {
    ParseStep step;
    if (kind_ == Kind::Request && !parser.got_some() && !skip_newlines(bytes, step)) return step;
    while (!parser.is_done()) {
      const bool had_head = message_.head_done;
      const std::string_view rest = bytes.substr(step.consumed);
      if (rest.empty()) return step;
      const size_t used = parser.put(boost::asio::const_buffer(rest.data(), rest.size()), error_);
      step.consumed += used;
      if (!had_head) head_bytes_ += used;
      if (error_ == http::error::need_more) {
        error_ = {};
        // Beyond the head this is the line of a chunk, or what follows the last chunk.
        const size_t waiting = rest.size() - used;
        if (waiting <= max_head_bytes_ && head_bytes_ <= max_head_bytes_) return step;
        error_ = had_head ? http::error::bad_chunk : http::error::header_limit;
      } else if (!error_ && !had_head && head_bytes_ > max_head_bytes_) {
        error_ = http::error::header_limit;
      }
      if (error_) {
        step.state = ParseState::Failed;
        return step;
      }
      if (!had_head && message_.head_done) {
        step.state = ParseState::Head;
        return step;
      }
    }
    step.state = ParseState::Done;
    return step;
  }

  // False when the next byte decides whether there is another one.
  bool skip_newlines(std::string_view bytes, ParseStep& step) {
    while (leading_newlines_ < max_leading_newlines) {
      const std::string_view rest = bytes.substr(step.consumed);
      if (rest == "\r") return false;
      if (!rest.starts_with("\r\n")) return true;
      step.consumed += 2;
      ++leading_newlines_;
    }
    return true;
  }

  template <class P>
  HeadFacts facts_of(const P& parser) const {
    HeadFacts facts;
    facts.http_1_1 = message_.http_1_1;
    facts.keep_alive = parser.keep_alive();
    facts.chunked = parser.chunked();
    facts.to_eof = parser.need_eof();
    if (const auto length = parser.content_length()) facts.content_length = *length;
    return facts;
  }

  const Kind kind_;
  const size_t max_head_bytes_;
  size_t head_bytes_ = 0;
  size_t leading_newlines_ = 0;
  ErrorCode error_;
  std::optional<Parser<true>> request_parser_;
  std::optional<Parser<false>> response_parser_;
};

HttpParser::HttpParser(Kind kind, size_t max_head_bytes)
    : impl_(std::make_unique<Impl>(kind, max_head_bytes)) {}
HttpParser::~HttpParser() = default;

void HttpParser::start() {
  impl_->start();
}
void HttpParser::expect_no_body() {
  impl_->expect_no_body();
}
void HttpParser::set_body_limit(size_t bytes) {
  impl_->message_.body_limit = bytes;
}
void HttpParser::set_body_sink(BodySink sink) {
  impl_->message_.sink = std::move(sink);
}
ParseStep HttpParser::feed(std::string_view bytes) {
  return impl_->feed(bytes);
}
ParseState HttpParser::feed_eof() {
  return impl_->feed_eof();
}
bool HttpParser::started() const {
  return impl_->started();
}
HeadFacts HttpParser::facts() const {
  return impl_->facts();
}
uint64_t HttpParser::body_bytes() const {
  return impl_->message_.body_bytes;
}
bool HttpParser::body_too_long() const {
  return impl_->message_.body_too_long;
}
bool HttpParser::stopped() const {
  return impl_->message_.stopped;
}
int HttpParser::failure_status() const {
  return impl_->failure_status();
}
std::string_view HttpParser::failure_text() const {
  return impl_->failure_text();
}
HttpRequest& HttpParser::request() {
  return impl_->message_.request;
}
HttpResponse& HttpParser::response() {
  return impl_->message_.response;
}

}  // namespace net
