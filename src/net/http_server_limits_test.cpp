// What a server does with peers that are wrong, slow or too many.
#include <gtest/gtest.h>

#include <atomic>

#include "base/random.h"
#include "net/http_server.h"
#include "net/testing.h"

namespace net {
namespace {

using std::chrono::milliseconds;
using testing::must;
using testing::RawPeer;

constexpr const char* simple_get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

struct Server {
  explicit Server(HttpServerOptions options = {})
      : server(must(HttpServer::create(loop, std::move(options),
                                       [this](const HttpRequest&, const Responder& responder) {
                                         ++handled;
                                         responder.respond({200, {}, "ok"});
                                       }))) {}
  ~Server() { server->stop(); }
  RawPeer peer() const { return RawPeer(server->port()); }

  std::atomic<int> handled{0};
  Loop loop{1};
  std::unique_ptr<HttpServer> server;
};

int status_for(const Server& server, const std::string& request) {
  RawPeer peer = server.peer();
  peer.send(request);
  const int status = peer.status();
  EXPECT_TRUE(peer.is_closed()) << request;
  return status;
}

TEST(HttpServerLimits, bad_requests_get_their_status_and_the_connection_ends) {
  const Server server;
  EXPECT_EQ(status_for(server, "nonsense\r\n\r\n"), 400);
  EXPECT_EQ(status_for(server, std::string("\x16\x03\x01\x02\x00\x01\x00\x00\x00", 9)), 400);
  EXPECT_EQ(status_for(server, "GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_for(server, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_for(server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  EXPECT_EQ(status_for(server,
                       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n0\r\n\r\n"),
            400);
  EXPECT_EQ(status_for(server, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"),
            501);
  EXPECT_EQ(
      status_for(server, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
      501);
  EXPECT_EQ(status_for(server, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_for(server, "GET / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n"), 417);
  EXPECT_EQ(server.handled, 0);
}

TEST(HttpServerLimits, binary_rubbish_never_reaches_the_handler_nor_hurts_the_server) {
  const Server server;
  base::Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::string rubbish;
    for (uint64_t i = random.next() % 300; i > 0; --i) {
      rubbish += static_cast<char>(random.next());
    }
    RawPeer peer = server.peer();
    peer.send(rubbish);
    peer.half_close();
    peer.rest();
  }
  EXPECT_EQ(server.handled, 0);
  RawPeer peer = server.peer();
  peer.send(simple_get);
  EXPECT_EQ(peer.status(), 200);
}

TEST(HttpServerLimits, an_oversized_head_gets_431) {
  const Server server;
  EXPECT_EQ(status_for(server,
                       "GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(70'000, 'a') + "\r\n\r\n"),
            431);
  EXPECT_EQ(status_for(server, "GET /" + std::string(70'000, 'a')), 431);
  RawPeer peer = server.peer();
  peer.send("GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(60'000, 'a') + "\r\n\r\n");
  EXPECT_EQ(peer.status(), 200);
}

TEST(HttpServerLimits, an_oversized_body_gets_413_even_while_it_is_being_sent) {
  HttpServerOptions options;
  options.body_limit = [](const HttpRequest& head) { return head.target == "/big" ? 100U : 3U; };
  const Server server(std::move(options));
  // The peer still sends when the answer is there already, and must get to read it.
  EXPECT_EQ(status_for(server, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4000000\r\n\r\n" +
                                   std::string(4'000'000, 'x')),
            413);
  EXPECT_EQ(status_for(server,
                       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
                       "2\r\ncd\r\n"),
            413);
  EXPECT_EQ(status_for(server,
                       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: "
                       "100-continue\r\n\r\n"),
            413);
  EXPECT_EQ(server.handled, 0);
  RawPeer peer = server.peer();
  peer.send("POST /big HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd");
  EXPECT_EQ(peer.status(), 200);
}

TEST(HttpServerLimits, errors_come_in_the_shape_that_the_owner_gives_them) {
  HttpServerOptions options;
  options.on_protocol_error = [](int status, std::string_view why) {
    return HttpResponse{status, {{"Content-Type", "application/x-amz-json-1.1"}}, std::string(why)};
  };
  const Server server(std::move(options));
  RawPeer peer = server.peer();
  peer.send("nonsense\r\n\r\n");
  const HttpResponse response = peer.response().value();
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(header_or_empty(response.headers, "content-type"), "application/x-amz-json-1.1");
  EXPECT_EQ(header_or_empty(response.headers, "Connection"), "close");
  EXPECT_FALSE(response.body.empty());
}

HttpServerOptions hasty() {
  HttpServerOptions options;
  options.head_timeout = options.body_timeout = options.idle_timeout = options.write_timeout =
      options.linger_timeout = milliseconds{60};
  return options;
}

TEST(HttpServerLimits, a_slow_head_or_body_gets_408) {
  const Server server(hasty());
  EXPECT_EQ(status_for(server, "GET / HTT"), 408);
  EXPECT_EQ(status_for(server, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab"), 408);
  EXPECT_EQ(server.handled, 0);
}

TEST(HttpServerLimits, an_idle_connection_is_closed_without_a_word) {
  const Server server(hasty());
  RawPeer fresh = server.peer();
  EXPECT_TRUE(fresh.is_closed());
  RawPeer used = server.peer();
  used.send(simple_get);
  EXPECT_EQ(used.status(), 200);
  EXPECT_TRUE(used.is_closed());
}

TEST(HttpServerLimits, a_peer_that_does_not_read_its_answer_is_cut) {
  Loop loop(1);
  const auto server =
      must(HttpServer::create(loop, hasty(), [](const HttpRequest&, const Responder& responder) {
        responder.respond({200, {}, std::string(size_t{64} << 20, 'x')});
      }));
  RawPeer peer(server->port());
  peer.send(simple_get);
  RawPeer other(server->port());
  EXPECT_TRUE(other.is_closed());  // After the idle time-out, which is as long.
  EXPECT_LT(peer.rest().size(), size_t{64} << 20);
}

TEST(HttpServerLimits, one_connection_too_many_gets_503_and_a_free_place_serves_again) {
  HttpServerOptions options;
  options.max_connections = 2;
  const Server server(std::move(options));
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 2; ++i) {
    peers.push_back(std::make_unique<RawPeer>(server.server->port()));
    peers.back()->send(simple_get);
    EXPECT_EQ(peers.back()->status(), 200);
  }
  EXPECT_EQ(status_for(server, simple_get), 503);
  peers.pop_back();
  // The server sees the end of a connection a moment later.
  int status = 0;
  for (int i = 0; i < 1000 && status != 200; ++i) {
    RawPeer peer = server.peer();
    peer.send(simple_get);
    status = peer.status();
  }
  EXPECT_EQ(status, 200);
}

}  // namespace
}  // namespace net
