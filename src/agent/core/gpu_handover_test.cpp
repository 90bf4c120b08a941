// GPUs between tasks, told as transcripts: the proof that they are empty, and who waits.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Running;
using testing::Up;

constexpr const char* on_gpus =
    R"({"arn":"t1","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]},{"type":"gpu","name":"GPU-2","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true},{"name":"side","image":"b"}]})";

TEST(recovery, stopped_is_told_with_the_proof_that_the_gpus_are_empty) {
  Up t;
  t.payloads["on_gpus"] = on_gpus;
  expect(t, R"(
> payload m1 @on_gpus
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  op 3 InspectImage b
  ack m1
> done 2 image
  op 4 CreateContainer ecs-f-1-a-* gpus GPU-1,GPU-2
> done 3 image
  op 5 CreateContainer ecs-f-1-side-*
> done 4 created c1
  write task/t1
  op 6 StartContainer c1
> done 5 created c2
  write task/t1
  op 7 StartContainer c2
> done 6 ok
  write task/t1
> done 7 ok
  write task/t1
  submit 8 t1 RUNNING a=RUNNING side=RUNNING
> submitted 8 accepted
  write task/t1
> submitted 9 accepted
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  op 9 StopContainer c1 within 30 s
  op 10 StopContainer c2 within 30 s
  ack m2
> done 10 ok
  op 11 InspectContainer c2
> done 11 ok
  op 12 StopContainer c2 within 30 s
> done 12 exited c1 0
  op 13 InspectContainer c2
> done 13 exited c2 0
  write task/t1
  submit 14 t1 RUNNING a=RUNNING side=STOPPED(0)
> submitted 14 accepted
  write task/t1
> done 15 gpu busy 1 process (pid 42)
> done 16 gpu empty
> tick +250ms
> done 17 gpu empty
)");
}

// Two tasks that share GPU-1; both run.
constexpr const char* sharers = R"(
> payload m1 @t1
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  ack m1
> done 2 image
  op 3 CreateContainer ecs-f-1-a-* gpus GPU-1
> done 3 created c1
  write task/t1
  op 4 StartContainer c1
> done 4 ok
  write task/t1
  submit 5 t1 RUNNING a=RUNNING
> submitted 5 accepted
  write task/t1
> payload m2 @t2
  write payload/t2
  write task/t2
  write agent
  op 6 InspectImage b
  ack m2
> done 6 image
  op 7 CreateContainer ecs-f-1-a-* gpus GPU-1
> done 7 created c2
  write task/t2
  op 8 StartContainer c2
> done 8 ok
  write task/t2
  submit 9 t2 RUNNING a=RUNNING
> submitted 9 accepted
  write task/t2
)";

std::string sharer(const std::string& task) {
  return R"({"arn":")" + task +
         R"(","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":)"
         R"([{"name":"a","image":"b","essential":true,"resourceRequirements":[{"type":"GPU",)"
         R"("sharingStrategy":{"nvidiaMps":{"memory":1000}}}]}]})";
}

TEST(recovery, a_share_is_proven_empty_beside_those_that_still_run) {
  Up t;
  t.payloads["t1"] = sharer("t1");
  t.payloads["t2"] = sharer("t2");
  expect(t, sharers);
  expect(t, R"(
> died c1 0
  op 10 InspectContainer c1
> done 10 exited c1 0
  write task/t1
  op 11 ProbeGpu GPU-1 without c1 beside c2
> done 11 gpu busy 1000 MiB above its baseline
> tick +250ms
  op 12 ProbeGpu GPU-1 without c1 beside c2
> done 12 gpu empty
  write task/t1
  submit 13 t1 STOPPED a=STOPPED(0), GPU-1 empty
> submitted 13 accepted
  write task/t1
> died c2 0
  op 14 InspectContainer c2
> done 14 exited c2 0
  write task/t2
  op 15 ProbeGpu GPU-1 without c2
> done 15 gpu empty
  write task/t2
  submit 16 t2 STOPPED a=STOPPED(0), GPU-1 empty
)");
}

// Whoever placed t2 did not know of t1: it was restored from an older backup.
TEST(recovery, a_task_that_never_was_on_a_gpu_does_not_call_it_empty_while_another_is) {
  Running t(
      R"({"arn":"t1","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]})");
  expect(t, R"(
> payload m2 {"arn":"t2","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t2
  write task/t2
  write agent
  ack m2
> payload m3 {"arn":"t2","desiredStatus":"STOPPED"}
  write task/t2
  write agent
  ack m3
> tick +60s
  write task/t2
  submit 6 t2 STOPPED a=STOPPED, GPU-1 NOT empty (task arn:aws:ecs:us-east-1:1:task/default/t1 is on it)
)");
}

TEST(recovery, a_task_that_never_was_on_a_gpu_proves_it_once_the_other_has_left) {
  Running t(
      R"({"arn":"t1","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]})");
  t.play(R"(
> payload m2 {"arn":"t2","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]}
> payload m3 {"arn":"t2","desiredStatus":"STOPPED"}
)");
  expect(t, R"(
> died c1 0
  op 6 InspectContainer c1
> done 6 exited c1 0 none
  write task/t1
  op 7 ProbeGpu GPU-1 without c1
> done 7 gpu empty
  write task/t1
  op 9 ProbeGpu GPU-1
  submit 8 t1 STOPPED a=STOPPED(0), GPU-1 empty
> done 9 gpu empty
  write task/t2
  submit 10 t2 STOPPED a=STOPPED, GPU-1 empty
)");
}

// Whoever places the new task need not know that the old one still has its share: the control plane
// may have lost its disk.
TEST(recovery, a_share_waits_until_tasks_of_a_former_instance_have_left_the_gpu) {
  Running t(sharer("t1"));
  t.payloads["t2"] = sharer("t2");
  expect(t, R"(
> crash
  register again
> registered arn:new
  write task/t1
  write agent
  connect, asking for credentials, having seen 1
> ready
  op 1 ListContainers agent-1
> done 1 list running:c1:t1:a
  op 2 StopContainer c1 within 30 s
> crash
  register again
> registered arn:new
  connect, asking for credentials, having seen 1
> open
> payload m2 @t2
  write payload/t2
  write task/t2
  write agent
  ack m2
> ready
  op 1 ListContainers agent-1
> done 1 list running:c1:t1:a
  op 2 StopContainer c1 within 30 s
> done 2 ok
  op 3 InspectContainer c1
> done 3 exited c1 143
  write task/t1
  op 4 ProbeGpu GPU-1 without c1
> done 4 gpu empty
  write task/t1
  op 6 InspectImage b
  submit 5 t1 STOPPED a=STOPPED(143), because The container instance arn:aws:ecs:us-east-1:1:container-instance/default/ci was deregistered., GPU-1 empty
)");
}

TEST(recovery, a_share_waits_for_tasks_that_the_control_plane_has_forgotten) {
  Running t(sharer("t1"));
  t.payloads["t2"] = sharer("t2");
  expect(t, R"(
> message {"type":"TaskManifestMessage","message":{"clusterArn":"c","containerInstanceArn":"i","messageId":"mf","timeline":10,"tasks":[]}}
  write task/t1
  write agent
  ack mf
  stop candidates of mf: t1
> payload m2 @t2
  write payload/t2
  write task/t2
  ack m2
> message {"type":"TaskStopVerificationAck","message":{"messageId":"mf","stopTasks":[{"taskArn":"arn:aws:ecs:us-east-1:1:task/default/t1"}]}}
  write task/t1
  op 6 StopContainer c1 within 30 s
> done 6 ok
  op 7 InspectContainer c1
> done 7 exited c1 143
  write task/t1
  op 8 ProbeGpu GPU-1 without c1
> done 8 gpu empty
  write task/t1
  op 10 InspectImage b
  submit 9 t1 STOPPED a=STOPPED(143), because The control plane no longer wants the task., GPU-1 empty
)");
}

TEST(recovery, a_share_that_is_not_proven_in_time_is_told_as_not_empty) {
  Config config = testing::test_config();
  config.gpu_release_timeout = std::chrono::seconds(5);
  Up t(config);
  t.payloads["t1"] = sharer("t1");
  t.payloads["t2"] = sharer("t2");
  expect(t, sharers);
  expect(t, R"(
> died c1 0
  op 10 InspectContainer c1
> done 10 exited c1 0
  write task/t1
  op 11 ProbeGpu GPU-1 without c1 beside c2
> done 11 gpu busy 1000 MiB above its baseline
> tick +1s
  op 12 ProbeGpu GPU-1 without c1 beside c2
  submit 13 t1 RUNNING GPU-1 is not empty: 1000 MiB above its baseline a=STOPPED(0)
> submitted 13 accepted
  write task/t1
> done 12 gpu busy 1000 MiB above its baseline
> tick +4s
  write task/t1
  submit 14 t1 STOPPED a=STOPPED(0), GPU-1 NOT empty (1000 MiB above its baseline)
)");
}

TEST(recovery, a_gpu_that_stays_busy_is_told_as_not_empty) {
  Config config = testing::test_config();
  config.gpu_release_timeout = std::chrono::seconds(5);
  Up t(config);
  expect(t, R"(
> payload m1 {"arn":"t1","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  ack m1
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  op 3 ProbeGpu GPU-1
  cancel 2
  ack m2
> done 3 gpu busy 1 process (pid 42)
> tick +5s
  write task/t1
  submit 4 t1 STOPPED a=STOPPED, GPU-1 NOT empty (1 process (pid 42))
)");
}

TEST(recovery, a_task_waits_for_the_gpu_that_another_still_has_and_passes_nobody) {
  Running t(
      R"({"arn":"t1","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]})");
  expect(t, R"(
> payload m2 {"arn":"t2","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t2
  write task/t2
  write agent
  ack m2
# A task without GPUs passes.
> payload m3 {"arn":"t3","containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t3
  write task/t3
  write agent
  op 6 InspectImage b
  ack m3
> died c1 0
  op 7 InspectContainer c1
> done 7 exited c1 0
  write task/t1
  op 8 ProbeGpu GPU-1 without c1
> done 8 gpu empty
  write task/t1
  op 10 InspectImage b
  submit 9 t1 STOPPED a=STOPPED(0), GPU-1 empty
)");
}

TEST(recovery, a_bad_gpu_association_is_acknowledged_and_reported) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","associations":[{"type":"gpu","name":"GPU-9","containers":["a","z"]}],"containers":[{"name":"a","image":"b","essential":true},{"name":"z","image":"b"}]}
  write payload/t1
  write task/t1
  write agent
  note Task t1: GpuAssociationError: GPU GPU-9 is for several containers, and 'a' does not share it.
  op 2 ProbeGpu GPU-9
  ack m1
> done 2 fail NotFound GpuError unknown
  write task/t1
  submit 3 t1 STOPPED a=STOPPED z=STOPPED, because GpuAssociationError: GPU GPU-9 is for several containers, and 'a' does not share it., GPU-9 empty (this container instance has no such GPU)
)");
}

}  // namespace
}  // namespace agent::core
