#include "cli/access.h"

#include <gtest/gtest.h>

#include <map>

namespace cli {
namespace {

std::optional<Credentials> in(std::map<std::string, std::string> variables) {
  return server_in_environment([&](const char* name) { return variables[name]; });
}

TEST(ServerInEnvironment, is_one_that_has_an_address_and_a_key) {
  const std::map<std::string, std::string> whole = {{"AWS_ENDPOINT_URL", "https://berth.lan:7117"},
                                                    {"AWS_ACCESS_KEY_ID", "BERTHX"},
                                                    {"AWS_SECRET_ACCESS_KEY", "secret"},
                                                    {"AWS_REGION", "eu-west-1"},
                                                    {"AWS_CA_BUNDLE", "/etc/ca.pem"}};
  const auto found = in(whole);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->url, "https://berth.lan:7117");
  EXPECT_EQ(found->access_key_id, "BERTHX");
  EXPECT_EQ(found->region, "eu-west-1");
  EXPECT_EQ(found->ca_file, "/etc/ca.pem");
  for (const char* const name :
       {"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}) {
    auto without = whole;
    without.erase(name);
    EXPECT_FALSE(in(without)) << name;
  }
}

TEST(ServerInEnvironment, the_endpoint_of_ecs_goes_before_that_of_all_services) {
  const auto found = in({{"AWS_ENDPOINT_URL", "http://all"},
                         {"AWS_ENDPOINT_URL_ECS", "http://ecs"},
                         {"AWS_ACCESS_KEY_ID", "a"},
                         {"AWS_SECRET_ACCESS_KEY", "b"},
                         {"AWS_SESSION_TOKEN", "c"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->url, "http://ecs");
  EXPECT_EQ(found->region, "us-east-1");
  EXPECT_EQ(found->session_token, "c");
}

}  // namespace
}  // namespace cli
