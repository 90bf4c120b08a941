// Any bytes as an answer of Amazon ECR: a login that prints and reads back as the same, or an
// error that names where it came from.
#include <cstdint>
#include <string_view>

#include "agent/ecr.h"
#include "api/base64.h"
#include "json/value.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto login = agent::parse_ecr_token(text, "https://ecr.example");
  if (!login) {
    CHECK(login.error().message.contains("https://ecr.example"));
    return 0;
  }
  CHECK(!login->username.contains(':'));
  std::string token;
  api::append_base64(token, login->username + ":" + login->password);
  json::Value list = json::Value::array();
  list.push(json::Value::object(
      {{"authorizationToken", token}, {"proxyEndpoint", "https://" + login->server}}));
  const auto again = agent::parse_ecr_token(
      json::print(json::Value::object({{"authorizationData", std::move(list)}})), "");
  CHECK(again && again->username == login->username && again->password == login->password &&
        again->server == login->server);
  return 0;
}
