// What a server does with peers that are wrong, slow or too many.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/random.h"
#include "net/http_server.h"
#include "net/testing.h"

namespace net {
namespace {

using std::chrono::milliseconds;
using testing::must;
using testing::RawPeer;
using testing::simple_get;

struct CountingServer {
  explicit CountingServer(HttpServerOptions options = {})
      : server(must(HttpServer::create(loop, std::move(options),
                                       [this](const HttpRequest&, const Responder& responder) {
                                         ++handled;
                                         responder.respond({200, {}, "ok"});
                                       }))) {}
  ~CountingServer() { server->stop(); }
  RawPeer peer() const { return RawPeer(server->port()); }

  std::atomic<int> handled{0};
  Loop loop{1};
  std::unique_ptr<HttpServer> server;
};

int status_for(const CountingServer& server, const std::string& request) {
  RawPeer peer = server.peer();
  peer.send(request);
  const int status = peer.status();
  EXPECT_TRUE(peer.is_closed()) << request;
  return status;
}

TEST(HttpServerLimits, bad_requests_get_their_status_and_the_connection_ends) {
  const CountingServer server;
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
  const CountingServer server;
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
  const CountingServer server;
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
  const CountingServer server(std::move(options));
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
  const CountingServer server(std::move(options));
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
      options.linger_timeout = milliseconds{500};
  return options;
}

TEST(HttpServerLimits, a_slow_head_or_body_gets_408) {
  const CountingServer server(hasty());
  EXPECT_EQ(status_for(server, "GET / HTT"), 408);
  EXPECT_EQ(status_for(server, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab"), 408);
  EXPECT_EQ(server.handled, 0);
}

TEST(HttpServerLimits, an_idle_connection_is_closed_without_a_word) {
  const CountingServer server(hasty());
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
  const CountingServer server(std::move(options));
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

TEST(HttpServerLimits, one_connection_too_many_can_wait_for_a_place_instead) {
  HttpServerOptions options;
  options.max_connections = 2;
  options.wait_when_full = true;
  const CountingServer server(std::move(options));
  RawPeer first = server.peer();
  RawPeer second = server.peer();
  for (RawPeer* const peer : {&first, &second}) {
    peer->send(simple_get);
    EXPECT_EQ(peer->status(), 200);
  }
  RawPeer third = server.peer();
  third.send(simple_get);
  first.send(simple_get);
  EXPECT_EQ(first.status(), 200);
  EXPECT_EQ(server.handled, 3) << "the third waits";
  first.close();
  EXPECT_EQ(third.status(), 200);
}

TEST(HttpServerLimits, several_servers_have_no_more_connections_than_their_budget) {
  const auto budget = std::make_shared<ConnectionBudget>(2);
  HttpServerOptions options;
  options.budget = budget;
  const CountingServer one(options);
  const CountingServer other(options);
  RawPeer first = one.peer();
  first.send(simple_get);
  EXPECT_EQ(first.status(), 200);
  RawPeer second = other.peer();
  second.send(simple_get);
  EXPECT_EQ(second.status(), 200);
  RawPeer third = other.peer();
  third.send(simple_get);
  first.send(simple_get);
  EXPECT_EQ(first.status(), 200);
  EXPECT_EQ(budget->taken, 2U);
  second.close();
  EXPECT_EQ(third.status(), 200);
}

TEST(HttpServerLimits, idle_connections_make_room_when_places_are_few) {
  HttpServerOptions options;
  options.max_connections = 8;
  options.crowded_idle_timeout = milliseconds{20};
  const CountingServer server(std::move(options));
  // Far more than there are places, and all of them stay open for as long as the server lets them.
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 50; ++i) {
    int status = 0;
    for (int attempt = 0; attempt < 10'000 && status != 200; ++attempt) {
      auto peer = std::make_unique<RawPeer>(server.server->port());
      peer->send(simple_get);
      status = peer->status();
      if (status == 200) peers.push_back(std::move(peer));
    }
    ASSERT_EQ(status, 200) << i;
  }
}

// Keeps the requests until the test answers them.
struct Holding {
  explicit Holding(HttpServerOptions options)
      : server(must(HttpServer::create(loop, std::move(options),
                                       [this](const HttpRequest&, const Responder& responder) {
                                         CHECK(waiting.try_push(Responder(responder)));
                                       }))) {}
  ~Holding() { server->stop(); }
  Responder next() { return std::move(*waiting.pop()); }

  base::Queue<Responder> waiting{100};
  Loop loop{1};
  std::unique_ptr<HttpServer> server;
};

std::string post(size_t bytes) {
  return base::format("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{}", bytes,
                      std::string(bytes, 'x'));
}

TEST(HttpServerLimits, bodies_over_what_may_be_held_get_429_until_others_are_answered) {
  HttpServerOptions options;
  options.max_held_bytes = 100'000;
  Holding holding(std::move(options));
  RawPeer first(holding.server->port());
  first.send(post(90'000));
  const Responder unanswered = holding.next();
  {
    RawPeer second(holding.server->port());
    second.send(post(20'000));
    EXPECT_EQ(second.status(), 429);
    EXPECT_TRUE(second.is_closed());
    RawPeer in_pieces(holding.server->port());
    in_pieces.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4e20\r\n" +
                   std::string(20'000, 'x') + "\r\n");
    EXPECT_EQ(in_pieces.status(), 429);
    RawPeer small(holding.server->port());
    small.send(post(1'000));
    holding.next().respond({200, {}, "ok"});
    EXPECT_EQ(small.status(), 200);
  }
  unanswered.respond({200, {}, "ok"});
  EXPECT_EQ(first.status(), 200);
  RawPeer third(holding.server->port());
  third.send(post(90'000));
  holding.next().respond({200, {}, "ok"});
  EXPECT_EQ(third.status(), 200);
}

TEST(HttpServerLimits, what_a_peer_does_not_read_counts_until_it_is_cut) {
  HttpServerOptions options = hasty();
  options.idle_timeout = std::chrono::seconds(10);
  options.max_held_bytes = 1'000'000;
  Loop loop(1);
  const auto server = must(
      HttpServer::create(loop, options, [](const HttpRequest& head, const Responder& responder) {
        responder.respond({200, {}, std::string(head.target == "/big" ? 64'000'000 : 1, 'x')});
      }));
  RawPeer slow(server->port());
  slow.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  int status = 0;
  // It is refused while the big answer waits, and served again once its reader was cut.
  bool refused = false;
  for (int i = 0; i < 10'000 && !(refused && status == 200); ++i) {
    RawPeer peer(server->port());
    peer.send(post(1'000));
    status = peer.status();
    refused = refused || status == 429;
  }
  EXPECT_TRUE(refused);
  EXPECT_EQ(status, 200);
  server->stop();
}

// A server that asks for each larger body, and whose peers are newcomers until a request of theirs
// had the header Key.
struct GuardedServer {
  explicit GuardedServer(HttpServerOptions options = {}) {
    options.body_limit = [](const HttpRequest&) { return size_t{1} << 20; };
    options.admit = [this](const HttpRequest& head) {
      ++asked;
      const std::string* const key = find_header(head.headers, "Key");
      if (key != nullptr) return Admission{.account = *key, .refusal = {}};
      return Admission{.account = {}, .refusal = HttpResponse{403, {}, "no key"}};
    };
    server = must(HttpServer::create(
        loop, std::move(options), [this](const HttpRequest& request, const Responder& responder) {
          ++handled;
          const std::string* const key = find_header(request.headers, "Key");
          if (key != nullptr) responder.vouch(*key);
          responder.respond({200, {}, "ok"});
        }));
  }
  ~GuardedServer() { server->stop(); }
  RawPeer peer() const { return RawPeer(server->port()); }

  std::atomic<int> asked{0};
  std::atomic<int> handled{0};
  Loop loop{1};
  std::unique_ptr<HttpServer> server;
};

std::string post_of(const std::string& headers, size_t length) {
  return "POST / HTTP/1.1\r\nHost: h\r\n" + headers + "Content-Length: " + std::to_string(length) +
         "\r\n\r\n";
}

TEST(HttpServerAdmission, a_large_body_is_refused_before_it_is_sent) {
  const GuardedServer server;
  RawPeer peer = server.peer();
  peer.send(post_of("", 500'000));
  EXPECT_EQ(peer.status(), 403);
  EXPECT_TRUE(peer.is_closed());
  RawPeer chunked = server.peer();
  chunked.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(chunked.status(), 403);
  EXPECT_EQ(server.handled, 0);
  RawPeer known = server.peer();
  known.send(post_of("Key: a\r\n", 500'000) + std::string(500'000, 'x'));
  EXPECT_EQ(known.status(), 200);
  EXPECT_EQ(server.asked, 3);
}

TEST(HttpServerAdmission, a_small_body_is_left_to_the_handler) {
  const GuardedServer server;
  RawPeer peer = server.peer();
  peer.send(post_of("", 3) + "abc");
  EXPECT_EQ(peer.status(), 200);
  EXPECT_EQ(server.asked, 0);
}

TEST(HttpServerAdmission, one_account_that_keeps_bodies_unfinished_leaves_room_to_others) {
  HttpServerOptions options;
  options.max_held_bytes_of_account = 300'000;
  const GuardedServer server(std::move(options));
  RawPeer first = server.peer();
  first.send(post_of("Key: loud\r\n", 250'000) + std::string(240'000, 'x'));
  RawPeer second = server.peer();
  second.send(post_of("Key: loud\r\n", 250'000) + std::string(249'000, 'x'));
  // One of the two is over the account's share.
  RawPeer other = server.peer();
  other.send(post_of("Key: quiet\r\n", 250'000) + std::string(250'000, 'x'));
  EXPECT_EQ(other.status(), 200);
  first.send(std::string(10'000, 'x'));
  second.send(std::string(1'000, 'x'));
  const int statuses[] = {first.status(), second.status()};
  EXPECT_EQ(std::ranges::count(statuses, 429) + std::ranges::count(statuses, 0), 1);
  // What was held is given back.
  RawPeer later = server.peer();
  later.send(post_of("Key: loud\r\n", 250'000) + std::string(250'000, 'x'));
  EXPECT_EQ(later.status(), 200);
}

TEST(HttpServerAdmission, the_oldest_newcomers_of_an_address_give_way_and_known_peers_stay) {
  HttpServerOptions options;
  options.max_newcomers_of_address = 4;
  const GuardedServer server(std::move(options));
  RawPeer known = server.peer();
  known.send("GET / HTTP/1.1\r\nHost: h\r\nKey: a\r\n\r\n");
  EXPECT_EQ(known.status(), 200);
  std::vector<RawPeer> idle;
  for (int i = 0; i < 12; ++i) idle.push_back(server.peer());
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(idle[static_cast<size_t>(i)].is_closed()) << i;
  known.send("GET / HTTP/1.1\r\nHost: h\r\nKey: a\r\n\r\n");
  EXPECT_EQ(known.status(), 200);
  idle.back().send(simple_get);
  EXPECT_EQ(idle.back().status(), 200);
}

TEST(HttpServerAdmission, unfinished_heads_are_bounded_together) {
  HttpServerOptions options;
  options.max_newcomer_bytes = 100'000;
  const GuardedServer server(std::move(options));
  std::vector<RawPeer> unfinished;
  for (int i = 0; i < 4; ++i) {
    unfinished.push_back(server.peer());
    unfinished.back().send("GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(40'000, 'a'));
  }
  EXPECT_TRUE(unfinished[0].is_closed());
  EXPECT_TRUE(unfinished[1].is_closed());
  unfinished[3].send("\r\n\r\n");
  EXPECT_EQ(unfinished[3].status(), 200);
}

TEST(HttpServerAdmission, an_account_with_too_many_connections_gets_its_answers_one_by_one) {
  HttpServerOptions options;
  options.max_connections_of_account = 1;
  const GuardedServer server(std::move(options));
  const std::string request = "GET / HTTP/1.1\r\nHost: h\r\nKey: a\r\n\r\n";
  RawPeer first = server.peer();
  first.send(request);
  EXPECT_EQ(first.status(), 200);
  RawPeer second = server.peer();
  second.send(request);
  EXPECT_EQ(second.status(), 200);
  EXPECT_TRUE(second.is_closed());
  first.send(request);
  EXPECT_EQ(first.status(), 200);
}

}  // namespace
}  // namespace net
