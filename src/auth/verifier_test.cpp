// Every way a request can fail to be whom it says it is.
#include "auth/verifier.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "auth/canonical.h"
#include "auth/claim.h"
#include "auth/signer.h"
#include "base/format.h"
#include "base/text.h"

namespace auth {
namespace {

const base::Time noon = *base::parse_basic("20250131T120000Z");
const Credentials credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
const SigningScope ecs_scope{"us-east-1", "ecs"};

// A signed request that owns its text, to be bent by a test.
struct Owned {
  std::string method = "POST";
  std::string path = "/";
  std::string query = {};
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Host", "127.0.0.1:7117"},
      {"X-Amz-Target", "AmazonEC2ContainerServiceV20141113.ListClusters"}};
  std::string body = "{}";

  Request view() const {
    return {.method = method,
            .path = path,
            .query = query,
            .headers = {headers.begin(), headers.end()},
            .body = body};
  }
  void sign_with(const Credentials& key = credentials, const SigningScope& scope = ecs_scope,
                 base::Time time = noon) {
    for (auto& header : sign(view(), key, scope, time)) headers.push_back(std::move(header));
  }
  std::string& header(std::string_view name) {
    for (auto& [header_name, value] : headers) {
      if (base::equal_ignoring_case(header_name, name)) return value;
    }
    CHECK(false);
  }
  void drop(std::string_view name) {
    std::erase_if(headers, [&](const auto& h) { return base::equal_ignoring_case(h.first, name); });
  }
};

Owned signed_request() {
  Owned request;
  request.sign_with();
  return request;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  CHECK(at != std::string::npos);
  text.replace(at, from.size(), to);
}

AccessKey example_key() {
  return {.access_key_id = credentials.access_key_id,
          .secret_access_key = credentials.secret_access_key,
          .session_token = {},
          .account = "123456789012",
          .arn = "arn:aws:iam::123456789012:root",
          .user_id = "123456789012"};
}

class VerifierTest : public ::testing::Test {
 protected:
  VerifierTest() { keys_.put(example_key()); }

  base::Result<Caller> verify(const Owned& request, base::Time now = noon) {
    return verifier_.verify(request.view(), keys_, now);
  }
  void expect_error(const Owned& request, std::string_view code, std::string_view part,
                    base::Time now = noon) {
    const auto caller = verify(request, now);
    ASSERT_FALSE(caller) << part;
    EXPECT_EQ(caller.error().code, code);
    EXPECT_NE(caller.error().message.find(part), std::string::npos) << caller.error().message;
  }

  KeyRing keys_;
  Verifier verifier_{{.region = "us-east-1", .services = {"ecs", "logs"}}};
};

TEST_F(VerifierTest, a_good_request_names_its_caller) {
  EXPECT_EQ(verify(signed_request()).value(), (Caller{.access_key_id = "AKIDEXAMPLE",
                                                      .arn = "arn:aws:iam::123456789012:root",
                                                      .account = "123456789012",
                                                      .user_id = "123456789012",
                                                      .service = "ecs"}));
}

TEST_F(VerifierTest, an_unsigned_request_has_no_token) {
  expect_error(Owned{}, "MissingAuthenticationTokenException", "Missing Authentication Token");
  Owned with_query;
  with_query.query = "Action=GetCallerIdentity&note=X-Amz-nothing";
  expect_error(with_query, "MissingAuthenticationTokenException", "Missing Authentication Token");
}

TEST_F(VerifierTest, malformed_signatures_say_what_is_missing) {
  const std::string code = "IncompleteSignatureException";
  const struct {
    std::function<void(Owned&)> bend;
    const char* part;
  } cases[] = {
      {[](Owned& r) { r.header("Authorization") = ""; }, "Unsupported Authorization scheme ''"},
      {[](Owned& r) { r.header("Authorization") = "Bearer abc"; }, "scheme 'Bearer'"},
      {[](Owned& r) { r.header("Authorization") = "AWS4-HMAC-SHA256"; },
       "Authorization header requires 'Credential' parameter. Authorization header requires "
       "'Signature' parameter. Authorization header requires 'SignedHeaders' parameter."},
      {[](Owned& r) { replace(r.header("Authorization"), "Signature=", "Sig="); },
       "requires 'Signature' parameter."},
      {[](Owned& r) { replace(r.header("Authorization"), "Credential=", "Credential=a/"); },
       "exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'a/AKID"},
      {[](Owned& r) { r.header("Authorization") += ", Signature=00"; }, "'Signature' twice"},
      {[](Owned& r) { r.headers.emplace_back("authorization", "x"); }, "two Authorization headers"},
      {[](Owned& r) { replace(r.header("Authorization"), "=host", "=Host"); }, "in lower case"},
      {[](Owned& r) {
         std::string many;
         for (int i = 0; i < 70; ++i) many += base::format("h{};", i);
         replace(r.header("Authorization"), "SignedHeaders=", "SignedHeaders=" + many);
       },
       "more than 64"},
      {[](Owned& r) { r.drop("X-Amz-Date"); }, "either a 'X-Amz-Date' or a 'Date' header"},
      {[](Owned& r) { r.header("X-Amz-Date") = "2025-01-31T12:00:00Z"; },
       "'basic format' (YYYYMMDD'T'HHMMSS'Z'). Got '2025-01-31T12:00:00Z'."},
      {[](Owned& r) { r.headers.emplace_back("X-Amz-Date", "20250131T120000Z"); }, "Got '"},
      {[](Owned& r) {
         r.drop("X-Amz-Date");
         r.headers.emplace_back("Date", "Fri, 31 Foo 2025 12:00:00 GMT");
       },
       "The 'Date' header is neither"},
  };
  for (const auto& [bend, part] : cases) {
    Owned request = signed_request();
    bend(request);
    expect_error(request, code, part);
  }
}

TEST_F(VerifierTest, an_unknown_key_and_a_token_that_is_not_the_keys_are_invalid) {
  const std::string code = "UnrecognizedClientException";
  const std::string sentence = "The security token included in the request is invalid.";
  Owned unknown;
  unknown.sign_with({"AKIDUNKNOWN", credentials.secret_access_key});
  expect_error(unknown, code, sentence);

  Owned with_token;
  with_token.sign_with({credentials.access_key_id, credentials.secret_access_key, "token"});
  expect_error(with_token, code, sentence);

  AccessKey temporary = example_key();
  temporary.session_token = "the token";
  temporary.expires = noon + std::chrono::hours{1};
  keys_.put(temporary);
  expect_error(signed_request(), code, sentence);
  expect_error(with_token, code, sentence);
  Owned good;
  good.sign_with({credentials.access_key_id, credentials.secret_access_key, "the token"});
  EXPECT_TRUE(verify(good));

  temporary.expires = noon;
  keys_.put(temporary);
  expect_error(good, "ExpiredTokenException", "is expired");
  keys_.remove(temporary.access_key_id);
  expect_error(good, code, sentence);
}

TEST_F(VerifierTest, a_wrong_secret_or_a_changed_signature_does_not_match) {
  const std::string code = "InvalidSignatureException";
  const std::string part =
      "does not match the signature you provided. Check your AWS Secret Access";
  Owned wrong_secret;
  wrong_secret.sign_with({credentials.access_key_id, "another"});
  expect_error(wrong_secret, code, part);
  for (const char* suffix : {"0", "z", " 0", "\xff"}) {
    Owned changed = signed_request();
    changed.header("Authorization") += suffix;
    expect_error(changed, code, part);
  }
  Owned cut = signed_request();
  cut.header("Authorization").pop_back();
  expect_error(cut, code, part);
}

TEST_F(VerifierTest, a_changed_secret_takes_effect_although_the_signing_key_was_kept) {
  ASSERT_TRUE(verify(signed_request()));
  AccessKey rotated = example_key();
  rotated.secret_access_key = "rotated";
  keys_.put(rotated);
  EXPECT_FALSE(verify(signed_request()));
  Owned request;
  request.sign_with({credentials.access_key_id, "rotated"});
  EXPECT_TRUE(verify(request));
}

TEST_F(VerifierTest, five_minutes_of_skew_pass_and_more_do_not) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  EXPECT_TRUE(verify(signed_request(), noon + minutes{5}));
  EXPECT_TRUE(verify(signed_request(), noon - minutes{5}));
  expect_error(signed_request(), "InvalidSignatureException",
               "Signature expired: 20250131T120000Z is now earlier than 20250131T120001Z "
               "(20250131T120501Z - 5 min.)",
               noon + minutes{5} + seconds{1});
  expect_error(signed_request(), "InvalidSignatureException",
               "Signature not yet current: 20250131T120000Z is still later than 20250131T115959Z "
               "(20250131T115459Z + 5 min.)",
               noon - minutes{5} - seconds{1});
}

TEST_F(VerifierTest, another_region_is_answered_with_this_servers_region_and_the_flag) {
  Owned request;
  request.sign_with(credentials, {"eu-west-1", "ecs"});
  expect_error(
      request, "InvalidSignatureException",
      "Credential should be scoped to a valid region, not 'eu-west-1': this server's region "
      "is 'us-east-1'. Use --region us-east-1");
}

TEST_F(VerifierTest, an_unknown_service_is_answered_with_the_known_ones) {
  Owned request;
  request.sign_with(credentials, {"us-east-1", "dynamodb"});
  expect_error(request, "UnknownOperationException",
               "Berth has no service 'dynamodb'; it has 'ecs', 'logs'.");
}

TEST_F(VerifierTest, the_scopes_date_and_terminator_are_checked) {
  Owned date = signed_request();
  replace(date.header("Authorization"), "/20250131/", "/20250130/");
  expect_error(date, "InvalidSignatureException",
               "'20250130' != '20250131', from '20250131T120000Z'.");
  Owned end = signed_request();
  replace(end.header("Authorization"), "aws4_request", "aws5_request");
  expect_error(end, "InvalidSignatureException", "'aws4_request', not 'aws5_request'");
}

TEST_F(VerifierTest, host_and_amz_headers_must_be_signed_and_be_there) {
  Owned target = signed_request();
  replace(target.header("Authorization"), ";x-amz-target", "");
  expect_error(target, "InvalidSignatureException", "'x-amz-target' must be a 'SignedHeader'");
  Owned added = signed_request();
  added.headers.emplace_back("X-AMZ-Extra", "1");
  expect_error(added, "InvalidSignatureException", "'x-amz-extra' must be a 'SignedHeader'");
  Owned host = signed_request();
  replace(host.header("Authorization"), "host;", "");
  expect_error(host, "InvalidSignatureException", "'Host' or ':authority' must be");
  Owned removed = signed_request();
  removed.drop("X-Amz-Target");
  expect_error(removed, "InvalidSignatureException", "SignedHeaders names 'x-amz-target', but");
}

TEST_F(VerifierTest, a_stated_payload_hash_must_be_the_bodys) {
  Owned request;
  request.headers.emplace_back("X-Amz-Content-Sha256", crypto::sha256_hex("{}"));
  request.sign_with();
  EXPECT_TRUE(verify(request));
  request.body = "{ }";
  expect_error(request, "InvalidSignatureException", "is not the SHA-256 of the body that arrived");
  Owned unsigned_body;
  unsigned_body.headers.emplace_back("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD");
  unsigned_body.sign_with();
  expect_error(unsigned_body, "InvalidSignatureException", "is not the SHA-256 of the body");
}

TEST_F(VerifierTest, text_from_the_request_is_made_harmless_in_messages) {
  EXPECT_EQ(shown("a\r\nb\x7f"), "a??b?");
  EXPECT_EQ(shown(std::string(100, 'a')), std::string(64, 'a') + "...");
}

Owned presigned_request(std::chrono::seconds expires, const Credentials& key = credentials,
                        std::string query = "a=1") {
  Owned request;
  request.method = "GET";
  request.body = "";
  request.drop("X-Amz-Target");
  request.query = std::move(query);
  request.query = presign(request.view(), key, ecs_scope, noon, expires);
  return request;
}

TEST_F(VerifierTest, a_presigned_url_is_good_until_it_expires) {
  using std::chrono::seconds;
  const Owned request = presigned_request(seconds{60});
  EXPECT_EQ(verify(request)->access_key_id, "AKIDEXAMPLE");
  EXPECT_TRUE(verify(request, noon + seconds{60}));
  expect_error(request, "InvalidSignatureException",
               "Signature expired: 20250131T120000Z is now earlier than 20250131T120001Z "
               "(20250131T120101Z - 60 sec.)",
               noon + seconds{61});
  expect_error(request, "InvalidSignatureException", "Signature not yet current",
               noon - seconds{301});
}

TEST_F(VerifierTest, a_presigned_url_that_leaves_its_body_unsigned_comes_without_one) {
  Owned request = presigned_request(std::chrono::seconds{60}, credentials,
                                    "X-Amz-Content-Sha256=UNSIGNED-PAYLOAD");
  expect_error(request, "InvalidSignatureException", "does not match");  // Signed with a hash.
  Owned by_header;
  by_header.headers = {{"Host", "h"}, {"x-amz-content-sha256", "UNSIGNED-PAYLOAD"}};
  by_header.query = request.query;
  expect_error(by_header, "InvalidSignatureException", "'x-amz-content-sha256' must be");
  Owned unsigned_body;
  unsigned_body.drop("X-Amz-Target");
  unsigned_body.query = "X-Amz-Content-Sha256=UNSIGNED-PAYLOAD";
  Request view = unsigned_body.view();
  view.body_sha256 = unsigned_payload;  // What goes into the signature in place of the hash.
  unsigned_body.query = presign(view, credentials, ecs_scope, noon, std::chrono::seconds{60});
  unsigned_body.body = "";
  EXPECT_TRUE(verify(unsigned_body));
  unsigned_body.body = "Action=TerminateEverything";
  expect_error(unsigned_body, "InvalidSignatureException", "comes without a body");
}

TEST_F(VerifierTest, a_presigned_url_carries_its_session_token) {
  AccessKey temporary = example_key();
  temporary.session_token = "to+ken/=";
  keys_.put(temporary);
  const Credentials with_token{credentials.access_key_id, credentials.secret_access_key,
                               "to+ken/="};
  EXPECT_TRUE(verify(presigned_request(std::chrono::seconds{60}, with_token)));
  expect_error(presigned_request(std::chrono::seconds{60}), "UnrecognizedClientException",
               "token included in the request is invalid");
}

TEST_F(VerifierTest, malformed_presigned_urls_say_what_is_wrong) {
  const std::string code = "IncompleteSignatureException";
  for (const char* name :
       {"Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature"}) {
    Owned request = presigned_request(std::chrono::seconds{60});
    replace(request.query, base::format("X-Amz-{}=", name), "none=");
    expect_error(request, code, base::format("must include 'X-Amz-{}'", name));
    Owned twice = presigned_request(std::chrono::seconds{60});
    twice.query += base::format("&X-Amz-{}=1", name);
    expect_error(twice, code, base::format("'X-Amz-{}' twice", name));
  }
  for (const char* expires : {"0", "604801", "-1", "1h", "99999999999999999999"}) {
    Owned request = presigned_request(std::chrono::seconds{60});
    replace(request.query, "X-Amz-Expires=60", base::format("X-Amz-Expires={}", expires));
    expect_error(request, code, base::format("Got '{}'", expires));
  }
  Owned request = presigned_request(std::chrono::seconds{60});
  replace(request.query, "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1");
  expect_error(request, code, "Unsupported X-Amz-Algorithm 'AWS4-HMAC-SHA1'");
}

TEST(SigningKeys, are_kept_within_their_bound) {
  SigningKeys keys(10);
  for (int i = 0; i < 100; ++i) {
    const std::string id = std::to_string(i);
    keys.get("hot", "secret", {"20250131", "us-east-1", "ecs"});
    keys.get(id, "secret", {"20250131", "us-east-1", "ecs"});
    EXPECT_LE(keys.size(), 10U);
  }
  const Scope scope{"20250131", "us-east-1", "ecs"};
  EXPECT_EQ(keys.get("hot", "secret", scope).sign("x"),
            derive_signing_key("secret", scope).sign("x"));
  EXPECT_NE(keys.get("hot", "other", scope).sign("x"),
            derive_signing_key("secret", scope).sign("x"));
}

TEST(QueryProtocol, codes_are_translated) {
  EXPECT_EQ(query_protocol_code("InvalidSignatureException"), "SignatureDoesNotMatch");
  EXPECT_EQ(query_protocol_code("UnrecognizedClientException"), "InvalidClientTokenId");
  EXPECT_EQ(query_protocol_code("ClusterNotFoundException"), "ClusterNotFoundException");
}

// What we sign, we verify: any path, query, headers and body.
RC_GTEST_PROP(Signer, what_it_signs_verifies,
              (const std::string& path, const std::string& query, const std::string& value,
               const std::string& body, const std::string& secret, const std::string& token)) {
  Owned request;
  request.path = "/" + path;
  request.query = query;
  request.body = body;
  request.headers.emplace_back("X-Custom", value);
  request.headers.emplace_back("x-custom", value + " 2");
  request.headers.emplace_back("User-Agent", "changes on the way");
  AccessKey key = example_key();
  key.secret_access_key = secret;
  key.session_token = std::string(token.c_str());
  // A header is trimmed and folded on its way, so a token has no white space.
  std::erase_if(key.session_token, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
  KeyRing keys;
  keys.put(key);
  Verifier verifier({.region = "us-east-1", .services = {"ecs"}});
  const Credentials mine{key.access_key_id, secret, key.session_token};
  request.sign_with(mine);
  request.header("User-Agent") = "changed";
  RC_ASSERT(verifier.verify(request.view(), keys, noon).has_value());

  Owned url;
  url.path = request.path;
  url.body = body;
  url.drop("X-Amz-Target");
  url.query = query;
  RC_PRE(query.find("X-Amz-") == std::string::npos);
  url.query = presign(url.view(), mine, ecs_scope, noon, std::chrono::seconds{60});
  RC_ASSERT(verifier.verify(url.view(), keys, noon).has_value());
  url.body += "x";
  RC_ASSERT(!verifier.verify(url.view(), keys, noon).has_value());
}

}  // namespace
}  // namespace auth
