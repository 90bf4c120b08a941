#include "agent/host_address.h"

#include <gtest/gtest.h>

#include <map>

namespace agent {
namespace {

std::string found(const std::vector<std::string>& urls,
                  const std::map<std::string, std::string>& routes) {
  return host_address(urls, [&](const std::string& host, uint16_t) -> base::Result<std::string> {
    const auto route = routes.find(host);
    if (route == routes.end()) return base::fail("ConnectionRefused", "no route");
    return route->second;
  });
}

TEST(HostAddress, is_the_one_towards_the_server_that_others_reach_too) {
  EXPECT_EQ(found({"http://127.0.0.1:7117", "https://berth.lan"},
                  {{"127.0.0.1", "127.0.0.1"}, {"berth.lan", "10.0.0.7"}}),
            "10.0.0.7");
}

TEST(HostAddress, of_a_server_on_loopback_is_the_machines_own) {
  const std::vector<std::string> urls = {"http://127.0.0.1:7117"};
  EXPECT_EQ(found(urls, {{"127.0.0.1", "127.0.0.1"}, {"192.0.2.1", "10.0.0.7"}}), "10.0.0.7");
  EXPECT_EQ(found(urls, {{"127.0.0.1", "127.0.0.1"}}), "127.0.0.1");
  EXPECT_EQ(found({"no url"}, {}), "");
}

}  // namespace
}  // namespace agent
