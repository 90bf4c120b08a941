#include "net/websocket.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "net/address.h"
#include "net/http_server.h"
#include "net/testing.h"
#include "net/websocket_client.h"

namespace net {
namespace {

using std::chrono::milliseconds;
using testing::Mailbox;
using testing::must;
using testing::RawPeer;

struct Message {
  std::string text;
  bool is_text = true;
  friend bool operator==(const Message&, const Message&) = default;
};

struct Closed {
  uint16_t code = 0;
  std::string reason;
};

// One end, whose events a test takes one by one.
struct End {
  WebSocketHandlers handlers() {
    return {[this](std::string text, bool is_text) { messages.put({std::move(text), is_text}); },
            [this](uint16_t code, std::string reason) { closes.put({code, std::move(reason)}); }};
  }
  Mailbox<Message> messages;
  Mailbox<Closed> closes;
  std::shared_ptr<WebSocket> socket;
};

using Opened = base::Result<std::shared_ptr<WebSocket>>;

struct OpenedBox {
  OpenedBox() : result(base::fail("Test", "nothing came")) {}
  explicit OpenedBox(Opened from) : result(std::move(from)) {}
  Opened result;
};

// Both ends in one process. The server accepts each upgrade, unless a test says otherwise.
struct Pair {
  explicit Pair(HttpServerOptions options = {}, UpgradeHandler upgrade = {}) {
    if (options.tls) ca_pem = options.tls->certificate_chain_pem;
    if (!upgrade) {
      upgrade = [this](HttpRequest request, const Upgrade& handle) {
        server_end.socket = handle.accept(server_end.handlers());
        requests.put(std::move(request));
      };
    }
    server = must(HttpServer::create(
        loop, std::move(options),
        [](const HttpRequest&, const Responder& responder) { responder.respond({200, {}, ""}); },
        std::move(upgrade)));
  }
  ~Pair() { loop.stop(); }

  WebSocketRequest request(const std::string& path = "/ws?a=b") const {
    WebSocketRequest made;
    made.url = {ca_pem.empty() ? "ws" : "wss", "127.0.0.1", server->port(), path};
    made.tls.ca_pem = ca_pem;
    return made;
  }

  Opened connect(WebSocketRequest wanted) {
    Mailbox<OpenedBox> opened;
    connect_websocket(loop, std::move(wanted), client_end.handlers(),
                      [&](Opened result) { opened.put(OpenedBox(std::move(result))); });
    Opened result = opened.take().result;
    if (result) client_end.socket = *result;
    return result;
  }
  void open() { ASSERT_TRUE(connect(request())); }

  std::string ca_pem;
  Mailbox<HttpRequest> requests;
  End server_end;
  End client_end;
  Loop loop{2};
  std::unique_ptr<HttpServer> server;
};

void exchange_messages(Pair& pair) {
  pair.open();
  pair.requests.take();
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(pair.client_end.socket->send(base::format("question {}", i)));
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(pair.server_end.messages.take(), (Message{base::format("question {}", i), true}));
  }
  const std::string large(900'000, 'x');
  EXPECT_TRUE(pair.server_end.socket->send(large));
  EXPECT_TRUE(pair.server_end.socket->send_binary(std::string("\0\xff", 2)));
  EXPECT_TRUE(pair.server_end.socket->send(""));
  EXPECT_TRUE(pair.client_end.messages.take().text == large);
  EXPECT_EQ(pair.client_end.messages.take(), (Message{std::string("\0\xff", 2), false}));
  EXPECT_EQ(pair.client_end.messages.take(), (Message{"", true}));
  pair.client_end.socket->close(4001, "enough");
  const Closed at_server = pair.server_end.closes.take();
  EXPECT_EQ(at_server.code, 4001);
  EXPECT_EQ(at_server.reason, "enough");
  EXPECT_EQ(pair.client_end.closes.take().code, 4001);
  EXPECT_FALSE(pair.client_end.socket->send("late"));
  EXPECT_FALSE(pair.server_end.socket->send("late"));
}

TEST(WebSocket, passes_messages_and_close_codes_both_ways) {
  Pair pair;
  exchange_messages(pair);
}

TEST(WebSocket, passes_messages_and_close_codes_over_tls) {
  HttpServerOptions options;
  options.tls = testing::make_certificate("IP:127.0.0.1");
  Pair pair(std::move(options));
  exchange_messages(pair);
}

TEST(WebSocket, the_server_closes_after_what_it_has_queued) {
  Pair pair;
  pair.open();
  pair.requests.take();
  EXPECT_TRUE(pair.server_end.socket->send("last words"));
  pair.server_end.socket->close(1001, "going away");
  EXPECT_FALSE(pair.server_end.socket->send("more"));
  pair.server_end.socket->close(1000, "again");
  EXPECT_EQ(pair.client_end.messages.take().text, "last words");
  const Closed closed = pair.client_end.closes.take();
  EXPECT_EQ(closed.code, 1001);
  EXPECT_EQ(closed.reason, "going away");
  EXPECT_EQ(pair.server_end.closes.take().code, 1001);
}

TEST(WebSocket, the_opening_request_carries_headers_and_host_as_given) {
  Pair pair;
  WebSocketRequest request = pair.request();
  request.headers = {{"Host", "signed.example:8443"},
                     {"Authorization", "AWS4-HMAC-SHA256 x"},
                     {"X-Amz-Date", "20260131T120000Z"}};
  ASSERT_TRUE(pair.connect(std::move(request)));
  const HttpRequest seen = pair.requests.take();
  EXPECT_EQ(seen.target, "/ws?a=b");
  EXPECT_EQ(header_or_empty(seen.headers, "Host"), "signed.example:8443");
  EXPECT_EQ(header_or_empty(seen.headers, "Authorization"), "AWS4-HMAC-SHA256 x");
  EXPECT_EQ(header_or_empty(seen.headers, "X-Amz-Date"), "20260131T120000Z");
}

TEST(WebSocket, without_a_host_header_the_url_names_it_with_its_port) {
  Pair pair;
  pair.open();
  EXPECT_EQ(header_or_empty(pair.requests.take().headers, "Host"),
            base::format("127.0.0.1:{}", pair.server->port()));
}

TEST(WebSocket, a_refusal_tells_its_status_and_body) {
  Pair pair({}, [](const HttpRequest&, const Upgrade& upgrade) {
    upgrade.refuse({403, {}, "{\"InactiveInstanceException\":\"gone\"}"});
    EXPECT_EQ(upgrade.accept({}), nullptr);
  });
  const Opened opened = pair.connect(pair.request());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "HttpError");
  EXPECT_NE(opened.error().message.find("403"), std::string::npos) << opened.error().message;
  EXPECT_NE(opened.error().message.find("InactiveInstanceException"), std::string::npos);
  EXPECT_TRUE(pair.client_end.closes.is_empty());
}

TEST(WebSocket, a_dropped_upgrade_is_refused_with_500) {
  Pair pair({}, [](const HttpRequest&, const Upgrade&) {});
  const Opened opened = pair.connect(pair.request());
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("500"), std::string::npos);
}

TEST(WebSocket, an_upgrade_may_be_accepted_on_another_thread) {
  Mailbox<std::shared_ptr<Upgrade>> waiting;
  Pair pair({}, [&](const HttpRequest&, const Upgrade& upgrade) {
    waiting.put(std::make_shared<Upgrade>(upgrade));
  });
  std::thread accepting([&] {
    const auto upgrade = waiting.take();
    pair.server_end.socket = upgrade->accept(pair.server_end.handlers());
    EXPECT_FALSE(upgrade->refuse({500, {}, ""}));
    EXPECT_TRUE(pair.server_end.socket->send("early"));
  });
  pair.open();
  accepting.join();
  EXPECT_EQ(pair.client_end.messages.take().text, "early");
}

TEST(WebSocket, a_message_that_is_too_big_closes_with_1009) {
  HttpServerOptions options;
  options.web_socket.max_message_bytes = 1000;
  Pair pair(std::move(options));
  pair.open();
  pair.requests.take();
  EXPECT_TRUE(pair.client_end.socket->send(std::string(1000, 'x')));
  EXPECT_EQ(pair.server_end.messages.take().text.size(), 1000U);
  EXPECT_TRUE(pair.client_end.socket->send(std::string(1001, 'x')));
  EXPECT_EQ(pair.server_end.closes.take().code, 1009);
  EXPECT_EQ(pair.client_end.closes.take().code, 1009);
  EXPECT_TRUE(pair.server_end.messages.is_empty());
}

TEST(WebSocket, a_peer_that_does_not_read_overflows_the_queue_and_is_cut) {
  HttpServerOptions options;
  options.web_socket.max_queued_bytes = 1 << 20;
  Pair pair(std::move(options));
  RawPeer peer(pair.server->port());
  peer.send(
      "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  EXPECT_TRUE(peer.take_until("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));  // The example of RFC 6455.
  pair.requests.take();
  int sent = 0;
  while (sent < 10'000 && pair.server_end.socket->send(std::string(100'000, 'x'))) ++sent;
  EXPECT_LT(sent, 10'000);
  const Closed closed = pair.server_end.closes.take();
  EXPECT_EQ(closed.code, 1006);
  EXPECT_NE(closed.reason.find("1048576"), std::string::npos) << closed.reason;
  EXPECT_FALSE(pair.server_end.socket->send("x"));
}

TEST(WebSocket, a_peer_that_breaks_the_rules_is_closed_with_1002) {
  Pair pair;
  RawPeer peer(pair.server->port());
  peer.send(
      "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  ASSERT_TRUE(peer.take_until("\r\n\r\n"));
  peer.send("\x81\x02hi");                                  // Not masked.
  EXPECT_EQ(peer.rest().substr(0, 4), "\x88\x02\x03\xea");  // Close, 1002.
  peer.close();
  EXPECT_EQ(pair.server_end.closes.take().code, 1002);
}

TEST(WebSocket, a_bad_opening_handshake_is_answered_and_reported) {
  Pair pair;
  RawPeer peer(pair.server->port());
  peer.send("GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  EXPECT_EQ(peer.status(), 400);
  EXPECT_EQ(pair.server_end.closes.take().code, 1006);
}

TEST(WebSocket, a_connection_that_breaks_closes_with_1006) {
  Pair pair;
  pair.open();
  pair.requests.take();
  pair.client_end.socket->abort();
  EXPECT_EQ(pair.client_end.closes.take().code, 1006);
  EXPECT_EQ(pair.server_end.closes.take().code, 1006);
}

TEST(WebSocket, pings_keep_a_silent_connection_and_a_dead_peer_is_noticed) {
  HttpServerOptions options;
  options.web_socket.idle_timeout = milliseconds{1'000};
  Pair pair(std::move(options));
  RawPeer dead(pair.server->port());
  End dead_end;
  dead.send(
      "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  ASSERT_TRUE(dead.take_until("\r\n\r\n"));
  pair.requests.take();
  EXPECT_EQ(pair.server_end.closes.take().code, 1006);  // It never answered the ping.

  pair.open();
  Mailbox<bool> waited;
  pair.loop.after(milliseconds{2'500}, [&] { waited.put(true); });
  waited.take();
  EXPECT_TRUE(pair.server_end.closes.is_empty());
  EXPECT_TRUE(pair.server_end.socket->send("still here"));
  EXPECT_EQ(pair.client_end.messages.take().text, "still here");
}

TEST(WebSocket, stopping_the_server_closes_its_sockets_once) {
  Pair pair;
  pair.open();
  pair.requests.take();
  pair.server->stop();
  EXPECT_EQ(pair.server_end.closes.take().code, 1006);
  EXPECT_EQ(pair.client_end.closes.take().code, 1006);
  EXPECT_FALSE(pair.server_end.socket->send("x"));
  pair.loop.stop();
  EXPECT_TRUE(pair.server_end.closes.is_empty());
}

TEST(WebSocket, stopping_the_loop_closes_every_end_once) {
  Pair pair;
  pair.open();
  pair.requests.take();
  pair.loop.stop();
  EXPECT_EQ(pair.server_end.closes.take().code, 1006);
  EXPECT_EQ(pair.client_end.closes.take().code, 1006);
  EXPECT_TRUE(pair.server_end.closes.is_empty());
  EXPECT_FALSE(pair.client_end.socket->send("x"));
  pair.client_end.socket->close(1000, "");
  pair.client_end.socket->abort();
}

TEST(WebSocket, many_threads_send_on_one_socket) {
  Pair pair;
  pair.open();
  pair.requests.take();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&pair, i] {
      for (int k = 0; k < 100; ++k) {
        EXPECT_TRUE(pair.client_end.socket->send(base::format("{} {}", i, k)));
      }
    });
  }
  std::array<int, 4> next{};
  for (int n = 0; n < 400; ++n) {
    const std::string text = pair.server_end.messages.take().text;
    const auto thread = static_cast<size_t>(text.front() - '0');
    EXPECT_EQ(text, base::format("{} {}", thread, next[thread]++));
  }
  for (std::thread& thread : threads) thread.join();
  // A message counts until its write is done, which the far end may see first.
  for (int i = 0; i < 10'000 && pair.client_end.socket->queued_bytes() > 0; ++i) usleep(1'000);
  EXPECT_EQ(pair.client_end.socket->queued_bytes(), 0U);
}

TEST(WebSocketClient, tells_why_it_cannot_connect) {
  Pair pair;
  WebSocketRequest request = pair.request();
  request.url.port = must(find_free_port("127.0.0.1"));
  EXPECT_EQ(pair.connect(request).error().code, "ConnectionRefused");
  request.url.host = "no-such-host.invalid";
  request.connect_timeout = milliseconds{50'000};  // Some resolvers take long to say no.
  EXPECT_EQ(pair.connect(request).error().code, "ConnectionRefused");
  request = pair.request();
  request.url.scheme = "wss";
  EXPECT_EQ(pair.connect(request).error().code, "TlsError");
  request.url.scheme = "unix";
  EXPECT_EQ(pair.connect(request).error().code, "InvalidUrl");
}

TEST(WebSocketClient, a_server_that_says_nothing_times_out) {
  Pair pair;
  const Fd silent = must(listen_tcp("127.0.0.1", 0));
  WebSocketRequest request = pair.request();
  request.url.port = local_port(silent.get());
  request.connect_timeout = milliseconds{50};
  EXPECT_EQ(pair.connect(request).error().code, "Timeout");
  request.connect_timeout = milliseconds{10'000};
  request.options.handshake_timeout = milliseconds{50};
  EXPECT_EQ(pair.connect(request).error().code, "Timeout");
}

TEST(WebSocketClient, stopping_the_loop_ends_an_attempt_with_an_error) {
  const Fd silent = must(listen_tcp("127.0.0.1", 0));
  WebSocketRequest request;
  request.url = {"ws", "127.0.0.1", local_port(silent.get()), "/"};
  Mailbox<OpenedBox> opened;
  const auto done = [&](Opened result) { opened.put(OpenedBox(std::move(result))); };
  Loop loop(1);
  connect_websocket(loop, request, {}, done);
  loop.stop();
  EXPECT_EQ(opened.take().result.error().code, "ConnectionClosed");
  connect_websocket(loop, request, {}, done);
  EXPECT_EQ(opened.take().result.error().code, "ConnectionClosed");
}

TEST(WebSocketClient, handlers_are_let_go_of_when_the_socket_is_closed) {
  Pair pair;
  auto held = std::make_shared<int>(0);
  std::shared_ptr<WebSocket> socket;
  Mailbox<OpenedBox> opened;
  Mailbox<bool> closed;
  connect_websocket(pair.loop, pair.request(),
                    {[held](const std::string&, bool) {},
                     [held, &closed](uint16_t, const std::string&) { closed.put(true); }},
                    [&](Opened result) { opened.put(OpenedBox(std::move(result))); });
  socket = must(opened.take().result);
  socket->close(1000, "");
  closed.take();
  pair.loop.stop();
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace net
