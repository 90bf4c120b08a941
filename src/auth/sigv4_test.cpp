// Signatures made by others must verify: AWS's published examples, and botocore's requests.
#include <gtest/gtest.h>

#include "auth/botocore_requests_test_data.h"
#include "auth/canonical.h"
#include "auth/verifier.h"
#include "base/format.h"
#include "base/text.h"

namespace auth {
namespace {

constexpr std::string_view example_secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

Request view(const SignedRequest& request) {
  return {.method = request.method,
          .path = request.path,
          .query = request.query,
          .headers = {request.headers.begin(), request.headers.end()},
          .body = request.body};
}

KeyRing example_keys(std::string session_token = {}) {
  KeyRing keys;
  keys.put({.access_key_id = "AKIDEXAMPLE",
            .secret_access_key = std::string(example_secret),
            .session_token = std::move(session_token),
            .account = "123456789012",
            .arn = "arn:aws:iam::123456789012:root",
            .user_id = "123456789012"});
  return keys;
}

// One of AWS's examples: "aws-sig-v4-test-suite" and the IAM User Guide's ListUsers. All are signed
// at 20150830T123600Z for us-east-1.
struct Example {
  const char* name;
  const char* signature;
  const char* signed_headers = "host;x-amz-date";
  const char* method = "GET";
  const char* path = "/";
  const char* query = "";
  std::vector<std::pair<std::string, std::string>> headers = {};
  const char* body = "";
  const char* service = "service";
  const char* host = "example.amazonaws.com";
  const char* session_token = "";
};

const char* const vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
const char* const example_token =
    "AQoDYXdzEPT//////////"
    "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIe"
    "oIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/"
    "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq"
    "5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"
    "scqKmlzm8FDrypNC"
    "9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

const Example examples[] = {
    {.name = "get-vanilla", .signature = vanilla},
    {.name = "normalize-path/get-relative", .signature = vanilla, .path = "/example/.."},
    {.name = "normalize-path/get-relative-relative",
     .signature = vanilla,
     .path = "/example1/example2/../.."},
    {.name = "normalize-path/get-slash", .signature = vanilla, .path = "//"},
    {.name = "normalize-path/get-slash-dot-slash", .signature = vanilla, .path = "/./"},
    {.name = "normalize-path/get-slash-pointless-dot",
     .signature = "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5",
     .path = "/./example"},
    {.name = "normalize-path/get-slashes",
     .signature = "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84",
     .path = "//example//"},
    {.name = "normalize-path/get-space",
     .signature = "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
     .path = "/example space/"},
    {.name = "get-unreserved",
     .signature = "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
     .path = "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},
    {.name = "get-utf8",
     .signature = "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
     .path = "/\u1234"},
    {.name = "get-vanilla-utf8-query",
     .signature = "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
     .query = "\u1234=bar"},
    {.name = "get-vanilla-query-order-key-case",
     .signature = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
     .query = "Param2=value2&Param1=value1"},
    {.name = "get-header-key-duplicate",
     .signature = "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
     .signed_headers = "host;my-header1;x-amz-date",
     .headers = {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}}},
    {.name = "get-header-value-order",
     .signature = "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
     .signed_headers = "host;my-header1;x-amz-date",
     .headers = {{"My-Header1", "value4"},
                 {"My-Header1", "value1"},
                 {"My-Header1", "value3"},
                 {"My-Header1", "value2"}}},
    {.name = "get-header-value-trim",
     .signature = "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
     .signed_headers = "host;my-header1;my-header2;x-amz-date",
     .headers = {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}}},
    {.name = "post-vanilla",
     .signature = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
     .method = "POST"},
    {.name = "post-header-key-sort",
     .signature = "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
     .signed_headers = "host;my-header1;x-amz-date",
     .method = "POST",
     .headers = {{"My-Header1", "value1"}}},
    {.name = "post-header-value-case",
     .signature = "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
     .signed_headers = "host;my-header1;x-amz-date",
     .method = "POST",
     .headers = {{"My-Header1", "VALUE1"}}},
    {.name = "post-sts-token/post-sts-header-before",
     .signature = "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
     .signed_headers = "host;x-amz-date;x-amz-security-token",
     .method = "POST",
     .session_token = example_token},
    {.name = "post-x-www-form-urlencoded",
     .signature = "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
     .signed_headers = "content-type;host;x-amz-date",
     .method = "POST",
     .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
     .body = "Param1=value1"},
    {.name = "post-x-www-form-urlencoded-parameters",
     .signature = "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe",
     .signed_headers = "content-type;host;x-amz-date",
     .method = "POST",
     .headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf8"}},
     .body = "Param1=value1"},
    {.name = "ListUsers",
     .signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
     .signed_headers = "content-type;host;x-amz-date",
     .query = "Action=ListUsers&Version=2010-05-08",
     .headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
     .service = "iam",
     .host = "iam.amazonaws.com"},
};

TEST(Sigv4, awss_published_examples_verify) {
  Verifier verifier({.region = "us-east-1", .services = {"service", "iam"}});
  const base::Time now = *base::parse_basic("20150830T123600Z");
  for (const Example& example : examples) {
    SignedRequest request{.name = example.name,
                          .method = example.method,
                          .path = example.path,
                          .query = example.query,
                          .headers = example.headers,
                          .body = example.body};
    request.headers.emplace_back("Host", example.host);
    request.headers.emplace_back("X-Amz-Date", "20150830T123600Z");
    request.headers.emplace_back(
        "Authorization",
        base::format("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{}/aws4_request, "
                     "SignedHeaders={}, Signature={}",
                     example.service, example.signed_headers, example.signature));
    if (*example.session_token != '\0') {
      request.headers.emplace_back("X-Amz-Security-Token", example.session_token);
    }
    const auto caller = verifier.verify(view(request), example_keys(example.session_token), now);
    ASSERT_TRUE(caller) << example.name << ": " << caller.error().message;
    EXPECT_EQ(caller->service, example.service);
  }
}

class BotocoreRequests : public ::testing::Test {
 protected:
  BotocoreRequests() : keys_(example_keys()) {
    keys_.put({.access_key_id = "ASIDEXAMPLE",
               .secret_access_key = "x" + std::string(example_secret.substr(1)),
               .session_token = "IQoJb3Jp/Z2lu+X2Vj==",
               .account = "123456789012",
               .arn = "arn:aws:sts::123456789012:assumed-role/agent/1",
               .user_id = "AROAEXAMPLE:1"});
  }

  KeyRing keys_;
  Verifier verifier_{{.region = "us-east-1", .services = {"ecs", "logs", "sts"}}};
  const base::Time now_ = *base::parse_basic("20250131T120030Z");
};

TEST_F(BotocoreRequests, all_verify) {
  ASSERT_GT(botocore_requests().size(), 40U);
  for (const SignedRequest& request : botocore_requests()) {
    const auto caller = verifier_.verify(view(request), keys_, now_);
    EXPECT_TRUE(caller) << request.name << ": " << caller.error().message;
  }
}

TEST_F(BotocoreRequests, a_body_hash_that_is_known_already_stands_for_the_body) {
  for (const SignedRequest& request : botocore_requests()) {
    const std::string hash = crypto::sha256_hex(request.body);
    Request seen = view(request);
    seen.body = "not looked at";
    seen.body_sha256 = hash;
    EXPECT_TRUE(verifier_.verify(seen, keys_, now_)) << request.name;
  }
}

// One changed byte anywhere that is signed must not pass.
TEST_F(BotocoreRequests, none_verifies_once_it_was_changed) {
  for (const SignedRequest& original : botocore_requests()) {
    SignedRequest request = original;
    request.method = request.method == "POST" ? "PUT" : "POST";
    EXPECT_FALSE(verifier_.verify(view(request), keys_, now_)) << request.name << ": method";
    request = original;
    request.path += "x";
    EXPECT_FALSE(verifier_.verify(view(request), keys_, now_)) << request.name << ": path";
    request = original;
    request.query += request.query.empty() ? "x=1" : "&x=1";
    EXPECT_FALSE(verifier_.verify(view(request), keys_, now_)) << request.name << ": query";
    request = original;
    request.body += " ";
    EXPECT_FALSE(verifier_.verify(view(request), keys_, now_)) << request.name << ": body";
    for (size_t i = 0; i < original.headers.size(); ++i) {
      request = original;
      const std::string name = base::lower(request.headers[i].first);
      if (name != "host" && !name.starts_with("x-amz-") && name != "authorization") continue;
      request.headers[i].second += "0";
      EXPECT_FALSE(verifier_.verify(view(request), keys_, now_)) << request.name << ": " << name;
    }
  }
}

TEST(Canonical, paths_are_normalised_and_encoded_once_more) {
  EXPECT_EQ(canonical_path(""), "/");
  EXPECT_EQ(canonical_path("/a%20b/"), "/a%2520b/");
  EXPECT_EQ(canonical_path("/a/b/.."), "/a");
  EXPECT_EQ(canonical_path("/../../a//./b"), "/a/b");
  EXPECT_EQ(canonical_path("/..a/.../b."), "/..a/.../b.");
}

TEST(Canonical, queries_are_sorted_in_their_encoded_form) {
  EXPECT_EQ(canonical_query("b=2&a=1&a=0&c"), "a=0&a=1&b=2&c=");
  EXPECT_EQ(canonical_query("a+b=%2f&a%20b=~"), "a%20b=%2F&a%20b=~");
  EXPECT_EQ(canonical_query("a-b=1&a%20b=2"), "a%20b=2&a-b=1");
  EXPECT_EQ(canonical_query("&&a=%zz&%=%4"), "%25=%254&a=%25zz");
  EXPECT_EQ(canonical_query("X-Amz-Signature=1&a=1", "X-Amz-Signature"), "a=1");
}

}  // namespace
}  // namespace auth
