#include "agent/metadata_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "base/format.h"
#include "net/http_client.h"

namespace agent {
namespace {

class StandingClock final : public base::Clock {
 public:
  base::Time now() override { return base::Time(std::chrono::hours(1)); }
  base::Milliseconds monotonic() override { return std::chrono::hours(1); }
};

// As one in a container's network, but in this one.
struct Listening {
  Listening() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket, raw, sizeof address), 0);
    EXPECT_EQ(::listen(socket, 64), 0);
    EXPECT_EQ(::getsockname(socket, raw, &length), 0);
    port = ntohs(address.sin_port);
  }
  int socket;
  uint16_t port = 0;
};

class MetadataServerTest : public ::testing::Test {
 protected:
  ~MetadataServerTest() override {
    server_.stop();
    inbox_.close();
  }

  // A container's endpoint.
  std::unique_ptr<net::HttpClient> container(const std::string& name, const std::string& task) {
    const Listening listening;
    server_.serve(name, task, 1, listening.socket);
    return client(listening.port);
  }
  static std::unique_ptr<net::HttpClient> client(uint16_t port) {
    return net::HttpClient::create(
               net::parse_url(base::format("http://127.0.0.1:{}", port)).value())
        .value();
  }
  static int ask(net::HttpClient& of, const std::string& target = "/v4/x") {
    return of.request({.method = "GET", .target = target}).value_or(net::HttpResponse{}).status;
  }
  // How many of so many requests are answered.
  static int answered(net::HttpClient& of, int requests, const std::string& target = "/v4/x") {
    int good = 0;
    for (int i = 0; i < requests; ++i) good += ask(of, target) == 200 ? 1 : 0;
    return good;
  }

  StandingClock clock_;
  Inbox inbox_{1000};
  net::Loop loop_{1};
  MetadataServer server_{loop_, inbox_, clock_};
  std::jthread driver_{[this] {
    while (auto input = inbox_.pop()) {
      std::get<MetadataAsked>(*input).responder.respond({200, {}, ""});
    }
  }};
};

TEST_F(MetadataServerTest, a_task_that_asks_without_end_is_told_429_and_no_other_task_is) {
  const auto loud = container("c1", "task-1");
  EXPECT_EQ(answered(*loud, 61), 60);
  EXPECT_EQ(ask(*loud), 429);
  EXPECT_EQ(ask(*container("c2", "task-1")), 429) << "the same task's other container";
  EXPECT_EQ(ask(*container("c3", "task-2")), 200);
}

TEST_F(MetadataServerTest, in_the_machines_network_each_id_has_its_own_pace_and_all_have_one) {
  const auto host = client(server_.serve_host(0).value());
  EXPECT_EQ(answered(*host, 61, "/v4/one/task?x=y"), 60);
  EXPECT_EQ(ask(*host, "/v3/one"), 429);
  EXPECT_EQ(ask(*host, "/v2/credentials/one"), 429);
  EXPECT_EQ(ask(*host, "/v4/other"), 200);
  int good = 0;
  for (int i = 0; i < 545; ++i) good += ask(*host, base::format("/v4/id-{}", i)) == 200 ? 1 : 0;
  // A few ids meet in one place, and what one of them was refused counts for nobody.
  EXPECT_LE(good, 539);
}

TEST_F(MetadataServerTest, a_request_is_small) {
  const auto own = container("c1", "task-1");
  EXPECT_EQ(ask(*own, "/v4/" + std::string(9'000, 'x')), 431);
  const auto send = [&](const std::string& method, size_t bytes) {
    return own->request({.method = method, .target = "/v4/x", .body = std::string(bytes, 'x')})
        .value_or(net::HttpResponse{})
        .status;
  };
  EXPECT_EQ(send("GET", 1), 413);
  EXPECT_EQ(send("POST", 1), 413);
  EXPECT_EQ(send("PUT", 4'097), 413);
  EXPECT_EQ(send("PUT", 100), 200);
}

TEST_F(MetadataServerTest, a_container_has_few_connections) {
  const Listening listening;
  server_.serve("c1", "task-1", 1, listening.socket);
  std::vector<std::unique_ptr<net::HttpClient>> clients;
  for (size_t i = 0; i < metadata_connections; ++i) {
    clients.push_back(client(listening.port));
    EXPECT_EQ(ask(*clients.back()), 200);  // The connection is kept.
  }
  const net::RequestOptions short_patience{.total_timeout = base::Milliseconds{300},
                                           .retry = net::Retry::Never};
  const auto late =
      client(listening.port)->request({.method = "GET", .target = "/"}, short_patience);
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, "Timeout");
}

}  // namespace
}  // namespace agent
