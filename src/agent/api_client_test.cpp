#include "agent/api_client.h"

#include <gmock/gmock.h>

#include "agent/testing.h"
#include "net/address.h"

namespace agent {
namespace {

using testing::ControlPlane;
using ::testing::HasSubstr;

class ApiClientTest : public ::testing::Test {
 protected:
  std::unique_ptr<ApiClient> client(std::vector<std::string> urls) {
    return ApiClient::create({.server_urls = std::move(urls),
                              .credentials = {"AGENTKEY", "agentsecret"},
                              .tls = {},
                              .region = "us-east-1"},
                             clock_)
        .value();
  }
  static auto discover(ApiClient& client) {
    return client.call<api::ecs::DiscoverPollEndpointResponse>(
        api::ecs_service(), "DiscoverPollEndpoint", api::ecs::DiscoverPollEndpointRequest{});
  }
  base::SystemClock clock_;
};

TEST_F(ApiClientTest, a_server_that_does_not_answer_gives_way_to_the_next) {
  ControlPlane first;
  ControlPlane second;
  const auto both = client({first.url(), second.url()});
  EXPECT_EQ(discover(*both)->endpoint, first.url() + "/acs");
  first.down();
  EXPECT_EQ(discover(*both)->endpoint, second.url() + "/acs");
  first.up();
  EXPECT_EQ(discover(*both)->endpoint, second.url() + "/acs");
  second.down();
  EXPECT_EQ(discover(*both)->endpoint, first.url() + "/acs");
  first.down();
  const auto failed = discover(*both);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().kind, ApiError::Kind::Unreachable);
}

TEST_F(ApiClientTest, a_refusal_has_the_name_and_the_message_of_aws) {
  ControlPlane plane;
  plane.refuse("DiscoverPollEndpoint", "com.amazonaws.ecs#ClientException", "No such instance.");
  const auto refused = discover(*client({plane.url()}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ApiError::Kind::Refused);
  EXPECT_EQ(refused.error().code, "ClientException");
  EXPECT_EQ(refused.error().message, "No such instance.");
  plane.refuse("DiscoverPollEndpoint", "ThrottlingException", "Rate exceeded");
  EXPECT_EQ(discover(*client({plane.url()})).error().kind, ApiError::Kind::Failed);
}

TEST_F(ApiClientTest, an_url_that_is_none_is_refused_by_name) {
  for (const char* url : {"ftp://x", "nonsense", "ws://x"}) {
    const auto made = ApiClient::create(
        {.server_urls = {url}, .credentials = {"a", "b"}, .tls = {}, .region = "r"}, clock_);
    ASSERT_FALSE(made.has_value()) << url;
    EXPECT_THAT(made.error().message, HasSubstr(url));
  }
}

TEST_F(ApiClientTest, a_cancelled_client_answers_at_once) {
  ControlPlane plane;
  const auto one = client({plane.url()});
  one->cancel();
  EXPECT_EQ(discover(*one).error().kind, ApiError::Kind::Unreachable);
}

}  // namespace
}  // namespace agent
