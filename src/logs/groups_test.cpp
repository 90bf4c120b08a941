#include "logs/testing.h"

namespace logs {
namespace {

std::vector<std::string> names_of(const wire::DescribeLogGroupsResponse& response) {
  std::vector<std::string> names;
  for (const auto& group : response.log_groups) names.push_back(*group.log_group_name);
  return names;
}

wire::CreateLogGroupRequest group_request(const std::string& name) {
  wire::CreateLogGroupRequest request;
  request.log_group_name = name;
  return request;
}

TEST(log_groups, a_new_group_is_described_as_aws_does) {
  TestLogs logs;
  auto request = group_request("/ecs/train");
  request.tags = {{"team", "vision"}};
  logs.call<wire::CreateLogGroupResponse>("CreateLogGroup", request);
  const wire::LogGroup group = logs.describe_group("/ecs/train");
  EXPECT_EQ(group.arn, "arn:aws:logs:eu-west-1:123456789012:log-group:/ecs/train:*");
  EXPECT_EQ(group.log_group_arn, "arn:aws:logs:eu-west-1:123456789012:log-group:/ecs/train");
  EXPECT_EQ(group.creation_time, test_now.time_since_epoch().count());
  EXPECT_EQ(group.retention_in_days, std::nullopt);
  EXPECT_EQ(group.metric_filter_count, 0);
  EXPECT_EQ(group.stored_bytes, 0);
  EXPECT_EQ(group.log_group_class, wire::LogGroupClass::Standard);
  EXPECT_EQ(group.deletion_protection_enabled, false);
}

TEST(log_groups, a_name_is_taken_only_once) {
  TestLogs logs;
  logs.create_group("a");
  EXPECT_EQ(
      logs.error("CreateLogGroup", group_request("a")),
      (base::Error{"ResourceAlreadyExistsException", "The specified log group already exists"}));
}

TEST(log_groups, bad_requests_are_refused_with_the_constraint) {
  TestLogs logs;
  const auto error_of = [&](wire::CreateLogGroupRequest request) {
    const base::Error error = logs.error("CreateLogGroup", std::move(request));
    EXPECT_EQ(error.code, "InvalidParameterException");
    return error.message;
  };
  EXPECT_EQ(error_of(group_request("a b")),
            "1 validation error detected: Value 'a b' at 'logGroupName' failed to satisfy "
            "constraint: Member must satisfy regular expression pattern: [\\.\\-_/#A-Za-z0-9]+");
  EXPECT_NE(error_of(group_request("")).find("greater than or equal to 1"), std::string::npos);
  EXPECT_NE(error_of(group_request(std::string(513, 'x'))).find("less than or equal to 512"),
            std::string::npos);
  EXPECT_NE(error_of(group_request("aws/x")).find("reserved"), std::string::npos);
  auto request = group_request("a");
  request.kms_key_id = "arn:aws:kms:eu-west-1:123456789012:key/1";
  EXPECT_NE(error_of(request).find("kmsKeyId"), std::string::npos);
  request = group_request("a");
  request.log_group_class = wire::LogGroupClass::Delivery;
  EXPECT_NE(error_of(request).find("DELIVERY"), std::string::npos);
  request = group_request("a");
  request.tags = {{"aws:x", "y"}};
  EXPECT_NE(error_of(request).find("aws:"), std::string::npos);
  request.tags = {{"x", std::string(257, 'y')}};
  EXPECT_NE(error_of(request).find("256"), std::string::npos);
  logs.call<wire::CreateLogGroupResponse>("CreateLogGroup", group_request(std::string(512, 'x')));
}

TEST(log_groups, are_listed_in_the_order_of_their_names_page_by_page) {
  TestLogs logs;
  std::vector<std::string> all;
  for (int index = 0; index < 23; ++index) all.push_back("g" + std::to_string(index));
  for (const std::string& name : all) logs.create_group(name);
  logs.create_group("A");
  logs.create_group("h");
  std::ranges::sort(all);
  for (const int limit : {1, 2, 5, 22, 23, 24, 50}) {
    wire::DescribeLogGroupsRequest request;
    request.log_group_name_prefix = "g";
    request.limit = limit;
    std::vector<std::string> seen;
    for (;;) {
      const auto page = logs.call<wire::DescribeLogGroupsResponse>("DescribeLogGroups", request);
      EXPECT_LE(std::ssize(page.log_groups), limit);
      for (const std::string& name : names_of(page)) seen.push_back(name);
      if (!page.next_token) break;
      EXPECT_EQ(std::ssize(page.log_groups), limit);
      request.next_token = page.next_token;
    }
    EXPECT_EQ(seen, all) << limit;
  }
}

TEST(log_groups, can_be_chosen_by_pattern_class_or_identifier) {
  TestLogs logs;
  for (const char* name : {"DataLogs", "aws-DataLogs", "datalogs", "GroupDataLogs"}) {
    logs.create_group(name);
  }
  auto rare = group_request("rare");
  rare.log_group_class = wire::LogGroupClass::InfrequentAccess;
  logs.call<wire::CreateLogGroupResponse>("CreateLogGroup", rare);

  wire::DescribeLogGroupsRequest by_pattern;
  by_pattern.log_group_name_pattern = "DataLogs";
  const auto found = logs.call<wire::DescribeLogGroupsResponse>("DescribeLogGroups", by_pattern);
  EXPECT_EQ(names_of(found),
            (std::vector<std::string>{"DataLogs", "GroupDataLogs", "aws-DataLogs"}));
  EXPECT_EQ(found.log_groups[0].stored_bytes, std::nullopt);  // Only three members are included.
  EXPECT_TRUE(found.log_groups[0].arn);

  wire::DescribeLogGroupsRequest by_class;
  by_class.log_group_class = wire::LogGroupClass::InfrequentAccess;
  EXPECT_EQ(names_of(logs.call<wire::DescribeLogGroupsResponse>("DescribeLogGroups", by_class)),
            std::vector<std::string>{"rare"});

  wire::DescribeLogGroupsRequest by_identifier;
  by_identifier.log_group_identifiers = {
      "rare", "arn:aws:logs:eu-west-1:123456789012:log-group:datalogs", "missing"};
  EXPECT_EQ(
      names_of(logs.call<wire::DescribeLogGroupsResponse>("DescribeLogGroups", by_identifier)),
      (std::vector<std::string>{"rare", "datalogs"}));

  by_pattern.log_group_name_prefix = "Data";
  EXPECT_EQ(logs.error("DescribeLogGroups", by_pattern).code, "InvalidParameterException");
  wire::DescribeLogGroupsRequest bad_token;
  bad_token.next_token = "x";
  EXPECT_EQ(logs.error("DescribeLogGroups", bad_token).message,
            "The specified nextToken is invalid.");
  wire::DescribeLogGroupsRequest bad_limit;
  bad_limit.limit = 51;
  EXPECT_NE(logs.error("DescribeLogGroups", bad_limit).message.find("'limit'"), std::string::npos);
}

TEST(log_groups, retention_takes_just_the_allowed_days) {
  TestLogs logs;
  logs.create_group("a");
  wire::PutRetentionPolicyRequest put;
  put.log_group_name = "a";
  int allowed = 0;
  for (int days = -1; days <= 4000; ++days) {
    put.retention_in_days = days;
    const base::Error error = logs.error("PutRetentionPolicy", put);
    if (error == base::Error{}) {
      ++allowed;
      EXPECT_EQ(logs.describe_group("a").retention_in_days, days);
    } else {
      EXPECT_EQ(error.code, "InvalidParameterException");
    }
  }
  EXPECT_EQ(allowed, 22);
  put.retention_in_days = 2;
  EXPECT_NE(logs.error("PutRetentionPolicy", put)
                .message.find("Member must satisfy enum value set: [1, 3, 5, 7, 14, 30,"),
            std::string::npos);
  wire::DeleteRetentionPolicyRequest remove;
  remove.log_group_name = "a";
  logs.call<wire::DeleteRetentionPolicyResponse>("DeleteRetentionPolicy", remove);
  EXPECT_EQ(logs.describe_group("a").retention_in_days, std::nullopt);
  put.log_group_name = "b";
  put.retention_in_days = 7;
  EXPECT_EQ(logs.error("PutRetentionPolicy", put),
            (base::Error{"ResourceNotFoundException", "The specified log group does not exist."}));
}

TEST(log_groups, tags_are_put_listed_and_removed_by_arn) {
  TestLogs logs;
  logs.create_group("/ecs/a");
  const std::string arn = "arn:aws:logs:eu-west-1:123456789012:log-group:/ecs/a";
  wire::TagResourceRequest tag;
  tag.resource_arn = arn + ":*";
  tag.tags = {{"a", "1"}, {"b", "2"}};
  logs.call<wire::TagResourceResponse>("TagResource", tag);
  tag.resource_arn = arn;
  tag.tags = {{"b", "3"}, {"c", ""}};
  logs.call<wire::TagResourceResponse>("TagResource", tag);
  wire::UntagResourceRequest untag;
  untag.resource_arn = arn;
  untag.tag_keys = {"a", "missing"};
  logs.call<wire::UntagResourceResponse>("UntagResource", untag);
  wire::ListTagsForResourceRequest list;
  list.resource_arn = arn;
  const auto listed = logs.call<wire::ListTagsForResourceResponse>("ListTagsForResource", list);
  EXPECT_EQ(listed.tags, (std::map<std::string, std::string>{{"b", "3"}, {"c", ""}}));

  for (int index = 0; index < 48; ++index) tag.tags["k" + std::to_string(index)] = "";
  logs.call<wire::TagResourceResponse>("TagResource", tag);
  tag.tags = {{"one", "more"}};
  EXPECT_EQ(logs.error("TagResource", tag).code, "TooManyTagsException");

  list.resource_arn = "arn:aws:logs:eu-west-1:123456789012:log-group:missing";
  EXPECT_EQ(logs.error("ListTagsForResource", list).code, "ResourceNotFoundException");
  list.resource_arn = "arn:aws:logs:us-east-1:123456789012:log-group:/ecs/a";
  EXPECT_EQ(logs.error("ListTagsForResource", list).code, "ResourceNotFoundException");
  list.resource_arn = "/ecs/a";
  EXPECT_EQ(logs.error("ListTagsForResource", list).code, "InvalidParameterException");
}

TEST(log_groups, deletion_takes_streams_and_tags_along_and_frees_the_name) {
  TestLogs logs;
  auto request = group_request("a");
  request.tags = {{"old", "tag"}};
  logs.call<wire::CreateLogGroupResponse>("CreateLogGroup", request);
  logs.create_stream("a", "s");
  logs.put(put_request("a", "s", {{ms_before_now(1), "old"}}));
  wire::DeleteLogGroupRequest remove;
  remove.log_group_name = "a";
  logs.call<wire::DeleteLogGroupResponse>("DeleteLogGroup", remove);
  EXPECT_EQ(logs.error("DeleteLogGroup", remove),
            (base::Error{"ResourceNotFoundException", "The specified log group does not exist."}));
  logs.create_group("a");
  EXPECT_EQ(logs.describe_group("a").stored_bytes, 0);
  wire::ListTagsForResourceRequest list;
  list.resource_arn = "arn:aws:logs:eu-west-1:123456789012:log-group:a";
  EXPECT_TRUE(
      logs.call<wire::ListTagsForResourceResponse>("ListTagsForResource", list).tags.empty());
  logs.create_stream("a", "s");
  EXPECT_TRUE(logs.read("a", "s").empty());
  wire::FilterLogEventsRequest filter;
  filter.log_group_name = "a";
  EXPECT_TRUE(logs.call<wire::FilterLogEventsResponse>("FilterLogEvents", filter).events.empty());
}

TEST(log_groups, deletion_protection_keeps_group_and_streams) {
  TestLogs logs;
  auto request = group_request("a");
  request.deletion_protection_enabled = true;
  logs.call<wire::CreateLogGroupResponse>("CreateLogGroup", request);
  logs.create_stream("a", "s");
  wire::DeleteLogGroupRequest remove;
  remove.log_group_name = "a";
  EXPECT_EQ(logs.error("DeleteLogGroup", remove).code, "ValidationException");
  wire::DeleteLogStreamRequest remove_stream;
  remove_stream.log_group_name = "a";
  remove_stream.log_stream_name = "s";
  EXPECT_EQ(logs.error("DeleteLogStream", remove_stream).code, "ValidationException");
  wire::PutLogGroupDeletionProtectionRequest unprotect;
  unprotect.log_group_identifier = "a";
  unprotect.deletion_protection_enabled = false;
  logs.call<wire::PutLogGroupDeletionProtectionResponse>("PutLogGroupDeletionProtection",
                                                         unprotect);
  logs.call<wire::DeleteLogGroupResponse>("DeleteLogGroup", remove);
}

}  // namespace
}  // namespace logs
