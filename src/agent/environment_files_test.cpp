#include "agent/environment_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "agent/testing.h"
#include "net/http_server.h"

namespace agent {
namespace {

TEST(EnvironmentFiles, a_line_is_a_variable_and_everything_else_says_nothing) {
  const Variables variables = parse_environment_file(
      "A=1\n"
      "# B=2\n"
      "\n"
      "C= with spaces \r\n"
      "D=\"quoted\"\n"
      "E=a=b\n"
      "no equals sign\n"
      "=no name\n"
      "NOTHING=\n"
      "A=2\n"
      "LAST=line without its end");
  const Variables expected{{"A", "2"},
                           {"C", " with spaces "},
                           {"D", "\"quoted\""},
                           {"E", "a=b"},
                           {"LAST", "line without its end"}};
  EXPECT_EQ(variables, expected);
  EXPECT_TRUE(parse_environment_file("").empty());
}

TEST(EnvironmentFiles, an_object_has_two_spellings) {
  const ObjectLocation expected{"bucket", "a/b.env"};
  EXPECT_EQ(parse_object_location("arn:aws:s3:::bucket/a/b.env").value(), expected);
  EXPECT_EQ(parse_object_location("arn:aws-cn:s3:::bucket/a/b.env").value(), expected);
  EXPECT_EQ(parse_object_location("s3://bucket/a/b.env").value(), expected);
  for (const char* bad : {"", "s3://bucket", "s3://bucket/", "s3:///key", "bucket/key",
                          "arn:aws:s3:::bucket", "https://bucket/key"}) {
    const auto parsed = parse_object_location(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, "InvalidParameterException");
  }
}

TEST(EnvironmentFiles, a_file_of_the_machine_is_read_and_an_absent_one_is_named) {
  const testing::TemporaryDirectory folder;
  const std::string path = (folder.path() / "task.env").string();
  std::ofstream(path) << "A=1\n";
  const auto read = read_environment_file("file://" + path, {}, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->at("A"), "1");
  const auto absent = read_environment_file("file://" + path + ".gone", {}, {});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, "IoError");
  EXPECT_NE(absent.error().message.find("task.env.gone"), std::string::npos);
}

// An object store with one object.
class Store {
 public:
  Store() {
    auto server = net::HttpServer::create(
        loop_, {}, [this](net::HttpRequest request, const net::Responder& responder) {
          const bool there = request.target == "/bucket/a%20b%2Bc.env";
          net::HttpResponse response;
          response.status = there ? 200 : 404;
          response.body = there
                              ? "FROM=store\n"
                              : "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>The "
                                "specified key does not exist.</Message></Error>";
          requests.push(std::move(request));
          responder.respond(std::move(response));
        });
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
  }
  ~Store() { loop_.stop(); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  std::string url() const { return base::format("http://127.0.0.1:{}", server_->port()); }

  base::Queue<net::HttpRequest> requests{10};

 private:
  net::Loop loop_{1};
  std::unique_ptr<net::HttpServer> server_;
};

TEST(EnvironmentFiles, an_object_is_fetched_with_a_signature_for_s3) {
  Store store;
  const ObjectStore access{
      .endpoint = store.url(), .region = "eu-west-1", .credentials = {"KEY", "SECRET", "TOKEN"}};
  const auto read = read_environment_file("s3://bucket/a b+c.env", access,
                                          base::Time(std::chrono::seconds(1'750'000'000)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->at("FROM"), "store");
  const auto request = store.requests.pop();
  ASSERT_TRUE(request);
  const auto authorization = net::header_or_empty(request->headers, "Authorization");
  EXPECT_NE(authorization.find("KEY/20250615/eu-west-1/s3/aws4_request"), std::string::npos);
  EXPECT_NE(authorization.find("x-amz-content-sha256"), std::string::npos);
  EXPECT_EQ(net::header_or_empty(request->headers, "X-Amz-Security-Token"), "TOKEN");
}

TEST(EnvironmentFiles, an_object_that_is_not_there_is_told_in_the_stores_words) {
  Store store;
  const ObjectStore access{
      .endpoint = store.url(), .region = "eu-west-1", .credentials = {"KEY", "SECRET"}};
  const auto read = read_environment_file("arn:aws:s3:::bucket/gone.env", access, {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "NoSuchKey");
  EXPECT_NE(read.error().message.find("s3://bucket/gone.env"), std::string::npos);
  EXPECT_NE(read.error().message.find("does not exist"), std::string::npos);
}

}  // namespace
}  // namespace agent
