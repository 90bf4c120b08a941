#include "agent/task_tags.h"

#include <gtest/gtest.h>

#include "agent/testing.h"
#include "net/http_server.h"

namespace agent {
namespace {

// A control plane that knows the tags of "arn:task" alone.
class TaskTags : public ::testing::Test {
 protected:
  TaskTags() {
    auto server = net::HttpServer::create(
        loop_, {}, [](const net::HttpRequest& request, const net::Responder& responder) {
          const bool known = request.body.find("arn:task") != std::string::npos;
          responder.respond(
              {.status = known ? 200 : 400,
               .headers = {},
               .body = known ? R"({"tags":[{"key":"team","value":"a"},{"key":"empty"}]})"
                             : R"({"__type":"ClientException","message":"It is not there."})"});
        });
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
    api_ = ApiClient::create({.server_urls = {base::format("http://127.0.0.1:{}", server_->port())},
                              .credentials = {.access_key_id = "A", .secret_access_key = "s"},
                              .tls = {},
                              .region = "us-east-1"},
                             clock_)
               .value();
  }
  ~TaskTags() override { loop_.stop(); }

  base::SystemClock clock_;
  net::Loop loop_{1};
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(TaskTags, are_added_and_what_cannot_be_had_is_told) {
  const json::Value told = with_tags(
      *api_, {json::Value::object({{"TaskARN", "arn:task"}}), "arn:task", "arn:instance"});
  EXPECT_EQ(json::print(told),
            R"({"TaskARN":"arn:task","TaskTags":{"team":"a","empty":""},)"
            R"("Errors":[{"ErrorField":"ContainerInstanceTags","ErrorCode":"ClientException",)"
            R"("ErrorMessage":"It is not there.","ResourceARN":"arn:instance"}]})");
}

}  // namespace
}  // namespace agent
