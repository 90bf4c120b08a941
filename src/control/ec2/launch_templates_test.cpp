#include <gtest/gtest.h>

#include "api/json.h"
#include "api/testing/random_value.h"
#include "control/autoscaling/testing_api.h"
#include "control/request/echo.h"

namespace control {
namespace {

using testing::ScalingPlane;
namespace ec2 = api::ec2;

class LaunchTemplates : public ::testing::Test {
 protected:
  base::Result<ec2::CreateLaunchTemplateVersionResult> add_version(const std::string& id,
                                                                   const std::string& type,
                                                                   const std::string& source = {}) {
    ec2::CreateLaunchTemplateVersionRequest request;
    request.launch_template_id = id;
    if (!source.empty()) request.source_version = source;
    request.launch_template_data.emplace();
    if (!type.empty()) request.launch_template_data->instance_type = type;
    return plane.ec2<ec2::CreateLaunchTemplateVersionResult>("CreateLaunchTemplateVersion",
                                                             std::move(request));
  }
  base::Result<ec2::DescribeLaunchTemplateVersionsResult> versions(
      ec2::DescribeLaunchTemplateVersionsRequest request) {
    return plane.ec2<ec2::DescribeLaunchTemplateVersionsResult>("DescribeLaunchTemplateVersions",
                                                                std::move(request));
  }
  base::Result<ec2::ModifyLaunchTemplateResult> set_default(const std::string& id,
                                                            const std::string& version) {
    ec2::ModifyLaunchTemplateRequest request;
    request.launch_template_id = id;
    request.default_version = version;
    return plane.ec2<ec2::ModifyLaunchTemplateResult>("ModifyLaunchTemplate", request);
  }
  std::string type_of_group() {
    return plane.core.state().auto_scaling_groups.at("g").instance_type;
  }

  ScalingPlane plane;
};

TEST_F(LaunchTemplates, a_template_is_made_once_for_each_client_token) {
  ec2::CreateLaunchTemplateRequest request;
  request.launch_template_name = "gpu";
  request.client_token = "token";
  request.version_description = "first";
  request.launch_template_data.emplace().instance_type = "p4d.24xlarge";
  request.tag_specifications = {{.resource_type = ec2::ResourceType::LaunchTemplate,
                                 .tags = {{.key = "team", .value = "a"}}}};
  const auto made = plane.ec2<ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", request);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->launch_template->launch_template_id->starts_with("lt-"));
  EXPECT_EQ(made->launch_template->launch_template_id->size(), 20U);
  EXPECT_EQ(made->launch_template->default_version_number, 1);
  EXPECT_EQ(made->launch_template->tags[0].value, "a");
  const auto again = plane.ec2<ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", request);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->launch_template, made->launch_template);
  ec2::CreateLaunchTemplateRequest different = request;
  different.launch_template_name = "other";
  EXPECT_EQ(
      plane.ec2<ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", different).error().code,
      "IdempotentParameterMismatch");
  different = request;
  different.launch_template_data->instance_type = "p3.2xlarge";
  EXPECT_EQ(
      plane.ec2<ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", different).error().code,
      "IdempotentParameterMismatch");
  request.client_token = "another";
  EXPECT_EQ(
      plane.ec2<ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", request).error().code,
      "InvalidLaunchTemplateName.AlreadyExistsException");
  EXPECT_EQ(plane.core.state().launch_templates.size(), 1U);
}

TEST_F(LaunchTemplates, a_version_is_made_once_for_each_client_token) {
  const std::string id = plane.create_template("gpu");
  const std::string other = plane.create_template("other");
  ec2::CreateLaunchTemplateVersionRequest request;
  request.launch_template_id = id;
  request.client_token = "token";
  request.launch_template_data.emplace().instance_type = "p4d.24xlarge";
  const auto add = [&](const ec2::CreateLaunchTemplateVersionRequest& asked) {
    return plane.ec2<ec2::CreateLaunchTemplateVersionResult>("CreateLaunchTemplateVersion", asked);
  };
  const auto made = add(request);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->launch_template_version->version_number, 2);
  const auto again = add(request);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->launch_template_version, made->launch_template_version);
  EXPECT_EQ(plane.core.state().launch_templates.at(id).versions.size(), 2U);

  ec2::CreateLaunchTemplateVersionRequest different = request;
  different.launch_template_id = other;
  EXPECT_EQ(add(different).error().code, "IdempotentParameterMismatch");
  different = request;
  different.version_description = "another";
  EXPECT_EQ(add(different).error().code, "IdempotentParameterMismatch");
  different.client_token = "another";
  EXPECT_EQ(add(different)->launch_template_version->version_number, 3);
  request.client_token.reset();
  EXPECT_EQ(add(request)->launch_template_version->version_number, 4);
  EXPECT_EQ(add(request)->launch_template_version->version_number, 5) << "no token, no memory";
}

TEST_F(LaunchTemplates, wrong_requests_are_refused_and_change_nothing) {
  ec2::CreateLaunchTemplateRequest request;
  request.launch_template_name = "a b";
  request.launch_template_data.emplace().instance_type = "p3.2xlarge";
  const auto code = [&](auto spoiled) {
    const auto result = plane.ec2<ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", spoiled);
    return result ? "made" : result.error().code;
  };
  EXPECT_EQ(code(request), "InvalidLaunchTemplateName.MalformedException");
  request.launch_template_name = "gpu";
  ec2::CreateLaunchTemplateRequest spoiled = request;
  spoiled.launch_template_data->instance_requirements.emplace();
  EXPECT_EQ(code(spoiled), "InvalidParameterValue");
  spoiled = request;
  spoiled.tag_specifications = {{.resource_type = ec2::ResourceType::Instance, .tags = {}}};
  EXPECT_EQ(code(spoiled), "InvalidParameterValue");
  spoiled = request;
  spoiled.launch_template_data.reset();
  EXPECT_EQ(code(spoiled), "MissingParameter");
  spoiled = request;
  spoiled.dry_run = true;
  EXPECT_EQ(code(spoiled), "DryRunOperation");
  EXPECT_TRUE(plane.changes.empty());
  EXPECT_EQ(code(request), "made");
}

TEST_F(LaunchTemplates, versions_count_on_and_a_source_gives_what_is_not_named) {
  ec2::CreateLaunchTemplateRequest request;
  request.launch_template_name = "gpu";
  request.launch_template_data.emplace().instance_type = "p3.2xlarge";
  request.launch_template_data->key_name = "key";
  request.launch_template_data->security_group_ids = {"sg-1"};
  const auto made = plane.ec2<ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", request);
  const std::string id = *made->launch_template->launch_template_id;
  const auto second = add_version(id, "p3.8xlarge", "1");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->launch_template_version->version_number, 2);
  EXPECT_EQ(second->launch_template_version->default_version, false);
  EXPECT_EQ(second->launch_template_version->launch_template_data->key_name, "key");
  EXPECT_EQ(second->launch_template_version->launch_template_data->instance_type, "p3.8xlarge");
  const auto third = add_version(id, "");
  ASSERT_TRUE(third);
  EXPECT_FALSE(third->launch_template_version->launch_template_data->key_name.has_value());
  EXPECT_EQ(add_version(id, "", "9").error().code, "InvalidLaunchTemplateId.VersionNotFound");

  ec2::DescribeLaunchTemplateVersionsRequest ask;
  ask.launch_template_name = "gpu";
  auto listed = versions(ask);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->launch_template_versions.size(), 3U);
  EXPECT_EQ(listed->launch_template_versions[0].version_number, 3);
  ask.versions = {"$Default", "2"};
  listed = versions(ask);
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->launch_template_versions[0].version_number, 2);
  EXPECT_EQ(listed->launch_template_versions[1].version_number, 1);
  ask.versions = {"7"};
  EXPECT_EQ(versions(ask).error().code, "InvalidLaunchTemplateId.VersionNotFound");
  ask.versions = {};
  ask.min_version = "2";
  ask.filters = {{.name = "instance-type", .values = {"p3.*"}}};
  listed = versions(ask);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->launch_template_versions.size(), 1U);
  EXPECT_EQ(listed->launch_template_versions[0].version_number, 2);
  ask = {};
  ask.versions = {"$Latest"};
  listed = versions(ask);
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->launch_template_versions[0].version_number, 3);
  ask.versions = {"1"};
  EXPECT_EQ(versions(ask).error().code, "MissingParameter");
}

TEST_F(LaunchTemplates, groups_follow_the_latest_or_the_default_version) {
  const std::string id = plane.create_template("gpu", "p3.2xlarge");
  api::autoscaling::CreateAutoScalingGroupType group = ScalingPlane::group_request("g");
  group.launch_configuration_name.reset();
  group.launch_template = api::autoscaling::LaunchTemplateSpecification{
      .launch_template_id = id, .launch_template_name = {}, .version = "$Latest"};
  ASSERT_TRUE(plane.create(group));
  EXPECT_EQ(type_of_group(), "p3.2xlarge");
  ASSERT_TRUE(add_version(id, "p4d.24xlarge"));
  EXPECT_EQ(type_of_group(), "p4d.24xlarge");
  api::autoscaling::UpdateAutoScalingGroupType update;
  update.auto_scaling_group_name = "g";
  update.launch_template = group.launch_template;
  update.launch_template->version = "$Default";
  ASSERT_TRUE(plane.update(update));
  EXPECT_EQ(type_of_group(), "p3.2xlarge");
  ASSERT_TRUE(set_default(id, "2"));
  EXPECT_EQ(type_of_group(), "p4d.24xlarge");
  EXPECT_EQ(set_default(id, "3").error().code, "InvalidLaunchTemplateId.VersionNotFound");

  ASSERT_TRUE(add_version(id, ""));
  update.launch_template->version = "3";
  const auto refused = plane.update(update);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("must contain the parameter InstanceType"),
            std::string::npos);
}

TEST_F(LaunchTemplates, the_default_version_is_not_deleted) {
  const std::string id = plane.create_template("gpu");
  ASSERT_TRUE(add_version(id, "p3.8xlarge"));
  ASSERT_TRUE(add_version(id, "p3.16xlarge"));
  ec2::DeleteLaunchTemplateVersionsRequest request;
  request.launch_template_id = id;
  request.versions = {"1", "3", "9"};
  const auto deleted =
      plane.ec2<ec2::DeleteLaunchTemplateVersionsResult>("DeleteLaunchTemplateVersions", request);
  ASSERT_TRUE(deleted);
  ASSERT_EQ(deleted->successfully_deleted_launch_template_versions.size(), 1U);
  EXPECT_EQ(deleted->successfully_deleted_launch_template_versions[0].version_number, 3);
  ASSERT_EQ(deleted->unsuccessfully_deleted_launch_template_versions.size(), 2U);
  EXPECT_EQ(plane.core.state().launch_templates.at(id).latest_version, 2);
}

TEST_F(LaunchTemplates, templates_are_found_by_id_and_by_name_and_deleted) {
  const std::string id = plane.create_template("gpu");
  ec2::DescribeLaunchTemplatesRequest ask;
  ask.launch_template_names = {"gpu"};
  auto listed = plane.ec2<ec2::DescribeLaunchTemplatesResult>("DescribeLaunchTemplates", ask);
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->launch_templates[0].launch_template_id, id);
  ask = {};
  ask.launch_template_ids = {"lt-00000000000000000"};
  listed = plane.ec2<ec2::DescribeLaunchTemplatesResult>("DescribeLaunchTemplates", ask);
  EXPECT_EQ(listed.error().code, "InvalidLaunchTemplateId.NotFound");
  ask.launch_template_ids = {"gpu"};
  listed = plane.ec2<ec2::DescribeLaunchTemplatesResult>("DescribeLaunchTemplates", ask);
  EXPECT_EQ(listed.error().code, "InvalidLaunchTemplateId.Malformed");

  ec2::DeleteLaunchTemplateRequest remove;
  remove.launch_template_name = "gpu";
  ASSERT_TRUE(plane.ec2<ec2::DeleteLaunchTemplateResult>("DeleteLaunchTemplate", remove));
  EXPECT_EQ(plane.ec2<ec2::DeleteLaunchTemplateResult>("DeleteLaunchTemplate", remove).error().code,
            "InvalidLaunchTemplateName.NotFoundException");
}

TEST_F(LaunchTemplates, tags_are_put_and_deleted) {
  const std::string id = plane.create_template("gpu");
  ec2::CreateTagsRequest put;
  put.resources = {id};
  put.tags = {{.key = "a", .value = "1"}, {.key = "b", .value = "2"}};
  ASSERT_TRUE(plane.ec2<ec2::CreateTagsResponse>("CreateTags", put));
  ec2::DeleteTagsRequest remove;
  remove.resources = {id};
  remove.tags = {{.key = "a", .value = "9"}, {.key = "b", .value = {}}};
  ASSERT_TRUE(plane.ec2<ec2::DeleteTagsResponse>("DeleteTags", remove));
  const auto& tags = plane.core.state().launch_templates.at(id).tags;
  ASSERT_EQ(tags.size(), 1U);
  EXPECT_EQ(tags[0].key, "a");
  put.resources = {"vpc-1"};
  EXPECT_EQ(plane.ec2<ec2::CreateTagsResponse>("CreateTags", put).error().code, "InvalidID");
}

TEST_F(LaunchTemplates, instance_types_are_those_of_the_catalogue) {
  ec2::DescribeInstanceTypesRequest request;
  request.instance_types = {"p3.8xlarge"};
  auto told = plane.ec2<ec2::DescribeInstanceTypesResult>("DescribeInstanceTypes", request);
  ASSERT_TRUE(told);
  ASSERT_EQ(told->instance_types.size(), 1U);
  EXPECT_EQ(told->instance_types[0].vcpu_info->default_vcpus, 32);
  EXPECT_EQ(told->instance_types[0].gpu_info->gpus[0].count, 4);
  request.instance_types = {"p3.9xlarge"};
  told = plane.ec2<ec2::DescribeInstanceTypesResult>("DescribeInstanceTypes", request);
  EXPECT_EQ(told.error().code, "InvalidInstanceType");
  request.instance_types = {};
  size_t count = 0;
  request.max_results = 5;
  do {
    told = plane.ec2<ec2::DescribeInstanceTypesResult>("DescribeInstanceTypes", request);
    ASSERT_TRUE(told);
    count += told->instance_types.size();
    request.next_token = told->next_token;
  } while (request.next_token);
  EXPECT_EQ(count, model::instance_types().size());
}

TEST_F(LaunchTemplates, zones_are_those_of_machines) {
  plane.create_cluster();
  plane.register_instance("p3.2xlarge", "a");
  ec2::DescribeAvailabilityZonesRequest request;
  request.filters = {{.name = "state", .values = {"available"}}};
  auto told = plane.ec2<ec2::DescribeAvailabilityZonesResult>("DescribeAvailabilityZones", request);
  ASSERT_TRUE(told);
  ASSERT_EQ(told->availability_zones.size(), 1U);
  EXPECT_EQ(told->availability_zones[0].zone_name, "us-east-1a");
  EXPECT_EQ(told->availability_zones[0].region_name, "us-east-1");
  request.filters = {{.name = "state", .values = {"impaired"}}};
  told = plane.ec2<ec2::DescribeAvailabilityZonesResult>("DescribeAvailabilityZones", request);
  EXPECT_TRUE(told->availability_zones.empty());
  request.filters = {};
  request.zone_names = {"us-east-1q"};
  told = plane.ec2<ec2::DescribeAvailabilityZonesResult>("DescribeAvailabilityZones", request);
  EXPECT_EQ(told.error().code, "InvalidParameterValue");
}

// The two structures of the SDK have the same members under the same names, so nothing of what was
// sent is lost on the way back.
TEST_F(LaunchTemplates, all_data_that_is_sent_is_told_back) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    base::Random random(seed);
    ec2::RequestLaunchTemplateData sent;
    api::testing::fill_random(api::shape_of<ec2::RequestLaunchTemplateData>(), api::Range(), &sent,
                              random, 7);
    const auto told = read_echo<ec2::ResponseLaunchTemplateData>(api::print(sent));
    const auto back = read_echo<ec2::RequestLaunchTemplateData>(api::print(told));
    ASSERT_EQ(api::print(sent), api::print(back)) << seed;
  }
}

}  // namespace
}  // namespace control
