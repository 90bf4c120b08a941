#include "agent/host_ports.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

namespace agent {
namespace {

TEST(HostPorts, ports_side_by_side_are_free) {
  base::Random random(1);
  const auto first = find_free_ports(5, false, random);
  ASSERT_TRUE(first) << first.error().message;
  for (int i = 0; i < 5; ++i) {
    const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(*first + i));
    EXPECT_EQ(::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(probe);
  }
}

TEST(HostPorts, more_ports_than_there_are_is_an_error_that_says_how_many) {
  base::Random random(1);
  const auto none = find_free_ports(65'000, false, random);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "ResourceInitializationError");
  EXPECT_NE(none.error().message.find("65000"), std::string::npos);
}

TEST(HostPorts, each_port_of_a_range_is_bound_to_the_next_port_of_the_host) {
  base::Random random(1);
  json::Value body =
      json::parse(R"({"HostConfig":{"PortBindings":{"80/tcp":[{"HostIp":"","HostPort":""}],)"
                  R"("100/udp":[{"HostPort":""}],"101/udp":[{"HostPort":""}]}}})")
          .value();
  ASSERT_TRUE(bind_ranges({{100, 101, true}}, random, body));
  const json::Value& bindings = body["HostConfig"]["PortBindings"];
  EXPECT_EQ(bindings["80/tcp"].at(0)["HostPort"].text_or("x"), "");
  const std::string first = bindings["100/udp"].at(0)["HostPort"].text_or("");
  int port = 0;
  std::from_chars(first.data(), first.data() + first.size(), port);
  EXPECT_GT(port, 1024);
  EXPECT_EQ(bindings["101/udp"].at(0)["HostPort"].text_or(""), std::to_string(port + 1));
}

}  // namespace
}  // namespace agent
