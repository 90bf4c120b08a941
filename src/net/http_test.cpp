#include "net/http.h"

#include <gtest/gtest.h>

#include "net/http_writer.h"

namespace net {
namespace {

TEST(Url, names_its_parts) {
  EXPECT_EQ(parse_url("http://example.org").value(), (Url{"http", "example.org", 80, "/"}));
  EXPECT_EQ(parse_url("HTTPS://example.org:8443/a?b=c#d").value(),
            (Url{"https", "example.org", 8443, "/a?b=c"}));
  EXPECT_EQ(parse_url("ws://[::1]:9/ws?x=1").value(), (Url{"ws", "::1", 9, "/ws?x=1"}));
  EXPECT_EQ(parse_url("wss://h?x=1").value(), (Url{"wss", "h", 443, "/?x=1"}));
  EXPECT_EQ(parse_url("unix:///run/docker.sock").value(), (Url{"unix", "", 0, "/run/docker.sock"}));
}

TEST(Url, refuses_what_is_not_one) {
  for (const char* bad :
       {"", "example.org", "ftp://a", "http://", "http://:80", "http://a:", "http://a:0",
        "http://a:65536", "http://a:8x", "http://[::1", "http://[::1]x", "unix://run", "http://a b",
        "http://a/b c", "http://user@host/"}) {
    const auto url = parse_url(bad);
    ASSERT_FALSE(url) << bad;
    EXPECT_EQ(url.error().code, "InvalidUrl") << bad;
  }
}

TEST(Url, authority_leaves_out_the_port_of_the_scheme) {
  EXPECT_EQ(authority(parse_url("http://a").value()), "a");
  EXPECT_EQ(authority(parse_url("https://a:80/").value()), "a:80");
  EXPECT_EQ(authority(parse_url("https://[::1]:443/").value()), "[::1]");
}

TEST(Headers, are_found_in_any_case_and_the_first_counts) {
  const Headers headers = {{"Host", "a"}, {"X", "1"}, {"x", "2"}, {"Connection", "Foo , Upgrade"}};
  EXPECT_EQ(*find_header(headers, "hOST"), "a");
  EXPECT_EQ(*find_header(headers, "X"), "1");
  EXPECT_EQ(find_header(headers, "Y"), nullptr);
  EXPECT_EQ(header_or_empty(headers, "Y"), "");
  EXPECT_EQ(count_headers(headers, "x"), 2U);
  EXPECT_TRUE(header_has_token(headers, "connection", "upgrade"));
  EXPECT_FALSE(header_has_token(headers, "connection", "up"));
}

TEST(HttpWriter, a_line_break_in_a_value_makes_no_header) {
  std::string out;
  append_response_head({200, {{"X", "a\r\nSet-Cookie: b"}, {"Content-Length", "77"}}, "hi"},
                       {.content_length = 2}, out);
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nX: a  Set-Cookie: b\r\nContent-Length: 2\r\n\r\n");
}

TEST(HttpWriter, a_request_gets_host_and_length_only_where_they_lack) {
  std::string out;
  append_request_head({.method = "POST", .target = "/x", .headers = {}, .body = "abc"}, "h:1", out);
  EXPECT_EQ(out, "POST /x HTTP/1.1\r\nHost: h:1\r\nContent-Length: 3\r\n\r\n");
  out.clear();
  append_request_head({.headers = {{"host", "signed:80"}}}, "h:1", out);
  EXPECT_EQ(out, "GET / HTTP/1.1\r\nhost: signed:80\r\n\r\n");
}

TEST(HttpWriter, the_date_is_the_one_of_the_rfc) {
  EXPECT_EQ(format_http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace net
