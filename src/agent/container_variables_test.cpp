#include "agent/container_variables.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

json::Value body_with(std::initializer_list<json::Value> variables) {
  return json::Value::object({{"Env", json::Value::array(variables)}});
}
std::string env_of(const json::Value& body) {
  return json::print(body["Env"]);
}

TEST(ContainerVariables, those_of_a_file_do_not_replace_what_is_there) {
  json::Value body = body_with({"A=1"});
  ASSERT_TRUE(add_file_variables(body, "file:///etc/a.env", {{"A", "2"}, {"B", "3"}}));
  EXPECT_EQ(env_of(body), R"(["A=1","B=3"])");
}

TEST(ContainerVariables, a_secret_replaces_what_is_there) {
  json::Value body = body_with({"A=1", "B=2"});
  ASSERT_TRUE(add_secret_variables(body, {{"A", "secret"}}));
  EXPECT_EQ(env_of(body), R"(["B=2","A=secret"])");
}

TEST(ContainerVariables, what_decides_about_gpus_is_set_by_nobody_else) {
  for (const char* const name :
       {"NVIDIA_VISIBLE_DEVICES", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "CUDA_MPS_PIPE_DIRECTORY"}) {
    json::Value body = body_with({"NVIDIA_VISIBLE_DEVICES=void"});
    const auto secret = add_secret_variables(body, {{"A", "1"}, {name, "all"}});
    ASSERT_FALSE(secret) << name;
    EXPECT_EQ(secret.error().code, "ResourceInitializationError");
    EXPECT_NE(secret.error().message.find(name), std::string::npos) << secret.error().message;
    EXPECT_EQ(secret.error().message.find("all"), std::string::npos) << "the value of a secret";
    const auto file = add_file_variables(body, "file:///etc/a.env", {{name, "all"}});
    ASSERT_FALSE(file) << name;
    EXPECT_NE(file.error().message.find("file:///etc/a.env"), std::string::npos);
    EXPECT_EQ(env_of(body), R"(["NVIDIA_VISIBLE_DEVICES=void"])");
  }
}

}  // namespace
}  // namespace agent
