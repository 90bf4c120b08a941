#include "net/http_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "net/testing.h"

namespace net {
namespace {

using std::chrono::milliseconds;
using testing::Mailbox;
using testing::must;
using testing::RawPeer;
using testing::simple_get;

// Answers with what came: method, target and body.
void echo(const HttpRequest& request, const Responder& responder) {
  responder.respond({200, {}, request.method + " " + request.target + " " + request.body});
}

struct ServerWithHandler {
  explicit ServerWithHandler(HttpServerOptions options = {}, HttpHandler handler = echo)
      : server(must(HttpServer::create(loop, std::move(options), std::move(handler)))) {}
  RawPeer peer() const { return RawPeer(server->port()); }

  Loop loop{2};
  std::unique_ptr<HttpServer> server;
};

TEST(HttpServer, answers_one_request_after_the_other_on_one_connection) {
  ServerWithHandler server;
  RawPeer peer = server.peer();
  for (int i = 0; i < 3; ++i) {
    peer.send(base::format("POST /{} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi", i));
    const auto response = peer.response();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, base::format("POST /{} hi", i));
    EXPECT_NE(find_header(response->headers, "Date"), nullptr);
  }
}

TEST(HttpServer, answers_pipelined_requests_in_their_order) {
  ServerWithHandler server;
  RawPeer peer = server.peer();
  std::string all;
  for (int i = 0; i < 2000; ++i) all += base::format("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", i);
  peer.send(all);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(peer.response().value().body, base::format("GET /{} ", i));
  }
}

TEST(HttpServer, tells_the_handler_everything_about_the_request) {
  Mailbox<HttpRequest> seen;
  ServerWithHandler server({}, [&](HttpRequest request, const Responder& responder) {
    seen.put(std::move(request));
    responder.respond({204, {}, ""});
  });
  RawPeer peer = server.peer();
  peer.send("GET /a?b=%20c HTTP/1.1\r\nHost: h:1\r\nX-A: 1\r\nx-a: 2\r\n\r\n");
  EXPECT_EQ(peer.status(), 204);
  const HttpRequest request = seen.take();
  EXPECT_EQ(request.target, "/a?b=%20c");
  EXPECT_EQ(request.headers, (Headers{{"Host", "h:1"}, {"X-A", "1"}, {"x-a", "2"}}));
  EXPECT_TRUE(request.remote_address.starts_with("127.0.0.1:")) << request.remote_address;
  EXPECT_FALSE(request.tls);
}

TEST(HttpServer, reads_chunked_bodies) {
  ServerWithHandler server;
  RawPeer peer = server.peer();
  peer.send(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n"
      "\r\n");
  EXPECT_EQ(peer.response().value().body, "POST / abcde");
}

TEST(HttpServer, reads_a_large_body_byte_for_byte) {
  HttpServerOptions options;
  options.body_limit = [](const HttpRequest&) { return size_t{16} << 20; };
  ServerWithHandler server(std::move(options),
                           [](const HttpRequest& request, const Responder& responder) {
                             responder.respond({200, {}, request.body});
                           });
  std::string body(size_t{8} << 20, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  RawPeer peer = server.peer();
  peer.send(base::format("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", body.size()));
  peer.send(body);
  EXPECT_TRUE(peer.response().value().body == body);
}

TEST(HttpServer, a_response_to_head_has_the_length_but_no_body) {
  ServerWithHandler server({}, [](const HttpRequest& request, const Responder& responder) {
    if (request.target == "/blob") {
      return (void)responder.respond({200, {{"Content-Length", "99"}}, ""});
    }
    responder.respond({200, {}, "body"});
  });
  RawPeer peer = server.peer();
  peer.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(header_or_empty(peer.response(true).value().headers, "Content-Length"), "4");
  peer.send("HEAD /blob HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(header_or_empty(peer.response(true).value().headers, "Content-Length"), "99");
  peer.send(simple_get);
  EXPECT_EQ(peer.response().value().body, "body");
}

TEST(HttpServer, closes_when_the_client_asks_for_it) {
  ServerWithHandler server;
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawPeer peer = server.peer();
    peer.send(request);
    EXPECT_EQ(header_or_empty(peer.response().value().headers, "Connection"), "close");
    EXPECT_TRUE(peer.is_closed());
  }
  RawPeer peer = server.peer();
  peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(header_or_empty(peer.response().value().headers, "Connection"), "keep-alive");
  peer.send(simple_get);
  EXPECT_EQ(peer.status(), 200);
}

TEST(HttpServer, expect_100_continue_is_answered_before_the_body) {
  ServerWithHandler server;
  RawPeer peer = server.peer();
  peer.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(peer.take_until("HTTP/1.1 100 Continue\r\n\r\n"));
  peer.send("hi");
  EXPECT_EQ(peer.response().value().body, "POST / hi");
  peer.send(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-Continue\r\n\r\n");
  ASSERT_TRUE(peer.take_until("HTTP/1.1 100 Continue\r\n\r\n"));
  peer.send("1\r\nx\r\n0\r\n\r\n");
  EXPECT_EQ(peer.response().value().body, "POST / x");
}

TEST(HttpServer, answers_a_peer_that_has_closed_its_half) {
  ServerWithHandler server;
  RawPeer peer = server.peer();
  peer.send(simple_get);
  peer.half_close();
  EXPECT_EQ(peer.status(), 200);
  EXPECT_TRUE(peer.is_closed());
}

TEST(HttpServer, a_peer_that_leaves_in_the_middle_harms_nobody) {
  ServerWithHandler server;
  for (const char* part :
       {"", "GET", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"}) {
    RawPeer peer = server.peer();
    peer.send(part);
    peer.half_close();
    EXPECT_TRUE(peer.is_closed());
  }
  RawPeer peer = server.peer();
  peer.send(simple_get);
  EXPECT_EQ(peer.status(), 200);
}

TEST(HttpServer, a_peer_that_leaves_before_its_answer_harms_nobody) {
  Mailbox<std::shared_ptr<Responder>> waiting;
  ServerWithHandler server({}, [&](const HttpRequest&, Responder responder) {
    waiting.put(std::make_shared<Responder>(std::move(responder)));
  });
  for (int i = 0; i < 3; ++i) {
    RawPeer peer = server.peer();
    peer.send(simple_get);
    const auto responder = waiting.take();
    peer.close();
    EXPECT_TRUE(responder->respond({200, {}, std::string(1 << 20, 'x')}));
  }
  RawPeer peer = server.peer();
  peer.send(simple_get);
  waiting.take()->respond({200, {}, "ok"});
  EXPECT_EQ(peer.response().value().body, "ok");
}

TEST(HttpServer, a_responder_that_is_dropped_answers_500_once) {
  ServerWithHandler server({}, [](const HttpRequest& request, Responder responder) {
    const Responder copy = responder;
    if (request.target == "/yes") copy.respond({201, {}, ""});
  });
  RawPeer peer = server.peer();
  peer.send(simple_get);
  EXPECT_EQ(peer.status(), 500);
  peer.send("GET /yes HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(peer.status(), 201);
}

TEST(HttpServer, the_second_answer_is_refused) {
  std::atomic<int> answers{0};
  ServerWithHandler server({}, [&](const HttpRequest&, const Responder& responder) {
    for (const int status : {200, 404}) answers += responder.respond({status, {}, ""}) ? 1 : 0;
  });
  RawPeer peer = server.peer();
  peer.send(simple_get);
  EXPECT_EQ(peer.status(), 200);
  EXPECT_EQ(answers, 1);
}

TEST(HttpServer, an_impossible_status_becomes_500) {
  ServerWithHandler server(
      {}, [](const HttpRequest&, const Responder& responder) { responder.respond({100, {}, ""}); });
  RawPeer peer = server.peer();
  peer.send(simple_get);
  EXPECT_EQ(peer.status(), 500);
}

TEST(HttpServer, answers_come_from_other_threads_and_in_any_order_of_connections) {
  struct Waiting {
    std::string target;
    std::shared_ptr<Responder> responder;
  };
  base::Queue<Waiting> waiting(100);
  ServerWithHandler server({}, [&](const HttpRequest& request, Responder responder) {
    waiting.push({request.target, std::make_shared<Responder>(std::move(responder))});
  });
  constexpr size_t count = 20;
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (size_t i = 0; i < count; ++i) {
    peers.push_back(std::make_unique<RawPeer>(server.server->port()));
    peers[i]->send(base::format("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", i));
  }
  std::thread answering([&] {
    std::vector<Waiting> all;
    while (all.size() < count) all.push_back(std::move(*waiting.pop()));
    for (auto one = all.rbegin(); one != all.rend(); ++one) {
      one->responder->respond({200, {}, one->target});
    }
  });
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(peers[i]->response().value().body, base::format("/{}", i));
  }
  answering.join();
}

TEST(HttpServer, listens_on_a_unix_socket_and_takes_the_place_of_a_dead_one) {
  const std::string path =
      (std::filesystem::temp_directory_path() / base::format("berth-net-{}.sock", getpid()))
          .string();
  {
    const Fd dead = must(listen_unix(path));
  }
  Loop loop(1);
  HttpServerOptions options;
  options.unix_socket_path = path;
  auto server = must(HttpServer::create(loop, options, echo));
  EXPECT_EQ(server->port(), 0);
  RawPeer peer(must(unix_endpoint(path)));
  peer.send("GET /unix HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(peer.response().value().body, "GET /unix ");
  // One that lives is left alone.
  EXPECT_EQ(HttpServer::create(loop, options, echo).error().code, "AddressInUse");
  server->stop();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(HttpServer, says_why_it_cannot_listen) {
  Loop loop(1);
  HttpServerOptions options;
  options.address = "nowhere";
  EXPECT_EQ(HttpServer::create(loop, options, echo).error().code, "InvalidAddress");
  ServerWithHandler taken;
  options.address = "127.0.0.1";
  options.port = taken.server->port();
  const auto second = HttpServer::create(loop, options, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "AddressInUse");
  EXPECT_NE(second.error().message.find(std::to_string(options.port)), std::string::npos);
}

TEST(HttpServer, stop_cuts_connections_and_no_handler_runs_after_it) {
  std::atomic<bool> stopped{false};
  Mailbox<std::shared_ptr<Responder>> waiting;
  ServerWithHandler server({}, [&](const HttpRequest&, Responder responder) {
    EXPECT_FALSE(stopped);
    waiting.put(std::make_shared<Responder>(std::move(responder)));
  });
  RawPeer idle = server.peer();
  RawPeer half = server.peer();
  half.send("GET / HT");
  RawPeer busy = server.peer();
  busy.send(simple_get);
  const auto responder = waiting.take();
  server.server->stop();
  stopped = true;
  responder->respond({200, {}, "too late"});
  EXPECT_TRUE(idle.is_closed());
  EXPECT_TRUE(half.is_closed());
  EXPECT_TRUE(busy.is_closed());
  server.server->stop();
}

TEST(HttpServer, the_loop_may_stop_before_the_server) {
  Mailbox<std::shared_ptr<Responder>> waiting;
  ServerWithHandler server({}, [&](const HttpRequest&, Responder responder) {
    waiting.put(std::make_shared<Responder>(std::move(responder)));
  });
  RawPeer peer = server.peer();
  peer.send(simple_get);
  const auto responder = waiting.take();
  server.loop.stop();
  EXPECT_TRUE(peer.is_closed());
  responder->respond({200, {}, "too late"});
  server.server.reset();
}

TEST(HttpServer, starting_and_stopping_under_load_is_clean) {
  for (int round = 0; round < 10; ++round) {
    ServerWithHandler server;
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int i = 0; i < 20; ++i) {
      peers.push_back(std::make_unique<RawPeer>(server.server->port()));
      peers.back()->send(simple_get);
    }
    if (round % 2 == 0) server.server->stop();
  }
}

}  // namespace
}  // namespace net
