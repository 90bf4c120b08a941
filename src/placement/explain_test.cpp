#include "placement/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "placement/testing.h"

namespace placement {
namespace {

using test::gpu_request;
using test::member_of;
using test::share_request;
using test::TestCluster;
using ::testing::HasSubstr;

model::InstanceArn instance_arn(const std::string& id) {
  return model::instance_arn({}, test::cluster_name, id);
}

// A task that holds the first `gpus` GPUs of the instance that are free.
model::TaskArn put(TestCluster& cluster, const std::string& id, const std::string& instance,
                   int gpus, int64_t cpu_units = 100) {
  model::Task task;
  task.arn = model::task_arn({}, test::cluster_name, id);
  task.cluster = test::cluster_name;
  task.instance = instance_arn(instance);
  task.group = "family:other";
  task.last_status = model::TaskStatus::Running;
  task.held.cpu_units = cpu_units;
  task.held.memory_mib = 80;
  for (const model::GpuSlot& slot : cluster.instance(task.instance).gpus) {
    if (gpus == 0) break;
    if (slot.state != model::GpuState::Idle) continue;
    task.held.gpus.push_back({.container = "main", .gpu = slot.device.uuid});
    --gpus;
  }
  const model::TaskArn arn = task.arn;
  cluster.apply(model::TaskPlaced{std::move(task)});
  return arn;
}

std::string told(TestCluster& cluster, const Request& request) {
  const auto explanation = explain(cluster.engine, cluster.state, request);
  EXPECT_TRUE(explanation.has_value());
  return explanation ? "\n" + print_text(*explanation) : "";
}

std::string told_as_json(TestCluster& cluster, const Request& request) {
  return print_json(*explain(cluster.engine, cluster.state, request));
}

TEST(Explain, where_a_task_would_go_and_with_which_gpus) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 4});
  EXPECT_EQ(told(cluster, gpu_request(2)), R"text(
The task asks for 100 CPU units, 80 MiB of memory, 2 GPUs.
1 container instance in the cluster.
The task would be placed on instance a.
  container main gets GPU 0: GPU-a-0
  container main gets GPU 1: GPU-a-1
)text");
}

TEST(Explain, free_gpus_that_are_scattered_can_be_asked_waited_or_moved_for) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.add({.id = id, .gpus = 4});
  put(cluster, "ta", "a", 1);
  put(cluster, "tb", "b", 1);
  put(cluster, "tc", "c", 2);
  EXPECT_EQ(told(cluster, gpu_request(4)), R"text(
The task asks for 100 CPU units, 80 MiB of memory, 4 GPUs.
3 container instances in the cluster.
  3 fall at RESOURCE:GPU (4 GPUs), 0 left
The task needs 4 GPUs on one instance: 8 free, but as 3+3+2.
Nearest fits:
  a RESOURCE:GPU: The task needs 4 GPUs; 3 free of 4.
  b RESOURCE:GPU: The task needs 4 GPUs; 3 free of 4.
  c RESOURCE:GPU: The task needs 4 GPUs; 2 free of 4.
To place it:
  - ask for 3 GPUs instead of 4
  - wait for task ta on instance a
  - move task ta from instance a to instance b
)text");
}

TEST(Explain, how_many_instances_fall_at_each_step) {
  TestCluster cluster;
  const std::map<std::string, std::string> cuda = {{"berth.cuda", "12"}};
  const auto away = cluster.add({.id = "away", .gpus = 1, .attributes = cuda});
  cluster.connect(away, false);
  cluster.add({.id = "plain", .gpus = 1});
  cluster.add({.id = "small", .cpu_units = 64, .gpus = 1, .attributes = cuda});
  cluster.add({.id = "none", .attributes = cuda});
  cluster.add({.id = "far", .gpus = 1, .attributes = cuda});
  const auto gone = cluster.add({.id = "gone", .gpus = 1, .attributes = cuda});
  cluster.apply(model::InstanceDeregistered{.arn = gone, .at = {}});
  model::ContainerInstance draining;
  draining.cpu_units = draining.memory_mib = 4096;
  draining.status = model::InstanceStatus::Draining;
  cluster.add("draining", draining);
  Request request = gpu_request(1);
  request.required_attributes = {"berth.cuda"};
  request.constraints.push_back(member_of("attribute:zone == near"));
  EXPECT_EQ(told(cluster, request), R"text(
The task asks for 100 CPU units, 80 MiB of memory, 1 GPU.
6 container instances in the cluster.
  1 falls at NOT ACTIVE (DRAINING), 5 left
  1 falls at AGENT (agent not connected), 4 left
  1 falls at ATTRIBUTE (berth.cuda), 3 left
  1 falls at RESOURCE:CPU (100 CPU units), 2 left
  1 falls at RESOURCE:GPU (1 GPU), 1 left
  1 falls at MemberOf placement constraint unsatisfied (attribute:zone == near), 0 left
The expression 'attribute:zone == near' does not hold.
Nearest fits:
  far MemberOf placement constraint unsatisfied: The expression 'attribute:zone == near' does not hold.
  plain ATTRIBUTE: The instance lacks the attribute berth.cuda. The expression 'attribute:zone == near' does not hold.
  away AGENT: The agent of the instance is not connected: The network is down. The expression 'attribute:zone == near' does not hold.
To place it:
  - drop the constraint 'attribute:zone == near'
)text");
}

TEST(Explain, an_instance_is_called_by_its_host_and_one_that_drains_is_told_so) {
  TestCluster cluster;
  cluster.add({.id = "0f3a", .gpus = 1, .attributes = {{"berth.host-name", "box"}}});
  const auto rack =
      cluster.add({.id = "7c01", .gpus = 1, .attributes = {{"berth.host-name", "rack"}}});
  cluster.apply(model::InstanceStatusChanged{rack, model::InstanceStatus::Draining});
  EXPECT_THAT(told(cluster, gpu_request(1)),
              HasSubstr("1 falls at NOT ACTIVE (DRAINING), 1 left\nThe task would be placed on "
                        "instance box (0f3a)."));
}

TEST(Explain, a_task_on_a_machine_that_is_gone_is_told_so) {
  TestCluster cluster;
  const auto arn = cluster.add({.id = "a"});
  const auto task = cluster.run(gpu_request(0));
  cluster.fall_silent(arn);
  EXPECT_THAT(explain_task(cluster.state, task->arn),
              HasSubstr("The agent of the instance does not answer: Connection reset by peer. What "
                        "stands here is what it told last."));
}

TEST(Explain, what_a_service_runs_is_not_waited_for_where_another_task_ends) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 1});
  cluster.add({.id = "b", .gpus = 1});
  Request of_service = gpu_request(1);
  of_service.group = "service:web";
  cluster.run(of_service);
  EXPECT_TRUE(cluster.run(gpu_request(1)).has_value());
  EXPECT_THAT(told(cluster, gpu_request(1)), HasSubstr("wait for task"));
  EXPECT_THAT(told(cluster, gpu_request(1)), ::testing::Not(HasSubstr("service web")));
  TestCluster full;
  full.add({.id = "a", .gpus = 1});
  full.run(of_service);
  EXPECT_THAT(told(full, gpu_request(1)),
              HasSubstr("is of service web, which does not end by itself; aws ecs update-service "
                        "--cluster default --service web --desired-count N lowers its number"));
}

TEST(Explain, more_than_any_instance_has) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 4});
  EXPECT_EQ(told(cluster, gpu_request(8)), R"text(
The task asks for 100 CPU units, 80 MiB of memory, 8 GPUs.
1 container instance in the cluster.
  1 falls at RESOURCE:GPU (8 GPUs), 0 left
The task needs 8 GPUs; no instance has more than 4.
Nearest fits:
  a RESOURCE:GPU: The task needs 8 GPUs; no instance has more than 4.
To place it:
  - ask for 4 GPUs instead of 8
)text");
}

TEST(Explain, what_no_instance_has_needs_an_instance_and_no_waiting) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 4});
  Request request = gpu_request(1);
  request.resources.gpus[0] = {
      .container = "main", .kind = model::GpuRequestKind::Profile, .mig_profile = "1g.10gb"};
  EXPECT_THAT(told(cluster, request),
              ::testing::EndsWith("\n  - add a container instance that meets all of this\n"));
  cluster.run(gpu_request(4));
  EXPECT_THAT(told(cluster, share_request(16385)),
              ::testing::EndsWith("\n  - add a container instance that meets all of this\n"));
  EXPECT_THAT(told(cluster, share_request(16384)), HasSubstr("wait for task"));
}

TEST(Explain, an_empty_cluster_says_so) {
  TestCluster cluster;
  EXPECT_EQ(told(cluster, gpu_request(1)), R"text(
The task asks for 100 CPU units, 80 MiB of memory, 1 GPU.
0 container instances in the cluster.
The cluster has no ACTIVE container instance.
To place it:
  - add a container instance that meets all of this
)text");
}

TEST(Explain, the_only_constraint_in_the_way_is_named) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 1});
  Request request = gpu_request(1);
  request.constraints.push_back(
      member_of("attribute:x == 1 or attribute:y == 2 and attribute:z == 3"));
  EXPECT_EQ(told(cluster, request), R"text(
The task asks for 100 CPU units, 80 MiB of memory, 1 GPU.
1 container instance in the cluster.
  1 falls at MemberOf placement constraint unsatisfied (attribute:x == 1 or attribute:y == 2 and attribute:z == 3), 0 left
The expression 'attribute:x == 1 or attribute:y == 2 and attribute:z == 3' does not hold.
Nearest fits:
  a MemberOf placement constraint unsatisfied: The expression 'attribute:x == 1 or attribute:y == 2 and attribute:z == 3' does not hold.
To place it:
  - drop the constraint 'attribute:x == 1 or attribute:y == 2 and attribute:z == 3'
Warning: 'attribute:x == 1 or attribute:y == 2 and attribute:z == 3': The expression mixes 'and' and 'or' without parentheses: 'and' binds tighter here; write the parentheses to be sure.
)text");
}

TEST(Explain, as_json) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 2});
  EXPECT_EQ(
      told_as_json(cluster, gpu_request(1)),
      R"({"placeable":true,"summary":"The task would be placed on instance a.",)"
      R"("wanted":"100 CPU units, 80 MiB of memory, 1 GPU","instances":1,"steps":[],)"
      R"("placement":{"containerInstanceArn":"arn:aws:ecs:us-east-1:123456789012:)"
      R"(container-instance/default/a","gpus":[{"container":"main","gpuId":"GPU-a-0",)"
      R"("gpuIndex":0,"shared":false}],"cpuset":""},"nearest":[],"changes":[],"warnings":[]})");
  put(cluster, "t", "a", 1);
  EXPECT_EQ(told_as_json(cluster, gpu_request(2)),
            R"({"placeable":false,"summary":"The task needs 2 GPUs on one instance: 1 free.",)"
            R"("wanted":"100 CPU units, 80 MiB of memory, 2 GPUs","instances":1,"steps":[)"
            R"({"reason":"RESOURCE:GPU","subject":"2 GPUs","fallen":1,"left":0}],)"
            R"("placement":null,"nearest":[{"containerInstanceArn":"arn:aws:ecs:us-east-1:)"
            R"(123456789012:container-instance/default/a","reason":"RESOURCE:GPU",)"
            R"("detail":"The task needs 2 GPUs; 1 free of 2."}],"changes":[{"change":"ASK_LESS",)"
            R"("sentence":"ask for 1 GPU instead of 2","containerInstanceArn":"arn:aws:ecs:)"
            R"(us-east-1:123456789012:container-instance/default/a","taskArns":[]},)"
            R"({"change":"WAIT","sentence":"wait for task t on instance a",)"
            R"("containerInstanceArn":"arn:aws:ecs:us-east-1:123456789012:)"
            R"(container-instance/default/a","taskArns":["arn:aws:ecs:us-east-1:)"
            R"(123456789012:task/default/t"]}],"warnings":[]})");
}

TEST(ExplainOn, the_named_instance_is_the_only_one_looked_at) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 1});
  cluster.add({.id = "b", .gpus = 1});
  put(cluster, "t", "a", 1);
  EXPECT_EQ("\n" + print_text(explain_on(cluster.engine, cluster.state, gpu_request(1),
                                         instance_arn("a"))),
            R"text(
The task asks for 100 CPU units, 80 MiB of memory, 1 GPU.
1 container instance in the cluster.
  1 falls at RESOURCE:GPU (the instance named), 0 left
The task needs 1 GPU; 0 free of 1.
Nearest fits:
  a RESOURCE:GPU: The task needs 1 GPU; 0 free of 1.
)text");
  EXPECT_TRUE(explain_on(cluster.engine, cluster.state, gpu_request(1), instance_arn("b"))
                  .placement.has_value());
}

TEST(ExplainTask, what_it_holds_and_where) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 2});
  const model::TaskArn arn = put(cluster, "t", "a", 1);
  EXPECT_EQ("\n" + explain_task(cluster.state, arn), R"text(
Task t is RUNNING on instance a.
It holds 100 CPU units and 80 MiB of memory.
Container main holds all of GPU 0: GPU-a-0 (Test GPU, DEDICATED).
)text");
  EXPECT_EQ(explain_task_json(cluster.state, arn),
            R"({"taskArn":"arn:aws:ecs:us-east-1:123456789012:task/default/t",)"
            R"("lastStatus":"RUNNING","stoppedReason":"","containerInstanceArn":)"
            R"("arn:aws:ecs:us-east-1:123456789012:container-instance/default/a",)"
            R"("cpuUnits":100,"memoryMiB":80,"cpuset":"","gpus":[{"container":"main",)"
            R"("gpuId":"GPU-a-0","gpuIndex":0,"shared":false,"memoryMiB":16384,"model":"Test GPU",)"
            R"("state":"DEDICATED","holders":1}]})");
  EXPECT_EQ(explain_task_json(cluster.state, model::TaskArn("none")), "null");
}

TEST(Brief, has_the_refusal_the_summary_and_the_smallest_change_once_each) {
  TestCluster cluster;
  for (const char* id : {"a", "b"}) cluster.add({.id = id, .gpus = 4});
  put(cluster, "ta", "a", 1);
  put(cluster, "tb", "b", 2);
  // One that was deregistered is no fit.
  const auto gone = cluster.add({.id = "gone", .gpus = 4});
  cluster.apply(model::InstanceDeregistered{.arn = gone, .at = {}});
  const auto explanation = explain(cluster.engine, cluster.state, gpu_request(4));
  EXPECT_EQ(print_brief(explanation->nearest.at(0), *explanation, 1000),
            "The task needs 4 GPUs; 3 free of 4. The task needs 4 GPUs on one instance: 5 free, "
            "but as 3+2. The nearest fit of 2 instances is instance a. To place it: ask for 3 GPUs "
            "instead of 4.");
}

TEST(Brief, is_cut_at_a_word) {
  const Refusal refusal{.instance = {}, .reason = "AGENT", .detail = "one two three four"};
  EXPECT_EQ(print_brief(refusal, {}, 18), "one two three four");
  EXPECT_EQ(print_brief(refusal, {}, 17), "one two three...");
  EXPECT_EQ(print_brief(refusal, {}, 10), "one two...");
  EXPECT_EQ(print_brief(refusal, {}, 4), "...");
}

}  // namespace
}  // namespace placement
