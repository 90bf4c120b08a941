#include "control/request/tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/format.h"
#include "control/testing.h"

namespace control {
namespace {

using ::testing::HasSubstr;
using testing::Plane;
using testing::tag;

base::Result<api::ecs::TagResourceResponse> tag_resource(Plane& plane, const std::string& arn,
                                                         const std::vector<api::ecs::Tag>& tags) {
  api::ecs::TagResourceRequest request;
  request.resource_arn = arn;
  for (const api::ecs::Tag& one : tags) request.tags.push_back(one);
  return plane.call<api::ecs::TagResourceResponse>("TagResource", request);
}

base::Result<api::ecs::UntagResourceResponse> untag_resource(Plane& plane, const std::string& arn,
                                                             const std::string& key) {
  api::ecs::UntagResourceRequest request;
  request.resource_arn = arn;
  request.tag_keys.push_back(key);
  return plane.call<api::ecs::UntagResourceResponse>("UntagResource", request);
}

// "a=1 b=2".
std::string tags_of(Plane& plane, const std::string& arn) {
  api::ecs::ListTagsForResourceRequest request;
  request.resource_arn = arn;
  const auto answer =
      plane.call<api::ecs::ListTagsForResourceResponse>("ListTagsForResource", request);
  if (!answer) return answer.error().code;
  std::string text;
  for (const api::ecs::Tag& one : answer->tags) {
    text += base::format("{}{}={}", text.empty() ? "" : " ", *one.key, *one.value);
  }
  return text;
}

const std::string cluster_arn = "arn:aws:ecs:us-east-1:123456789012:cluster/default";
const std::string definition_arn = "arn:aws:ecs:us-east-1:123456789012:task-definition/cpu:1";

TEST(Tags, of_every_kind_of_resource_are_merged_replaced_and_removed) {
  Plane plane;
  plane.create_cluster();
  plane.define("cpu", "");
  const std::string instance = plane.register_instance("c5.2xlarge", "a").str();
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  for (const std::string& arn : {cluster_arn, definition_arn, instance, task}) {
    EXPECT_EQ(tags_of(plane, arn), "");
    ASSERT_TRUE(tag_resource(plane, arn, {tag("team", "vision"), tag("stage", "test")}));
    ASSERT_TRUE(tag_resource(plane, arn, {tag("stage", "live"), tag("empty", "")}));
    EXPECT_EQ(tags_of(plane, arn), "team=vision stage=live empty=");
    ASSERT_TRUE(untag_resource(plane, arn, "team"));
    ASSERT_TRUE(untag_resource(plane, arn, "never there"));
    EXPECT_EQ(tags_of(plane, arn), "stage=live empty=");
  }
  api::ecs::DescribeTasksRequest describe;
  describe.tasks = {task};
  describe.include = {api::ecs::TaskField::Tags};
  const auto told = plane.call<api::ecs::DescribeTasksResponse>("DescribeTasks", describe);
  EXPECT_EQ(told->tasks.at(0).tags.size(), 2U);
}

TEST(Tags, what_does_not_change_a_tag_writes_nothing) {
  Plane plane;
  plane.create_cluster();
  ASSERT_TRUE(tag_resource(plane, cluster_arn, {tag("a", "1")}));
  const size_t changes = plane.changes.size();
  ASSERT_TRUE(tag_resource(plane, cluster_arn, {tag("a", "1")}));
  ASSERT_TRUE(untag_resource(plane, cluster_arn, "b"));
  EXPECT_EQ(plane.changes.size(), changes);
}

// The other one may stand in the call that runs a task of it.
TEST(Tags, one_of_two_that_belong_together_may_stand_on_a_definition) {
  Plane plane;
  plane.create_cluster();
  plane.define("cpu", "");
  EXPECT_TRUE(tag_resource(plane, definition_arn, {tag("berth:gang-size", "2")}));
  EXPECT_TRUE(tag_resource(plane, definition_arn, {tag("berth:gang", "all")}));
}

TEST(Tags, bad_calls_are_refused_by_name) {
  Plane plane;
  plane.create_cluster();
  plane.define("cpu", "");
  const struct {
    std::string arn;
    std::vector<api::ecs::Tag> tags;
    std::string code;
    std::string part;
  } cases[] = {
      {"", {tag("a", "1")}, "InvalidParameterException", "whole ARN"},
      {"default", {tag("a", "1")}, "InvalidParameterException", "whole ARN"},
      {"arn:aws:s3:::bucket", {tag("a", "1")}, "InvalidParameterException", "whole ARN"},
      {"arn:aws:ecs:us-east-1:123456789012:volume/web",
       {tag("a", "1")},
       "InvalidParameterException",
       "names a volume"},
      {"arn:aws:ecs:us-east-1:123456789012:service/default/none",
       {tag("a", "1")},
       "ResourceNotFoundException",
       "service/default/none"},
      {"arn:aws:ecs:us-east-1:123456789012:cluster/none",
       {tag("a", "1")},
       "ClusterNotFoundException",
       "not found"},
      {"arn:aws:ecs:eu-west-1:123456789012:cluster/default",
       {tag("a", "1")},
       "ResourceNotFoundException",
       "eu-west-1"},
      {"arn:aws:ecs:us-east-1:123456789012:task/default/none",
       {tag("a", "1")},
       "ResourceNotFoundException",
       "task/default/none"},
      {"arn:aws:ecs:us-east-1:123456789012:task-definition/none:1",
       {tag("a", "1")},
       "ResourceNotFoundException",
       "none:1"},
      {cluster_arn, {tag("AWS:x", "1")}, "InvalidParameterException", "reserved"},
      {cluster_arn, {tag("a", "1"), tag("a", "2")}, "InvalidParameterException", "'a'"},
      {cluster_arn, {tag("", "1")}, "InvalidParameterException", "empty"},
      {cluster_arn,
       {tag("berth:placement-policy", "best")},
       "InvalidParameterException",
       "berth, fgd, bestfit and random"},
      {cluster_arn,
       {tag("berth:prio", "1")},
       "InvalidParameterException",
       "'berth:prio' is not a tag that Berth knows. These are: berth:priority, "},
      {cluster_arn, {tag("berth:gpu-rolling", "replac")}, "InvalidParameterException", "replace"},
      {definition_arn, {tag("berth:max-seconds", "1h")}, "InvalidParameterException", "1h"},
  };
  for (const auto& one : cases) {
    const auto answer = tag_resource(plane, one.arn, one.tags);
    ASSERT_FALSE(answer) << one.arn;
    EXPECT_EQ(answer.error().code, one.code) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr(one.part));
  }
  EXPECT_EQ(tags_of(plane, cluster_arn), "");
}

TEST(Tags, a_resource_has_at_most_50_however_they_came) {
  Plane plane;
  plane.create_cluster();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(tag_resource(plane, cluster_arn, {tag(base::format("k{}", i), "")}));
  }
  EXPECT_FALSE(tag_resource(plane, cluster_arn, {tag("one more", "")}));
  EXPECT_TRUE(tag_resource(plane, cluster_arn, {tag("k7", "again")}));
}

TEST(Tags, of_what_has_ended_are_read_but_not_changed) {
  Plane plane;
  plane.create_cluster();
  plane.define("cpu", "");
  plane.register_instance("c5.2xlarge", "a");
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  ASSERT_TRUE(tag_resource(plane, task, {tag("a", "1")}));
  plane.report(task, "STOPPED", 0);
  EXPECT_EQ(tags_of(plane, task), "a=1");
  const auto answer = untag_resource(plane, task, "a");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "ClientException");
  EXPECT_THAT(answer.error().message, HasSubstr("stopped"));
}

// On how many instances ten tasks of one GPU each land: six have four GPUs each.
size_t instances_used(Plane& plane) {
  const auto placed = plane.run_task("one", 10);
  CHECK(placed.has_value() && placed->tasks.size() == 10);
  std::set<std::string> used;
  for (const api::ecs::Task& task : placed->tasks) {
    used.insert(*task.container_instance_arn);
    plane.report(*task.task_arn, "STOPPED", 0);
  }
  return used.size();
}

Plane six_instances() {
  Plane plane;
  plane.create_cluster();
  plane.define("one", "1");
  for (int i = 0; i < 6; ++i) plane.register_instance("p3.8xlarge", std::to_string(i));
  return plane;
}

TEST(PlacementPolicy, is_switched_by_a_tag_of_the_cluster_and_back) {
  Plane plane = six_instances();
  EXPECT_EQ(instances_used(plane), 3U);
  ASSERT_TRUE(tag_resource(plane, cluster_arn, {tag("berth:placement-policy", "random")}));
  EXPECT_GT(instances_used(plane), 3U);
  ASSERT_TRUE(untag_resource(plane, cluster_arn, "berth:placement-policy"));
  EXPECT_EQ(instances_used(plane), 3U);
}

TEST(PlacementPolicy, holds_after_a_restart_and_from_the_making_of_the_cluster) {
  Plane plane = six_instances();
  ASSERT_TRUE(tag_resource(plane, cluster_arn, {tag("berth:placement-policy", "random")}));
  plane.core = Core(plane.core.state(), Settings{}, 5, plane.now);
  EXPECT_GT(instances_used(plane), 3U);

  Plane other;
  api::ecs::CreateClusterRequest request;
  request.tags.push_back(tag("berth:placement-policy", "random"));
  ASSERT_TRUE((other.call<api::ecs::CreateClusterResponse>("CreateCluster", request)));
  for (int i = 0; i < 6; ++i) other.register_instance("p3.8xlarge", std::to_string(i));
  other.define("one", "1");
  EXPECT_GT(instances_used(other), 3U);
}

TEST(PlacementPolicy, a_cluster_with_an_unknown_one_is_not_made) {
  Plane plane;
  api::ecs::CreateClusterRequest request;
  request.tags.push_back(tag("berth:placement-policy", "Fgd"));
  const auto answer = plane.call<api::ecs::CreateClusterResponse>("CreateCluster", request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "InvalidParameterException");
  EXPECT_THAT(answer.error().message, HasSubstr("berth, fgd, bestfit and random"));
  EXPECT_TRUE(plane.core.state().clusters.empty());
}

TEST(Tags, are_read_by_an_agents_key_of_its_instance_and_the_tasks_on_it_alone) {
  Plane plane;
  plane.create_cluster();
  plane.define("cpu", "");
  const std::string other = plane.register_instance("c5.2xlarge", "b").str();
  const std::string others_task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  const std::string own = plane.register_instance("c5.18xlarge", "a").str();
  api::ecs::StartTaskRequest start;
  start.task_definition = "cpu";
  start.container_instances.push_back(own);
  const std::string own_task =
      *plane.call<api::ecs::StartTaskResponse>("StartTask", start)->tasks.at(0).task_arn;
  api::berth::CreateAgentKeyRequest request;
  request.container_instance = own;
  const auto key = plane.call<api::berth::CreateAgentKeyResponse>("CreateAgentKey", request);
  ASSERT_TRUE(key) << key.error().message;
  plane.caller.access_key_id = *key->access_key_id;
  plane.caller.access = auth::AgentAccess{};
  EXPECT_EQ(tags_of(plane, own), "");
  EXPECT_EQ(tags_of(plane, own_task), "");
  for (const std::string& arn : {other, others_task, cluster_arn, definition_arn}) {
    EXPECT_EQ(tags_of(plane, arn), "AccessDeniedException") << arn;
  }
}

}  // namespace
}  // namespace control
