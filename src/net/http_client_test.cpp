#include "net/http_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "net/address.h"
#include "net/http_server.h"
#include "net/testing.h"

namespace net {
namespace {

using std::chrono::milliseconds;
using testing::Mailbox;
using testing::must;
using testing::RawPeer;

Url local(uint16_t port) {
  return {"http", "127.0.0.1", port, "/"};
}

// A server that does to each connection, one after the other, what a test wants.
class ScriptedServer {
 public:
  using Script = std::function<void(RawPeer&)>;

  explicit ScriptedServer(std::vector<Script> scripts)
      : listener_(must(listen_tcp("127.0.0.1", 0))),
        port_(local_port(listener_.get())),
        thread_([this, all = std::move(scripts)] {
          for (const Script& script : all) {
            pollfd wanted{listener_.get(), POLLIN, 0};
            ASSERT_EQ(::poll(&wanted, 1, testing::patience_ms), 1);
            RawPeer peer(Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK)));
            ++accepted_;
            script(peer);
          }
        }) {}
  ~ScriptedServer() { thread_.join(); }

  uint16_t port() const { return port_; }
  int accepted() const { return accepted_; }

 private:
  Fd listener_;
  uint16_t port_;
  std::atomic<int> accepted_{0};
  std::thread thread_;
};

ScriptedServer::Script reply(const std::string& response) {
  return [response](RawPeer& peer) {
    peer.take_until("\r\n\r\n");
    peer.send(response);
  };
}

struct EchoServer {
  EchoServer()
      : server(must(HttpServer::create(
            loop, {}, [this](const HttpRequest& request, const Responder& responder) {
              addresses.put(request.remote_address);
              const auto host = std::string(header_or_empty(request.headers, "Host"));
              responder.respond({200, {{"X-Host", host}}, request.target + " " + request.body});
            }))) {}
  ~EchoServer() { server->stop(); }

  Mailbox<std::string> addresses;
  Loop loop{1};
  std::unique_ptr<HttpServer> server;
};

TEST(HttpClient, sends_a_request_and_keeps_the_connection_for_the_next) {
  EchoServer echo;
  const auto client = must(HttpClient::create(local(echo.server->port())));
  const auto response =
      must(client->request({.method = "POST", .target = "/x?y", .body = "hello"}));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "/x?y hello");
  EXPECT_EQ(header_or_empty(response.headers, "X-Host"),
            base::format("127.0.0.1:{}", echo.server->port()));
  EXPECT_EQ(must(client->request({})).body, "/ ");
  EXPECT_EQ(echo.addresses.take(), echo.addresses.take());
}

TEST(HttpClient, sends_a_host_of_the_caller_as_it_is) {
  EchoServer echo;
  const auto client = must(HttpClient::create(local(echo.server->port())));
  const auto response = must(client->request({.headers = {{"Host", "signed.example:1"}}}));
  EXPECT_EQ(header_or_empty(response.headers, "X-Host"), "signed.example:1");
}

TEST(HttpClient, several_threads_share_one_client) {
  EchoServer echo;
  const auto client = must(HttpClient::create(local(echo.server->port())));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&client, i] {
      for (int k = 0; k < 50; ++k) {
        const std::string target = base::format("/{}/{}", i, k);
        EXPECT_EQ(must(client->request({.target = target})).body, target + " ");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HttpClient, speaks_over_a_unix_socket) {
  const std::string path =
      (std::filesystem::temp_directory_path() / base::format("berth-client-{}.sock", getpid()))
          .string();
  Loop loop(1);
  HttpServerOptions options;
  options.unix_socket_path = path;
  const auto server =
      must(HttpServer::create(loop, options, [](const HttpRequest&, const Responder& responder) {
        responder.respond({200, {}, "unix"});
      }));
  const auto client = must(HttpClient::create(must(parse_url("unix://" + path))));
  EXPECT_EQ(must(client->request({})).body, "unix");
  const auto nobody = must(HttpClient::create(must(parse_url("unix:///nonexistent/x.sock"))));
  const auto refused = nobody->request({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "ConnectionRefused");
  EXPECT_NE(refused.error().message.find("/nonexistent/x.sock"), std::string::npos);
}

TEST(HttpClient, a_refused_connection_names_the_address) {
  const uint16_t port = must(find_free_port("127.0.0.1"));
  const auto client = must(HttpClient::create(local(port)));
  const auto response = client->request({});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, "ConnectionRefused");
  EXPECT_NE(response.error().message.find(base::format("127.0.0.1:{}", port)), std::string::npos);
}

TEST(HttpClient, refuses_a_scheme_that_is_not_http) {
  EXPECT_EQ(HttpClient::create(must(parse_url("ws://a"))).error().code, "InvalidUrl");
}

TEST(HttpClient, a_server_that_says_nothing_times_out) {
  ScriptedServer server({[](RawPeer& peer) { peer.rest(); }});
  const auto client = must(HttpClient::create(local(server.port())));
  const auto response = client->request({}, {.total_timeout = milliseconds{30}});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, "Timeout");
}

TEST(HttpClient, a_broken_response_is_an_error_of_its_kind) {
  ScriptedServer server({reply(""), reply("nonsense\r\n\r\n"),
                         reply("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
                         reply("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")});
  const auto client = must(HttpClient::create(local(server.port())));
  const RequestOptions options{.max_body_bytes = 5, .retry = Retry::Never};
  for (const char* code : {"ConnectionClosed", "HttpError", "ConnectionClosed", "HttpError"}) {
    const auto response = client->request({}, options);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, code) << response.error().message;
  }
}

TEST(HttpClient, skips_100_continue_and_reads_to_the_end_of_the_connection) {
  ScriptedServer server({reply("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it")});
  const auto client = must(HttpClient::create(local(server.port())));
  EXPECT_EQ(must(client->request({})).body, "all of it");
}

TEST(HttpClient, a_response_to_head_has_no_body) {
  ScriptedServer server({[](RawPeer& peer) {
    for (int i = 0; i < 2; ++i) {
      peer.take_until("\r\n\r\n");
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    }
  }});
  const auto client = must(HttpClient::create(local(server.port())));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(must(client->request({.method = "HEAD"})).body, "");
  EXPECT_EQ(server.accepted(), 1);
}

// Keeps one connection, then closes it exactly when the next request comes.
ScriptedServer::Script answer_once_then_close() {
  return [](RawPeer& peer) {
    peer.take_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1");
    peer.take_until("\r\n\r\n");
  };
}

TEST(HttpClient, a_dead_kept_connection_is_replaced_for_an_idempotent_request) {
  ScriptedServer server(
      {answer_once_then_close(), reply("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2")});
  const auto client = must(HttpClient::create(local(server.port())));
  EXPECT_EQ(must(client->request({})).body, "1");
  EXPECT_EQ(must(client->request({})).body, "2");
}

TEST(HttpClient, a_post_is_not_sent_twice_unless_the_caller_says_so) {
  ScriptedServer server({answer_once_then_close(), answer_once_then_close(),
                         reply("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3")});
  const auto client = must(HttpClient::create(local(server.port())));
  const HttpRequest post{.method = "POST"};
  EXPECT_EQ(must(client->request(post)).body, "1");
  EXPECT_EQ(client->request(post).error().code, "ConnectionClosed");
  EXPECT_EQ(must(client->request(post)).body, "1");
  EXPECT_EQ(must(client->request(post, {.retry = Retry::Always})).body, "3");
}

TEST(HttpClient, the_answer_of_a_server_that_does_not_read_all_counts) {
  ScriptedServer server({[](RawPeer& peer) {
    peer.take_until("\r\n\r\n");
    peer.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig");
    peer.half_close();
    peer.rest();
  }});
  const auto client = must(HttpClient::create(local(server.port())));
  const auto response =
      must(client->request({.method = "POST", .body = std::string(size_t{8} << 20, 'x')}));
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body, "big");
}

TEST(HttpClientStream, gives_chunks_as_they_come) {
  Mailbox<bool> seen;
  ScriptedServer server({[&](RawPeer& peer) {
    peer.take_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    seen.take();  // The second chunk is sent only when the first has been seen.
    peer.send("3\r\ntwo\r\n0\r\n\r\n");
  }});
  const auto client = must(HttpClient::create(local(server.port())));
  std::string all;
  const auto response = must(client->stream({}, {}, [&](std::string_view chunk) {
    all += chunk;
    if (all == "one") seen.put(true);
    return true;
  }));
  EXPECT_EQ(all, "onetwo");
  EXPECT_EQ(response.body, "");
}

TEST(HttpClientStream, stops_when_the_caller_has_enough) {
  ScriptedServer server({[](RawPeer& peer) {
    peer.take_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\nendless");
    EXPECT_TRUE(peer.is_closed());
  }});
  const auto client = must(HttpClient::create(local(server.port())));
  const auto response = client->stream({}, {}, [](std::string_view) { return false; });
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
}

TEST(HttpClientStream, the_body_of_an_error_is_in_the_response) {
  ScriptedServer server(
      {reply("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone"),
       reply("HTTP/1.1 500 Bad\r\nContent-Length: 70000\r\n\r\n" + std::string(70'000, 'x'))});
  const auto client = must(HttpClient::create(local(server.port())));
  const auto never = [](std::string_view) {
    ADD_FAILURE();
    return true;
  };
  const auto missing = must(client->stream({}, {}, never));
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body, "none");
  const auto first = client->request({}, {.retry = Retry::Always});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->body.size(), 70'000U);
}

TEST(HttpClientStream, a_long_error_body_is_cut) {
  ScriptedServer server(
      {reply("HTTP/1.1 500 Bad\r\nContent-Length: 70000\r\n\r\n" + std::string(70'000, 'x'))});
  const auto client = must(HttpClient::create(local(server.port())));
  const auto response = must(client->stream({}, {}, [](std::string_view) { return true; }));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body.size(), size_t{64} << 10);
}

TEST(HttpClientStream, silence_beyond_the_idle_timeout_is_an_error) {
  ScriptedServer server({[](RawPeer& peer) {
    peer.take_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\nfirst");
    peer.rest();
  }});
  const auto client = must(HttpClient::create(local(server.port())));
  const auto response =
      client->stream({}, {.idle_timeout = milliseconds{30}}, [](std::string_view) { return true; });
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, "Timeout");
}

TEST(HttpClient, cancel_wakes_a_blocked_stream_and_refuses_what_comes_later) {
  Mailbox<bool> streaming;
  ScriptedServer server({[](RawPeer& peer) {
    peer.take_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\nfirst");
    peer.rest();
  }});
  const auto client = must(HttpClient::create(local(server.port())));
  std::thread blocked([&] {
    const auto response = client->stream({}, {}, [&](std::string_view) {
      streaming.put(true);
      return true;
    });
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, "ConnectionClosed");
  });
  streaming.take();
  client->cancel();
  blocked.join();
  EXPECT_EQ(client->request({}).error().code, "ConnectionClosed");
}

TEST(HttpClientUpgrade, gives_the_raw_stream_in_both_directions) {
  ScriptedServer server({[](RawPeer& peer) {
    peer.take_until("\r\n\r\n");
    peer.send("HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\nwelcome");
    EXPECT_TRUE(peer.take_until("question"));
    peer.send("answer");
    EXPECT_TRUE(peer.is_closed());
  }});
  const auto client = must(HttpClient::create(local(server.port())));
  auto upgraded = must(client->upgrade({.method = "POST"}));
  EXPECT_EQ(upgraded.response.status, 101);
  ASSERT_NE(upgraded.stream, nullptr);
  EXPECT_EQ(must(upgraded.stream->read(3)), "wel");
  EXPECT_EQ(must(upgraded.stream->read(100)), "come");
  EXPECT_TRUE(upgraded.stream->write("question"));
  EXPECT_EQ(must(upgraded.stream->read(100)), "answer");
  EXPECT_TRUE(upgraded.stream->close_write());
  EXPECT_EQ(must(upgraded.stream->read(100)), "");
}

TEST(HttpClientUpgrade, a_refusal_has_its_body_and_a_stream_can_be_cancelled) {
  ScriptedServer server({reply("HTTP/1.1 409 Conflict\r\nConnection: close\r\nContent-Length: "
                               "7\r\n\r\nstopped"),
                         [](RawPeer& peer) {
                           peer.take_until("\r\n\r\n");
                           peer.send("HTTP/1.1 200 OK\r\n\r\n");
                           peer.rest();
                         }});
  const auto client = must(HttpClient::create(local(server.port())));
  const auto refused = must(client->upgrade({.method = "POST"}));
  EXPECT_EQ(refused.response.body, "stopped");
  EXPECT_EQ(refused.stream, nullptr);
  auto upgraded = must(client->upgrade({.method = "POST"}));
  ASSERT_NE(upgraded.stream, nullptr);
  std::thread reader(
      [&] { EXPECT_EQ(upgraded.stream->read(10).error().code, "ConnectionClosed"); });
  upgraded.stream->cancel();
  reader.join();
}

}  // namespace
}  // namespace net
