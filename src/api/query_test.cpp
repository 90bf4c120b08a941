#include "api/query.h"

#include <gtest/gtest.h>

#include "api/generated/autoscaling.h"
#include "api/generated/ec2.h"
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

TEST(api_query, a_parameter_of_a_target_is_decoded) {
  EXPECT_EQ(query_parameter("/exec/agent/s?x=1&token=a%2Bb+c", "token"), "a+b c");
  EXPECT_EQ(query_parameter("/a?token", "token"), "");
  EXPECT_EQ(query_parameter("/a?token=1&b=%", "token"), "") << "a malformed query has none";
  EXPECT_EQ(query_parameter("/token=1", "token"), "");
  EXPECT_EQ(query_of("/a?b=c?d"), "b=c?d");
  EXPECT_EQ(query_of("/a"), "");
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

constexpr ParseOptions ec2_options{.serialization_code = "InvalidParameterValue",
                                   .validation_code = "InvalidParameterValue"};

template <class T>
base::Result<T> read_ec2(std::string_view form) {
  T value;
  const QueryRequest request = TRY(parse_query(form));
  TRY_VOID(parse_into(request, shape_of<T>(), &value, ec2_options, Protocol::Ec2Query));
  return value;
}

// The forms are botocore's own.
TEST(api_query, a_launch_template_is_read_from_the_form_of_ec2) {
  const auto request = read_ec2<ec2::CreateLaunchTemplateRequest>(
      "Action=CreateLaunchTemplate&Version=2016-11-15&LaunchTemplateName=gpu"
      "&LaunchTemplateData.InstanceType=of.our-own&LaunchTemplateData.SecurityGroupId.1=sg-1"
      "&LaunchTemplateData.NetworkInterface.1.DeviceIndex=0"
      "&LaunchTemplateData.NetworkInterface.1.SecurityGroupId.1=sg-2"
      "&LaunchTemplateData.NetworkInterface.1.SecurityGroupId.2=sg-3"
      "&LaunchTemplateData.NetworkInterface.1.Ipv6Addresses.1.Ipv6Address=%3A%3A1"
      "&LaunchTemplateData.BlockDeviceMapping.1.DeviceName=%2Fdev%2Fsda1"
      "&LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeSize=9"
      "&LaunchTemplateData.TagSpecification.1.ResourceType=instance"
      "&LaunchTemplateData.TagSpecification.1.Tag.1.Key=a"
      "&LaunchTemplateData.TagSpecification.1.Tag.1.Value=b"
      "&LaunchTemplateData.Monitoring.Enabled=true"
      "&TagSpecification.1.ResourceType=launch-template&TagSpecification.1.Tag.1.Key=c"
      "&TagSpecification.1.Tag.1.Value=d");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->launch_template_name, "gpu");
  const ec2::RequestLaunchTemplateData& data = *request->launch_template_data;
  EXPECT_EQ(data.instance_type, "of.our-own");
  EXPECT_EQ(data.security_group_ids[0], "sg-1");
  EXPECT_EQ(data.network_interfaces[0].groups, (std::vector<std::string>{"sg-2", "sg-3"}));
  EXPECT_EQ(data.network_interfaces[0].ipv6_addresses[0].ipv6_address, "::1");
  EXPECT_EQ(data.block_device_mappings[0].ebs->volume_size, 9);
  EXPECT_EQ(data.tag_specifications[0].resource_type, ec2::ResourceType::Instance);
  EXPECT_EQ(data.tag_specifications[0].tags[0].value, "b");
  EXPECT_EQ(data.monitoring->enabled, true);
  EXPECT_EQ(request->tag_specifications[0].tags[0].key, "c");
}

TEST(api_query, other_requests_are_read_from_the_form_of_ec2) {
  const auto versions = read_ec2<ec2::DescribeLaunchTemplateVersionsRequest>(
      "Action=DescribeLaunchTemplateVersions&LaunchTemplateName=gpu"
      "&LaunchTemplateVersion.1=%24Latest&LaunchTemplateVersion.2=2"
      "&Filter.1.Name=instance-type&Filter.1.Value.1=g4dn.%2A");
  ASSERT_TRUE(versions) << versions.error().message;
  EXPECT_EQ(versions->versions, (std::vector<std::string>{"$Latest", "2"}));
  EXPECT_EQ(versions->filters[0].values[0], "g4dn.*");
  const auto modify = read_ec2<ec2::ModifyLaunchTemplateRequest>(
      "Action=ModifyLaunchTemplate&LaunchTemplateId=lt-1&SetDefaultVersion=2");
  ASSERT_TRUE(modify) << modify.error().message;
  EXPECT_EQ(modify->default_version, "2");
  const auto tags = read_ec2<ec2::DeleteTagsRequest>("ResourceId.1=lt-1&Tag.1.Key=c");
  ASSERT_TRUE(tags) << tags.error().message;
  EXPECT_EQ(tags->resources[0], "lt-1");
  EXPECT_EQ(tags->tags[0].key, "c");
}

TEST(api_query, wrong_parameters_of_ec2_are_refused_by_the_name_in_the_form) {
  const auto refused = read_ec2<ec2::CreateLaunchTemplateRequest>(
      "LaunchTemplateName=gpu&LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeSize=many");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "InvalidParameterValue");
  EXPECT_EQ(refused.error().message,
            "The member LaunchTemplateData.BlockDeviceMapping[0].Ebs.VolumeSize must be an integer "
            "from -2147483648 to 2147483647, but \"many\" was given.");
}

TEST(api_query, a_reply_of_ec2_has_its_own_names_and_items) {
  ec2::LaunchTemplateVersion version;
  version.launch_template_id = "lt-1";
  version.version_number = 2;
  version.default_version = true;
  ec2::ResponseLaunchTemplateData& data = version.launch_template_data.emplace();
  data.instance_type = "p3.2xlarge";
  data.network_interfaces.emplace_back().groups = {"sg-<1>"};
  data.tag_specifications.push_back(
      {.resource_type = ec2::ResourceType::Instance, .tags = {{.key = "a", .value = "b"}}});
  const ec2::DescribeLaunchTemplateVersionsResult reply{.launch_template_versions = {version},
                                                        .next_token = {}};
  EXPECT_EQ(
      print_query_response(ec2_service(), "DescribeLaunchTemplateVersions",
                           shape_of<ec2::DescribeLaunchTemplateVersionsResult>(), &reply, "r"),
      "<DescribeLaunchTemplateVersionsResponse "
      "xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15\"><requestId>r</requestId>"
      "<launchTemplateVersionSet><item><launchTemplateId>lt-1</launchTemplateId>"
      "<versionNumber>2</versionNumber><defaultVersion>true</defaultVersion>"
      "<launchTemplateData><networkInterfaceSet><item><groupSet><groupId>sg-&lt;1&gt;"
      "</groupId></groupSet></item></networkInterfaceSet><instanceType>p3.2xlarge"
      "</instanceType><tagSpecificationSet><item><resourceType>instance</resourceType>"
      "<tagSet><item><key>a</key><value>b</value></item></tagSet></item>"
      "</tagSpecificationSet></launchTemplateData></item></launchTemplateVersionSet>"
      "</DescribeLaunchTemplateVersionsResponse>");
}

TEST(api_query, errors_of_ec2_have_its_own_shape) {
  EXPECT_EQ(print_query_error(ec2_service(), {"InvalidLaunchTemplateId.NotFound", "a < b"}, "r"),
            "<Response><Errors><Error><Code>InvalidLaunchTemplateId.NotFound</Code>"
            "<Message>a &lt; b</Message></Error></Errors><RequestID>r</RequestID></Response>");
}

TEST(api_query, a_reply_of_auto_scaling_has_members_in_lists) {
  autoscaling::AutoScalingGroup group;
  group.auto_scaling_group_name = "g";
  group.availability_zones = {"us-east-1a", "us-east-1b"};
  group.tags = {};
  const autoscaling::AutoScalingGroupsType reply{.auto_scaling_groups = {group}, .next_token = {}};
  EXPECT_EQ(
      print_query_response(autoscaling_service(), "DescribeAutoScalingGroups",
                           shape_of<autoscaling::AutoScalingGroupsType>(), &reply, "r"),
      "<DescribeAutoScalingGroupsResponse "
      "xmlns=\"http://autoscaling.amazonaws.com/doc/2011-01-01/\">"
      "<DescribeAutoScalingGroupsResult><AutoScalingGroups><member><AutoScalingGroupName>g"
      "</AutoScalingGroupName><AvailabilityZones><member>us-east-1a</member><member>us-east-1b"
      "</member></AvailabilityZones><Tags></Tags></member></AutoScalingGroups>"
      "</DescribeAutoScalingGroupsResult><ResponseMetadata><RequestId>r</RequestId>"
      "</ResponseMetadata></DescribeAutoScalingGroupsResponse>");
  EXPECT_NE(print_query_error(autoscaling_service(), {"AlreadyExistsFault", ""}, "r")
                .find("<Code>AlreadyExists</Code>"),
            std::string::npos);
}

}  // namespace
}  // namespace api
