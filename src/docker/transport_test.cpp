#include "docker/transport.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/queue.h"
#include "base/random.h"
#include "docker/client.h"
#include "net/http_server.h"
#include "net/loop.h"

namespace docker {
namespace {

TEST(Transport, hosts_are_read) {
  EXPECT_EQ(parse_host("unix:///var/run/docker.sock").value(),
            (net::Url{"unix", "", 0, "/var/run/docker.sock"}));
  EXPECT_EQ(parse_host("tcp://10.0.0.1:2376").value(), (net::Url{"http", "10.0.0.1", 2376, "/"}));
  EXPECT_EQ(parse_host("tcp://docker/").value(), (net::Url{"http", "docker", 2375, "/"}));
  EXPECT_EQ(parse_host("tcp://docker:80").value(), (net::Url{"http", "docker", 80, "/"}));
  EXPECT_EQ(parse_host("tcp://[::1]:4000").value(), (net::Url{"http", "::1", 4000, "/"}));
  EXPECT_EQ(parse_host("tcp://[::1]").value(), (net::Url{"http", "::1", 2375, "/"}));
}

TEST(Transport, other_hosts_are_refused_with_what_works) {
  for (const char* host : {"", "/var/run/docker.sock", "unix://", "unix://relative", "ssh://a@b",
                           "tcp://", "tcp://a:b", "tcp://a/path"}) {
    const auto url = parse_host(host);
    ASSERT_FALSE(url.has_value()) << host;
    EXPECT_NE(url.error().find("unix:///path/to/docker.sock"), std::string::npos);
  }
}

TEST(Transport, a_client_for_a_wrong_host_is_not_made) {
  const auto client = DockerClient::create("ssh://somewhere");
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, "CannotGetDockerClientError");
  EXPECT_EQ(client.error().cause, Cause::BadParameter);
}

// A daemon whose answers the test decides, on a unix socket of its own.
class Server {
 public:
  explicit Server(net::HttpHandler handler) : loop_(1) {
    base::Random random(base::system_seed());
    path_ = base::format("{}/berth-docker-{}.sock", std::filesystem::temp_directory_path().string(),
                         random.hex(16));
    net::HttpServerOptions options;
    options.unix_socket_path = path_;
    auto server = net::HttpServer::create(loop_, std::move(options), std::move(handler));
    EXPECT_TRUE(server.has_value()) << (server ? "" : server.error().message);
    if (server) server_ = std::move(*server);
  }
  ~Server() {
    server_.reset();
    loop_.stop();
    std::filesystem::remove(path_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string host() const { return "unix://" + path_; }

 private:
  net::Loop loop_;
  std::string path_;
  std::unique_ptr<net::HttpServer> server_;
};

TEST(Transport, a_request_carries_method_target_headers_and_body) {
  base::Queue<net::HttpRequest> seen(10);
  const Server server([&seen](net::HttpRequest request, const net::Responder& responder) {
    seen.push(std::move(request));
    responder.respond({.status = 404, .headers = {}, .body = "{}"});
  });
  const auto transport = http_transport(server.host()).value();
  const auto answer = transport->request({.method = "POST",
                                          .target = "/v1.41/containers/create?name=a%20b",
                                          .body = "{\"a\":1}",
                                          .headers = {{"X-Registry-Auth", "abc"}},
                                          .timeout = std::chrono::seconds(10)});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->body, "{}");
  const net::HttpRequest request = seen.pop().value();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1.41/containers/create?name=a%20b");
  EXPECT_EQ(request.body, "{\"a\":1}");
  EXPECT_EQ(net::header_or_empty(request.headers, "X-Registry-Auth"), "abc");
  EXPECT_EQ(net::header_or_empty(request.headers, "Content-Type"), "application/json");
  EXPECT_EQ(net::header_or_empty(request.headers, "Host"), "docker");
}

TEST(Transport, nobody_at_the_socket_is_unreachable) {
  const auto transport = http_transport("unix:///nonexistent/docker.sock").value();
  const auto answer = transport->request(
      {.method = "GET", .target = "/version", .timeout = std::chrono::seconds(10)});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, TransportError::Kind::Unreachable);
  const auto client = DockerClient::create("unix:///nonexistent/docker.sock").value();
  EXPECT_NE(client->info().error().message.find("systemctl start docker"), std::string::npos);
}

TEST(Transport, a_daemon_that_hangs_is_a_timeout) {
  base::Queue<net::Responder> held(10);  // Never answered while the test runs.
  const Server server(
      [&held](const net::HttpRequest&, const net::Responder& responder) { held.push(responder); });
  const auto transport = http_transport(server.host()).value();
  const Call call{.method = "GET", .target = "/version", .timeout = std::chrono::milliseconds(50)};
  const auto answer = transport->request(call);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, TransportError::Kind::Timeout);
  const auto streamed = transport->stream(call, {}, [](std::string_view) { return true; });
  ASSERT_FALSE(streamed.has_value());
  EXPECT_EQ(streamed.error().kind, TransportError::Kind::Timeout);
}

TEST(Transport, a_stream_gives_the_body_of_success_and_returns_that_of_failure) {
  const Server server([](const net::HttpRequest& request, const net::Responder& responder) {
    responder.respond(
        {.status = request.target == "/good" ? 200 : 500, .headers = {}, .body = "the body"});
  });
  const auto transport = http_transport(server.host()).value();
  std::string seen;
  const OnBytes collect = [&seen](std::string_view bytes) {
    seen += bytes;
    return true;
  };
  const auto good = transport->stream(
      {.method = "GET", .target = "/good", .timeout = std::chrono::seconds(10)}, {}, collect);
  ASSERT_TRUE(good.has_value()) << good.error().message;
  EXPECT_EQ(good->status, 200);
  EXPECT_EQ(seen, "the body");
  const auto bad = transport->stream(
      {.method = "GET", .target = "/bad", .timeout = std::chrono::seconds(10)}, {}, collect);
  ASSERT_TRUE(bad.has_value()) << bad.error().message;
  EXPECT_EQ(bad->status, 500);
  EXPECT_EQ(bad->body, "the body");
  EXPECT_EQ(seen, "the body");
}

TEST(Transport, a_stream_that_waits_is_cancelled_from_another_thread) {
  base::Queue<net::Responder> held(10);
  const Server server(
      [&held](const net::HttpRequest&, const net::Responder& responder) { held.push(responder); });
  const auto transport = http_transport(server.host()).value();
  std::stop_source source;
  std::thread canceller([&] {
    const auto request_has_come = held.pop();
    EXPECT_TRUE(request_has_come.has_value());
    source.request_stop();
  });
  const auto ended = transport->stream({.method = "GET", .target = "/events", .timeout = {}},
                                       source.get_token(), [](std::string_view) { return true; });
  canceller.join();
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().kind, TransportError::Kind::Cancelled);
  const auto never = transport->stream({.method = "GET", .target = "/events", .timeout = {}},
                                       source.get_token(), [](std::string_view) { return true; });
  ASSERT_FALSE(never.has_value());
  EXPECT_EQ(never.error().kind, TransportError::Kind::Cancelled);
}

TEST(Transport, calls_of_several_threads_do_not_wait_for_each_other) {
  base::Queue<net::Responder> held(10);
  const Server server([&held](const net::HttpRequest& request, const net::Responder& responder) {
    if (request.target == "/slow") {
      held.push(responder);
    } else {
      responder.respond({.status = 200, .headers = {}, .body = "quick"});
    }
  });
  const auto transport = http_transport(server.host()).value();
  std::thread slow([&] {
    const auto answer = transport->request(
        {.method = "GET", .target = "/slow", .timeout = std::chrono::seconds(30)});
    EXPECT_TRUE(answer.has_value());
  });
  const net::Responder waiting = held.pop().value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(
        transport
            ->request({.method = "GET", .target = "/quick", .timeout = std::chrono::seconds(10)})
            .value()
            .body,
        "quick");
  }
  waiting.respond({.status = 200, .headers = {}, .body = "slow"});
  slow.join();
}

}  // namespace
}  // namespace docker
