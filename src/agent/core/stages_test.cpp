// What is between accepted and RUNNING, and namespaces that containers share: see
// transcript_testing.h.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Up;

TEST(stages, each_stage_that_takes_long_is_told) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"r/i:1","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage r/i:1
  ack m1
> done 2 fail NotFound CannotInspectContainerError no such image
  op 3 PullImage r/i:1
  submit 4 t1 PENDING PULLING main=PENDING
> submitted 4 accepted
  write task/t1
> tick +60s
> done 3 ok
  op 5 InspectImage r/i:1
> done 5 image
  op 6 CreateContainer ecs-f-1-main-*
> tick +900ms
> tick +100ms
  submit 7 t1 PENDING CREATING main=PENDING
> submitted 7 accepted
  write task/t1
> done 6 created c1
  write task/t1
  op 8 StartContainer c1
> tick +1s
  submit 9 t1 PENDING STARTING main=PENDING
> submitted 9 accepted
  write task/t1
> done 8 ok
  write task/t1
  submit 10 t1 RUNNING main=RUNNING
> submitted 10 accepted
  write task/t1
)");
}

TEST(stages, the_progress_of_pulls_is_told_in_steps_and_never_goes_back) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"r/i:1","essential":true},{"name":"b","image":"r/j:1"}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage r/i:1
  op 3 InspectImage r/j:1
  ack m1
> done 2 fail NotFound CannotInspectContainerError no such image
  op 4 PullImage r/i:1
  submit 5 t1 PENDING PULLING a=PENDING b=PENDING
> submitted 5 accepted
  write task/t1
> done 3 fail NotFound CannotInspectContainerError no such image
  op 6 PullImage r/j:1
# Few percent wait for five seconds, ten do not. Of the other image nothing is known yet.
> pull 4 8 100
> tick +4s
> tick +1s
  submit 7 t1 PENDING PULLING 4% a=PENDING b=PENDING
> pull 4 40 100
> pull 4 60 100
> submitted 7 accepted
  write task/t1
  submit 8 t1 PENDING PULLING 30% a=PENDING b=PENDING
> submitted 8 accepted
  write task/t1
# It turns out to be large.
> pull 6 10 500
> tick +5s
> done 4 ok
  op 9 InspectImage r/i:1
> done 9 image
  op 10 CreateContainer ecs-f-1-a-*
> pull 6 300 500
  submit 11 t1 PENDING PULLING 66% a=PENDING b=PENDING
> submitted 11 accepted
  write task/t1
# A pull that starts anew is told anew.
> done 6 fail Timeout DockerTimeoutError nothing came for a minute
> tick +1100ms
  op 12 PullImage r/j:1
  submit 13 t1 PENDING PULLING 50% a=PENDING b=PENDING
> submitted 13 accepted
  write task/t1
> pull 99 1 1
)");
}

TEST(stages, a_task_without_gpus_passes_one_that_waits_for_a_gpu) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"i","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage i
  ack m1
> payload m2 {"arn":"t2","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"i","essential":true}]}
  write payload/t2
  write task/t2
  write agent
  ack m2
> payload m3 {"arn":"t3","containers":[{"name":"a","image":"i","essential":true}]}
  write payload/t3
  write task/t3
  write agent
  op 3 InspectImage i
  ack m3
> done 3 image
  op 4 CreateContainer ecs-f-1-a-*
> done 4 created c3
  write task/t3
  op 5 StartContainer c3
> done 5 ok
  write task/t3
  submit 6 t3 RUNNING a=RUNNING
# What waits says so.
> tick +1s
  submit 7 t1 PENDING CREATING a=PENDING
  submit 8 t2 PENDING QUEUED a=PENDING
)");
}

constexpr const char* shared_network =
    R"({"arn":"t1","networkMode":"awsvpc","containers":[{"name":"a","image":"i","essential":true,)"
    R"("portMappings":[{"containerPort":80}]},{"name":"b","image":"i","essential":false}]})";

TEST(namespaces, the_holder_starts_first_stops_last_and_is_in_no_report) {
  Up t;
  t.payloads["t"] = shared_network;
  expect(t, R"(
> payload m1 @t
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage i
  op 3 InspectImage i
  op 4 InspectImage berth/pause:1
  ack m1
> done 2 image
> done 3 image
> done 4 image
  op 5 CreateContainer ecs-f-1-internalecspause-*
> done 5 created c0
  write task/t1
  op 6 CreateContainer ecs-f-1-a-*
  op 7 CreateContainer ecs-f-1-b-*
  op 8 StartContainer c0
> done 6 created c1
  write task/t1
> done 7 created c2
  write task/t1
> done 8 running c0 ip=172.18.0.2
  write task/t1
  op 9 StartContainer c1
  op 10 StartContainer c2
> done 9 ok
  write task/t1
> done 10 ok
  write task/t1
  submit 11 t1 RUNNING a=RUNNING 172.18.0.2:80->80 b=RUNNING 172.18.0.2
> submitted 11 accepted
  write task/t1
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  op 12 StopContainer c1 within 30 s
  op 13 StopContainer c2 within 30 s
  ack m2
> done 12 ok
  op 14 InspectContainer c1
> done 14 exited c1 0
  write task/t1
  submit 15 t1 RUNNING a=STOPPED(0) 172.18.0.2:80->80 b=RUNNING 172.18.0.2
> submitted 15 accepted
  write task/t1
> done 13 ok
  op 16 InspectContainer c2
> done 16 exited c2 0
  write task/t1
  op 17 StopContainer c0 within 30 s
  submit 18 t1 RUNNING a=STOPPED(0) 172.18.0.2:80->80 b=STOPPED(0) 172.18.0.2
> submitted 18 accepted
  write task/t1
> done 17 ok
  op 19 InspectContainer c0
> done 19 exited c0 0
  write task/t1
  submit 20 t1 STOPPED a=STOPPED(0) 172.18.0.2:80->80 b=STOPPED(0) 172.18.0.2
)");
}

TEST(namespaces, without_the_holder_the_task_does_not_start_and_says_why) {
  Up t;
  t.payloads["t"] = shared_network;
  expect(t, R"(
> payload m1 @t
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage i
  op 3 InspectImage i
  op 4 InspectImage berth/pause:1
  ack m1
> done 4 image
  op 5 CreateContainer ecs-f-1-internalecspause-*
> done 5 fail Other ContainerNetworkingError no addresses are left
  write task/t1
  cancel 2
  cancel 3
  submit 6 t1 STOPPED a=STOPPED b=STOPPED, because ContainerNetworkingError: no addresses are left
)");
}

TEST(namespaces, when_the_holder_ends_the_task_ends_and_says_why) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","pidMode":"task","containers":[{"name":"a","image":"i","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage i
  op 3 InspectImage berth/pause:1
  ack m1
> done 2 image
> done 3 image
  op 4 CreateContainer ecs-f-1-internalecspause-*
> done 4 created c0
  write task/t1
  op 5 CreateContainer ecs-f-1-a-*
  op 6 StartContainer c0
> done 5 created c1
  write task/t1
> done 6 ok
  write task/t1
  op 7 StartContainer c1
> done 7 ok
  write task/t1
  submit 8 t1 RUNNING a=RUNNING
> submitted 8 accepted
  write task/t1
> died c0 137
  op 9 InspectContainer c0
> done 9 exited c0 137
  write task/t1
  op 10 StopContainer c1 within 30 s
> done 10 ok
  op 11 InspectContainer c1
> done 11 exited c1 137
  write task/t1
  submit 12 t1 STOPPED a=STOPPED(137), because ContainerNetworkingError: the container that holds the task's namespaces was stopped by somebody else.
)");
}

TEST(keys, a_container_with_secrets_waits_for_the_keys_of_its_execution_role) {
  Up t;
  t.payloads["t"] =
      R"({"arn":"t1","executionRoleCredentials":{"credentialsId":"e","accessKeyId":"k"},)"
      R"("containers":[{"name":"a","image":"i","essential":true,)"
      R"("secrets":[{"name":"S","valueFrom":"p","provider":"ssm"}]}]})";
  expect(t, R"(
> payload m1 @t
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage i
  credentials ack e in m1
  ack m1
  credentials t1 TaskExecution e
# Keys are in no journal: a new process has to be sent them again.
> crash
  register again
> registered
  connect, asking for credentials, having seen 1
> open
> ready
  op 1 ListContainers agent-1
> done 1 list
  op 2 InspectImage i
> done 2 image
> message {"type":"IAMRoleCredentialsMessage","message":{"messageId":"m2","taskArn":"arn:aws:ecs:us-east-1:1:task/default/t1","roleType":"TaskExecution","roleCredentials":{"credentialsId":"e","accessKeyId":"k2"}}}
  op 3 CreateContainer ecs-f-1-a-*
  credentials ack e in m2
  credentials t1 TaskExecution e
)");
}

TEST(disk, when_it_runs_full_the_containers_of_tasks_whose_end_is_known_go_at_once) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"i","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage i
  ack m1
> done 2 image
  op 3 CreateContainer ecs-f-1-main-*
> done 3 created c1
  write task/t1
  op 4 StartContainer c1
> done 4 ok
  write task/t1
  submit 5 t1 RUNNING main=RUNNING
> submitted 5 accepted
  write task/t1
> disk low
> died c1 0
  op 6 InspectContainer c1
> done 6 exited c1 0
  write task/t1
  submit 7 t1 STOPPED main=STOPPED(0)
> submitted 7 accepted
  write task/t1
  op 8 RemoveContainer c1
)");
}

}  // namespace
}  // namespace agent::core
