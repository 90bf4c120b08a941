// Stops of tasks, told as transcripts.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Up;

TEST(transcript, a_task_is_stopped_with_its_timeout_and_then_killed) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  ack m1
> done 2 image
  op 3 CreateContainer ecs-f-1-a-*
> done 3 created c1
  write task/t1
  op 4 StartContainer c1
> done 4 ok
  write task/t1
  submit 5 t1 RUNNING a=RUNNING
> submitted 5 accepted
  write task/t1
> payload m2 {"arn":"t1","desiredStatus":"STOPPED","containers":[]}
  write task/t1
  write agent
  op 6 StopContainer c1 within 30 s
  ack m2
> done 6 fail Timeout DockerTimeoutError no answer
  note Container a of task t1 does not stop: DockerTimeoutError: no answer
> tick +1100ms
  op 7 InspectContainer c1
> done 7 running c1
> tick +1100ms
  op 8 StopContainer c1 within 30 s
> done 8 fail Timeout DockerTimeoutError no answer
  note Container a of task t1 does not stop: DockerTimeoutError: no answer
> tick +5s
  op 9 InspectContainer c1
> done 9 running c1
> tick +5s
  op 10 KillContainer c1
> done 10 ok
  op 11 InspectContainer c1
> done 11 exited c1 137
  write task/t1
  submit 12 t1 STOPPED a=STOPPED(137)
)");
}

TEST(transcript, a_stop_breaks_a_pull_off) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  ack m1
> done 2 fail NotFound CannotInspectContainerError no such image
  op 3 PullImage b
  submit 4 t1 PENDING PULLING a=PENDING
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  cancel 3
  ack m2
> done 3 fail Other CannotPullContainerError cancelled
> submitted 4 accepted
  write task/t1
  submit 5 t1 STOPPED a=STOPPED
)");
}

TEST(transcript, a_stop_waits_for_a_create_and_a_start_that_are_on_their_way) {
  Up t;
  expect(t, R"(
> payload m1 [{"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]},{"arn":"t2","containers":[{"name":"a","image":"b","essential":true}]}]
  write payload/t1
  write payload/t2
  write task/t1
  write task/t2
  write agent
  op 2 InspectImage b
  op 3 InspectImage b
  ack m1
> done 2 image
  op 4 CreateContainer ecs-f-1-a-*
> done 3 image
  op 5 CreateContainer ecs-f-1-a-*
> done 5 created c2
  write task/t2
  op 6 StartContainer c2
> payload m2 [{"arn":"t1","desiredStatus":"STOPPED"},{"arn":"t2","desiredStatus":"STOPPED"}]
  write task/t1
  write task/t2
  write agent
  ack m2
> done 4 created c1
  write task/t1
  submit 7 t1 STOPPED a=STOPPED
> done 6 ok
  write task/t2
  op 8 StopContainer c2 within 30 s
  submit 9 t2 PENDING a=RUNNING
> done 8 ok
  op 10 InspectContainer c2
> done 10 exited c2 143
  write task/t2
> submitted 9 accepted
  write task/t2
  submit 11 t2 STOPPED a=STOPPED(143)
)");
}

TEST(transcript, stops_in_a_payload_come_before_its_starts) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  ack m1
> payload m2 [{"arn":"t2","containers":[{"name":"a","image":"c","essential":true}]},{"arn":"t1","desiredStatus":"STOPPED"}]
  write payload/t2
  write task/t1
  write task/t2
  write agent
  op 4 InspectImage c
  cancel 2
  ack m2
  submit 3 t1 STOPPED a=STOPPED
)");
}

}  // namespace
}  // namespace agent::core
