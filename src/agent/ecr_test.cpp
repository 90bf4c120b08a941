#include "agent/ecr.h"

#include <gtest/gtest.h>

#include "agent/testing.h"
#include "api/base64.h"
#include "base/queue.h"
#include "net/http_server.h"

namespace agent {
namespace {

// Amazon ECR with one answer.
class Ecr {
 public:
  Ecr(int status, std::string body) {
    auto server = net::HttpServer::create(
        loop_, {},
        [this, status, body = std::move(body)](net::HttpRequest request,
                                               const net::Responder& responder) {
          requests.push(std::move(request));
          responder.respond({.status = status, .headers = {}, .body = body});
        });
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
  }
  ~Ecr() { loop_.stop(); }
  Ecr(const Ecr&) = delete;
  Ecr& operator=(const Ecr&) = delete;
  EcrAccess access() const {
    return {.access_key_id = "AKIAAWS",
            .secret_access_key = "secret",
            .session_token = "token",
            .endpoint = base::format("http://127.0.0.1:{}", server_->port())};
  }

  base::Queue<net::HttpRequest> requests{8};

 private:
  net::Loop loop_{1};
  std::unique_ptr<net::HttpServer> server_;
};

const acs::EcrAuthData registry{
    .region = "eu-west-1", .registry_id = "123456789012", .endpoint_override = {}};

std::string token_answer(const std::string& plain) {
  std::string token;
  api::append_base64(token, plain);
  return base::format(
      R"({{"authorizationData":[{{"authorizationToken":"{}","expiresAt":1.7E9,)"
      R"("proxyEndpoint":"https://123456789012.dkr.ecr.eu-west-1.amazonaws.com"}}]}})",
      token);
}

TEST(Ecr, a_token_is_a_user_and_a_password_for_the_registry) {
  base::SystemClock clock;
  Ecr ecr(200, token_answer("AWS:pass:word"));
  const auto login = fetch_ecr_auth(ecr.access(), registry, clock);
  ASSERT_TRUE(login) << login.error().message;
  EXPECT_EQ(login->username, "AWS");
  EXPECT_EQ(login->password, "pass:word");
  EXPECT_EQ(login->server, "123456789012.dkr.ecr.eu-west-1.amazonaws.com");
  const auto asked = ecr.requests.pop();
  ASSERT_TRUE(asked);
  EXPECT_EQ(net::header_or_empty(asked->headers, "X-Amz-Target"),
            "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken");
  EXPECT_EQ(asked->body, R"({"registryIds":["123456789012"]})");
  const std::string authorization(net::header_or_empty(asked->headers, "Authorization"));
  EXPECT_TRUE(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIAAWS/")) << authorization;
  EXPECT_NE(authorization.find("/eu-west-1/ecr/aws4_request"), std::string::npos) << authorization;
  EXPECT_EQ(net::header_or_empty(asked->headers, "X-Amz-Security-Token"), "token");
}

TEST(Ecr, without_keys_the_reason_names_the_fix_and_nobody_is_asked) {
  base::SystemClock clock;
  const auto login = fetch_ecr_auth({}, registry, clock);
  ASSERT_FALSE(login);
  EXPECT_EQ(login.error().code, "CannotPullECRContainerError");
  EXPECT_EQ(login.error().cause, core::Cause::Denied);
  EXPECT_NE(login.error().message.find("BERTH_ECR_ACCESS_KEY_ID"), std::string::npos);
}

TEST(Ecr, a_refusal_ends_the_pull_and_a_failure_is_tried_again) {
  base::SystemClock clock;
  Ecr refusing(400, R"({"__type":"UnrecognizedClientException","message":"The token is bad."})");
  const auto refused = fetch_ecr_auth(refusing.access(), registry, clock);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause, core::Cause::Denied);
  EXPECT_NE(refused.error().message.find("UnrecognizedClientException: The token is bad."),
            std::string::npos)
      << refused.error().message;
  Ecr failing(500, R"({"__type":"ServerException","message":"later"})");
  const auto failed = fetch_ecr_auth(failing.access(), registry, clock);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().cause, core::Cause::Other);
  EXPECT_EQ(failed.error().code, "CannotPullECRContainerError");
}

TEST(Ecr, an_answer_without_a_token_is_no_login) {
  base::SystemClock clock;
  for (const std::string& body :
       {std::string("{}"), std::string("[]"), std::string("no json"), token_answer("nocolon"),
        std::string(R"({"authorizationData":[]})"),
        std::string(R"({"authorizationData":[{"authorizationToken":"%%"}]})")}) {
    Ecr ecr(200, body);
    const auto login = fetch_ecr_auth(ecr.access(), registry, clock);
    ASSERT_FALSE(login) << body;
    EXPECT_EQ(login.error().cause, core::Cause::Other);
  }
}

}  // namespace
}  // namespace agent
