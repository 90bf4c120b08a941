#include "api/query.h"

#include <gtest/gtest.h>

#include "api/generated/sts.h"

namespace api {
namespace {

constexpr ParseOptions sts_options{.serialization_code = "MalformedInput",
                                   .validation_code = "ValidationError"};

TEST(api_query, a_form_body_is_taken_apart) {
  const auto request = parse_query("Action=GetCallerIdentity&Version=2011-06-15&a%26b=c+d%2Be&&x");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->action, "GetCallerIdentity");
  EXPECT_EQ(request->version, "2011-06-15");
  const std::vector<std::pair<std::string, std::string>> expected = {{"a&b", "c d+e"}, {"x", ""}};
  EXPECT_EQ(request->parameters, expected);
  EXPECT_TRUE(parse_query("")->action.empty());
}

TEST(api_query, broken_escapes_and_bytes_are_refused) {
  for (const char* body : {"a=%", "a=%4", "a=%zz", "%f=1", "a=%FF", "a=\xC3"}) {
    const auto request = parse_query(body);
    ASSERT_FALSE(request) << body;
    EXPECT_EQ(request.error().code, "MalformedQueryString");
  }
}

TEST(api_query, parameters_become_a_struct) {
  const auto request = parse_query(
      "Action=AssumeRole&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fr&RoleSessionName=me"
      "&DurationSeconds=900&Tags.member.2.Key=b&Tags.member.10.Key=c&Tags.member.1.Key=a"
      "&Tags.member.1.Value=1&TransitiveTagKeys.member.1=a&Unknown.thing=1");
  ASSERT_TRUE(request);
  sts::AssumeRoleRequest role;
  const auto result = parse_into(*request, shape_of<sts::AssumeRoleRequest>(), &role, sts_options);
  ASSERT_FALSE(result);  // Tags have a required value each.
  EXPECT_EQ(result.error().code, "ValidationError");
  EXPECT_EQ(result.error().message, "The member Tags[1].Value is required, but it is missing.");
  EXPECT_EQ(role.duration_seconds, 900);
  ASSERT_EQ(role.tags.size(), 3U);
  EXPECT_EQ(role.tags[0].key, "a");
  EXPECT_EQ(role.tags[1].key, "b");
  EXPECT_EQ(role.tags[2].key, "c");
  EXPECT_EQ(role.transitive_tag_keys[0], "a");
}

TEST(api_query, wrong_parameters_are_refused_by_name) {
  const auto refusal = [](std::string_view body) {
    sts::AssumeRoleRequest role;
    const auto result =
        parse_into(*parse_query(body), shape_of<sts::AssumeRoleRequest>(), &role, sts_options);
    EXPECT_FALSE(result) << body;
    return result ? base::Error{} : result.error();
  };
  EXPECT_EQ(refusal("RoleSessionName=me").message,
            "The member RoleArn is required, but it is missing.");
  EXPECT_EQ(refusal("DurationSeconds=x").code, "MalformedInput");
  EXPECT_EQ(refusal("DurationSeconds=1&RoleArn=arn:aws:iam::123456789012:role/r&RoleSessionName=me")
                .message,
            "The member DurationSeconds must be between 900 and 43200, but 1 was given.");
  EXPECT_EQ(refusal("RoleArn.a=1").message,
            "The member RoleArn must be a string, but a structure was given.");
}

TEST(api_query, names_of_any_depth_and_number_are_harmless) {
  std::string deep = "a";
  for (int level = 0; level < 100'000; ++level) deep += ".a";
  std::string many;
  for (int index = 0; index < 10'000; ++index) many += "&p" + std::to_string(index) + "=1";
  sts::GetCallerIdentityRequest request;
  EXPECT_TRUE(parse_into(*parse_query(deep + "=1" + many),
                         shape_of<sts::GetCallerIdentityRequest>(), &request));
}

TEST(api_query, a_reply_is_printed_as_aws_does) {
  const sts::GetCallerIdentityResponse identity{.user_id = "AIDA<&>\"",
                                                .account = "123456789012",
                                                .arn = "arn:aws:iam::123456789012:user/berth"};
  EXPECT_EQ(print_query_response(sts_service(), "GetCallerIdentity",
                                 shape_of<sts::GetCallerIdentityResponse>(), &identity, "req-1"),
            "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
            "<GetCallerIdentityResult><UserId>AIDA&lt;&amp;&gt;&quot;</UserId>"
            "<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:user/berth</Arn>"
            "</GetCallerIdentityResult><ResponseMetadata><RequestId>req-1</RequestId>"
            "</ResponseMetadata></GetCallerIdentityResponse>");
}

TEST(api_query, nested_replies_and_times_are_printed) {
  const sts::GetSessionTokenResponse token{
      .credentials =
          sts::Credentials{.access_key_id = "AKIA",
                           .secret_access_key = "s\x01",
                           .session_token = "t",
                           .expiration = base::Time(base::Milliseconds(1'700'000'000'250))}};
  EXPECT_EQ(
      print_query_response(sts_service(), "GetSessionToken",
                           shape_of<sts::GetSessionTokenResponse>(), &token, "r"),
      "<GetSessionTokenResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
      "<GetSessionTokenResult><Credentials><AccessKeyId>AKIA</AccessKeyId>"
      "<SecretAccessKey>s\xEF\xBF\xBD</SecretAccessKey><SessionToken>t</SessionToken>"
      "<Expiration>2023-11-14T22:13:20.250Z</Expiration></Credentials></GetSessionTokenResult>"
      "<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></GetSessionTokenResponse>");
}

TEST(api_query, errors_are_printed_with_the_code_of_the_query_protocol) {
  EXPECT_EQ(print_query_error(sts_service(), {"IDPCommunicationErrorException", "a < b"}, "r"),
            "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error>"
            "<Type>Sender</Type><Code>IDPCommunicationError</Code><Message>a &lt; b</Message>"
            "</Error><RequestId>r</RequestId></ErrorResponse>");
  EXPECT_NE(print_query_error(sts_service(), {"InternalFailure", ""}, "r").find("Receiver"),
            std::string::npos);
}

}  // namespace
}  // namespace api
