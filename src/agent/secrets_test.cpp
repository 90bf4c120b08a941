#include "agent/secrets.h"

#include <gtest/gtest.h>

#include "agent/docker_calls.h"
#include "base/format.h"
#include "base/queue.h"
#include "json/value.h"
#include "net/http_server.h"

namespace agent {
namespace {

TEST(Secrets, an_arn_may_name_a_json_key_and_a_version) {
  const std::string arn = "arn:aws:secretsmanager:us-east-1:1:secret:db-AbCdEf";
  EXPECT_EQ(parse_secret_reference("db"), (SecretReference{"db", "", "", ""}));
  EXPECT_EQ(parse_secret_reference(arn), (SecretReference{arn, "", "", ""}));
  EXPECT_EQ(parse_secret_reference(arn + ":user::"), (SecretReference{arn, "user", "", ""}));
  EXPECT_EQ(parse_secret_reference(arn + ":user:AWSPREVIOUS:"),
            (SecretReference{arn, "user", "AWSPREVIOUS", ""}));
  EXPECT_EQ(parse_secret_reference(arn + ":::v1"), (SecretReference{arn, "", "", "v1"}));
}

TEST(Secrets, what_docker_quotes_of_them_is_hidden) {
  core::CreateContainer request;
  acs::Secret& variable = request.secrets.emplace_back();
  variable.name = "PASSWORD";
  acs::Secret& option = request.secrets.emplace_back();
  option.name = "syslog-address";
  option.target = "LOG_DRIVER";
  request.body = json::Value::object(
      {{"Env", json::Value::array({"PASSWORDS=kept", "PASSWORD=a\"b"})},
       {"HostConfig",
        json::Value::object(
            {{"LogConfig",
              json::Value::object(
                  {{"Config", json::Value::object({{"syslog-address", "gopher://there"}})}})}})}});
  EXPECT_EQ(without_secrets(R"(no gopher://there, a"b or "a\"b" in gopher://there; kept)", request),
            R"(no ***, *** or "***" in ***; kept)");
  EXPECT_EQ(without_secrets("nothing of it", request), "nothing of it");
}

TEST(Secrets, what_docker_quotes_of_a_containers_secret_log_options_is_hidden) {
  docker::ContainerState state;
  state.log_options = {{"splunk-token", "a\"b"}, {"splunk-url", "https://there"}, {"tag", "web"}};
  const std::string said = R"(splunk: https://there refuses "a\"b" or a"b of web)";
  EXPECT_EQ(without_secrets(said, state), said) << "none of them is a secret";
  state.labels["berth.secret-log-options"] = "splunk-token,none,splunk-url";
  EXPECT_EQ(without_secrets(said, state), R"(splunk: *** refuses "***" or *** of web)");
  state.error = said;
  EXPECT_EQ(to_container_info(state).error, R"(splunk: *** refuses "***" or *** of web)");
}

// Answers as Systems Manager and Secrets Manager do; the key must be that of the role.
class Service {
 public:
  Service() {
    auto server = net::HttpServer::create(
        loop_, {}, [](const net::HttpRequest& request, const net::Responder& responder) {
          responder.respond(answer(request));
        });
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
    api = ApiClient::create({.server_urls = {base::format("http://127.0.0.1:{}", server_->port())},
                             .credentials = {"AGENT", "s"},
                             .tls = {},
                             .region = "us-east-1"},
                            clock_)
              .value();
  }
  ~Service() { loop_.stop(); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  std::unique_ptr<ApiClient> api;

 private:
  static net::HttpResponse answer(const net::HttpRequest& request) {
    const auto target = net::header_or_empty(request.headers, "X-Amz-Target");
    const auto authorization = net::header_or_empty(request.headers, "Authorization");
    const json::Value body = json::parse(request.body).value_or(json::Value());
    if (authorization.find("Credential=ROLE/") == std::string_view::npos) {
      return {.status = 400, .headers = {}, .body = R"({"__type":"AccessDeniedException"})"};
    }
    if (target == "AmazonSSM.GetParameters") {
      return {.status = 200,
              .headers = {},
              .body = R"({"Parameters":[{"Name":"/app/user","ARN":)"
                      R"("arn:aws:ssm:us-east-1:1:parameter/app/user","Value":"jane"}],)"
                      R"("InvalidParameters":[]})"};
    }
    if (target == "secretsmanager.GetSecretValue" && body["SecretId"].text_or("") == "db") {
      return {.status = 200,
              .headers = {},
              .body = R"({"SecretString":"{\"username\":\"u\",\"password\":\"p\",\"port\":1}"})"};
    }
    return {.status = 400,
            .headers = {},
            .body = R"({"__type":"ResourceNotFoundException","message":"no such secret"})"};
  }

  base::SystemClock clock_;
  net::Loop loop_{1};
  std::unique_ptr<net::HttpServer> server_;
};

const Keys role_keys = auth::Credentials{"ROLE", "s", "t"};

acs::Secret secret(const std::string& provider, const std::string& from) {
  acs::Secret made;
  made.name = "S";
  made.provider = provider;
  made.value_from = from;
  return made;
}

TEST(Secrets, values_come_from_both_services_in_the_order_asked) {
  Service service;
  const auto values = fetch_secrets(*service.api,
                                    {secret("asm", "db"), secret("ssm", "/app/user"),
                                     secret("ssm", "arn:aws:ssm:us-east-1:1:parameter/app/user")},
                                    role_keys);
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_EQ(*values, (std::vector<std::string>{R"({"username":"u","password":"p","port":1})",
                                               "jane", "jane"}));
}

TEST(Secrets, what_cannot_be_had_is_told_as_ecs_tells_it) {
  Service service;
  const auto gone = fetch_secrets(*service.api, {secret("asm", "gone")}, role_keys);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, "ResourceInitializationError");
  EXPECT_NE(gone.error().message.find("unable to retrieve secret from asm"), std::string::npos);
  EXPECT_NE(gone.error().message.find("ResourceNotFoundException"), std::string::npos);
  const auto unknown = fetch_secrets(*service.api, {secret("ssm", "/app/other")}, role_keys);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("invalid parameters: /app/other"), std::string::npos);
  const auto denied = fetch_secrets(*service.api, {secret("asm", "db")}, std::nullopt);
  ASSERT_FALSE(denied);
  EXPECT_NE(denied.error().message.find("AccessDeniedException"), std::string::npos);
}

TEST(Secrets, a_registrys_password_is_a_secret_with_two_members) {
  Service service;
  acs::RegistryAuthentication given;
  given.type = "asm";
  given.asm_auth_data.emplace().credentials_parameter = "db";
  const auto login = fetch_registry_auth(*service.api, given, role_keys);
  ASSERT_TRUE(login) << login.error().message;
  EXPECT_EQ(login->username, "u");
  EXPECT_EQ(login->password, "p");
  given.asm_auth_data->credentials_parameter = "gone";
  EXPECT_EQ(fetch_registry_auth(*service.api, given, role_keys).error().code,
            "CannotPullContainerError");
  given.type = "ecr";
  EXPECT_NE(fetch_registry_auth(*service.api, given, role_keys).error().message.find("\"ecr\""),
            std::string::npos);
}

}  // namespace
}  // namespace agent
