#include "cli/aws_profile.h"

#include <gtest/gtest.h>

#include "cli/access.h"

namespace cli {
namespace {

constexpr const char* config = R"(# Of the AWS CLI.
[default]
region = eu-west-1
[profile berth]
endpoint_url = https://berth.lan:7117  # The control plane.
region=us-east-1
s3 =
  endpoint_url = http://elsewhere
ca_bundle = /etc/berth/ca.pem
; aws_access_key_id = OLD
[profile berth2]
endpoint_url = http://other
)";
constexpr const char* keys = R"([berth]
aws_access_key_id = AKID
aws_secret_access_key = SECRET
[other]
aws_access_key_id = OTHER
)";

TEST(AwsProfile, is_read_from_both_files) {
  const AwsProfile profile = parse_aws_profile("berth", config, keys);
  EXPECT_EQ("https://berth.lan:7117", profile.endpoint_url);
  EXPECT_EQ("us-east-1", profile.region);
  EXPECT_EQ("/etc/berth/ca.pem", profile.ca_bundle);
  EXPECT_EQ("AKID", profile.access_key_id);
  EXPECT_EQ("SECRET", profile.secret_access_key);
  EXPECT_EQ("eu-west-1", parse_aws_profile("default", config, keys).region);
  EXPECT_EQ("", parse_aws_profile("none", config, keys).endpoint_url);
  for (const char* const name : {"default", "berth", "berth2", "other"}) {
    EXPECT_TRUE(parse_aws_profile(name, config, keys).found) << name;
  }
  EXPECT_FALSE(parse_aws_profile("none", config, keys).found);
}

TEST(AwsProfile, says_what_the_environment_does_not) {
  const AwsProfile profile = parse_aws_profile("berth", config, keys);
  const auto unset = [](const char*) { return std::string(); };
  const auto found = server_in_environment(unset, profile);
  ASSERT_TRUE(found);
  EXPECT_EQ("https://berth.lan:7117", found->url);
  EXPECT_EQ("AKID", found->access_key_id);
  EXPECT_EQ("/etc/berth/ca.pem", found->ca_file);
  const auto elsewhere = [](const char* name) {
    return std::string(std::string_view(name) == "AWS_ENDPOINT_URL" ? "http://here" : "");
  };
  EXPECT_EQ("http://here", server_in_environment(elsewhere, profile)->url);
  EXPECT_EQ("AKID", server_in_environment(elsewhere, profile)->access_key_id);
  // One key of two is none: both are the profile's.
  const auto half = [](const char* name) {
    return std::string(std::string_view(name) == "AWS_ACCESS_KEY_ID" ? "HALF" : "");
  };
  EXPECT_EQ("AKID", server_in_environment(half, profile)->access_key_id);
  EXPECT_FALSE(server_in_environment(unset, parse_aws_profile("other", config, keys)));
}

}  // namespace
}  // namespace cli
