#include "net/http_parser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace net {
namespace {

struct Parsed {
  ParseState state = ParseState::NeedMore;
  HttpRequest request;
  size_t used = 0;
  int heads = 0;
};

// Feeds `bytes` in pieces of at most `piece`.
Parsed parse(HttpParser& parser, const std::string& bytes, size_t piece) {
  Parsed parsed;
  std::string waiting;
  size_t given = 0;
  while (true) {
    const ParseStep step = parser.feed(waiting);
    parsed.used += step.consumed;
    waiting.erase(0, step.consumed);
    parsed.state = step.state;
    if (step.state == ParseState::Head) {
      ++parsed.heads;
      continue;
    }
    if (step.state != ParseState::NeedMore || given == bytes.size()) break;
    waiting += bytes.substr(given, piece);
    given = std::min(given + piece, bytes.size());
  }
  parsed.request = parser.request();
  return parsed;
}

ParseState state_of(const std::string& bytes, size_t piece) {
  HttpParser parser(HttpParser::Kind::Request, 1000);
  return parse(parser, bytes, piece).state;
}

RC_GTEST_PROP(HttpParser, a_request_is_the_same_however_it_is_cut, ()) {
  const size_t piece = *rc::gen::inRange<size_t>(1, 60);
  const bool chunked = *rc::gen::arbitrary<bool>();
  const std::string tail =
      chunked ? "Transfer-Encoding: chunked\r\n\r\n4;x=y\r\nbody\r\n1\r\n!\r\n0\r\nLate: 1\r\n\r\n"
              : "Content-Length: 5\r\n\r\nbody!";
  const std::string bytes = "\r\nPOST /a?b HTTP/1.1\r\nHost: h\r\nX: 1\r\nx:  2 \r\n" + tail;
  HttpParser parser(HttpParser::Kind::Request, 1000);
  // What belongs to the next request stays.
  const Parsed parsed = parse(parser, bytes + "GET", piece);
  RC_ASSERT(parsed.state == ParseState::Done);
  RC_ASSERT(parsed.heads == 1);
  RC_ASSERT(parsed.used == bytes.size());
  RC_ASSERT(parsed.request.method == "POST");
  RC_ASSERT(parsed.request.target == "/a?b");
  RC_ASSERT(parsed.request.body == "body!");
  RC_ASSERT(parsed.request.headers.size() == 4U);
  RC_ASSERT(parsed.request.headers[2] == (Header{"x", "2"}));
}

RC_GTEST_PROP(HttpParser, any_bytes_end_in_a_verdict, (const std::string& bytes)) {
  const size_t piece = *rc::gen::inRange<size_t>(1, 20);
  const ParseState state = state_of(bytes, piece);
  RC_ASSERT(state == ParseState::NeedMore || state == ParseState::Failed);
}

TEST(HttpParser, refuses_what_could_be_read_in_two_ways) {
  for (const char* bad : {
           "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
           "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
           "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
           "GET / HTTP/1.1\nHost: a\n\n",
           "GET / HTTP/2.0\r\n\r\n",
           "GE T / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
           "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
       }) {
    EXPECT_EQ(state_of(bad, 1000), ParseState::Failed) << bad;
    EXPECT_NE(state_of(bad, 1), ParseState::Done) << bad;  // Or it waits for an end in vain.
  }
}

TEST(HttpParser, the_head_is_limited_however_it_is_cut) {
  const std::string fields = "GET / HTTP/1.1\r\nA: " + std::string(600, 'a') +
                             "\r\nB: " + std::string(600, 'b') + "\r\n\r\n";
  for (const size_t piece : {1U, 7U, 100U, 2000U}) {
    HttpParser parser(HttpParser::Kind::Request, 1000);
    EXPECT_EQ(parse(parser, fields, piece).state, ParseState::Failed) << piece;
    EXPECT_EQ(parser.failure_status(), 431) << piece;
  }
  HttpParser parser(HttpParser::Kind::Request, 1 << 20);
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 600; ++i) many += "a:\r\n";
  EXPECT_EQ(parse(parser, many + "\r\n", 4096).state, ParseState::Failed);
  EXPECT_EQ(parser.failure_status(), 431);
}

TEST(HttpParser, the_line_of_a_chunk_and_what_follows_the_last_are_limited) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(state_of(head + "1;" + std::string(5000, 'x'), 100), ParseState::Failed);
  EXPECT_EQ(state_of(head + "0\r\nA: " + std::string(5000, 'x'), 100), ParseState::Failed);
}

TEST(HttpParser, a_body_beyond_its_limit_fails_as_413) {
  HttpParser parser(HttpParser::Kind::Request, 1000);
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  ASSERT_EQ(parser.feed(head).state, ParseState::Head);
  parser.set_body_limit(3);
  EXPECT_EQ(parser.feed("3\r\nabc\r\n1\r\nd\r\n").state, ParseState::Failed);
  EXPECT_EQ(parser.failure_status(), 413);
}

TEST(HttpParser, a_response_without_a_length_ends_with_the_connection) {
  HttpParser parser(HttpParser::Kind::Response, 1000);
  ASSERT_EQ(parser.feed("HTTP/1.1 200 OK\r\n\r\nab").state, ParseState::Head);
  EXPECT_TRUE(parser.facts().to_eof);
  EXPECT_EQ(parser.feed("ab").state, ParseState::NeedMore);
  EXPECT_EQ(parser.feed_eof(), ParseState::Done);
  EXPECT_EQ(parser.response().body, "ab");

  parser.start();
  ASSERT_EQ(parser.feed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").state, ParseState::Head);
  parser.feed("ab");
  EXPECT_EQ(parser.feed_eof(), ParseState::Failed);
}

}  // namespace
}  // namespace net
