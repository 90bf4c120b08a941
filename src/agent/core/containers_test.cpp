// How creations, starts and ends of containers go wrong, told as transcripts.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Running;
using testing::Up;

TEST(recovery, a_create_without_answer_is_looked_for_by_name) {
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
> done 3 fail Timeout DockerTimeoutError no answer in 4 minutes
  op 4 InspectContainer ecs-f-1-a-*
> done 4 made c1
  write task/t1
  op 5 StartContainer c1
)");
}

TEST(recovery, a_name_that_somebody_else_has_taken_ends_the_task) {
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
> done 3 fail Conflict CannotCreateContainerError the name is taken
  op 4 InspectContainer ecs-f-1-a-*
> done 4 made c1 stranger
  write task/t1
  submit 5 t1 STOPPED a=STOPPED [CannotCreateContainerError: the name ecs-f-1-a-9b5b101d8d45bb170820 is taken by a container of somebody else.], because CannotCreateContainerError: the name ecs-f-1-a-9b5b101d8d45bb170820 is taken by a container of somebody else.
)");
}

TEST(recovery, a_create_that_is_refused_ends_the_task_and_the_agent_goes_on) {
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
> done 3 fail NoSpace CannotCreateContainerError no space left on device
  write task/t1
  submit 4 t1 STOPPED a=STOPPED [CannotCreateContainerError: no space left on device], because CannotCreateContainerError: no space left on device
> submitted 4 accepted
  write task/t1
> payload m2 {"arn":"t2","containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t2
  write task/t2
  write agent
  op 5 InspectImage b
  ack m2
)");
}

TEST(recovery, a_start_that_fails_ends_the_task) {
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
> done 4 fail Conflict CannotStartContainerError port is already allocated
  op 5 InspectContainer c1
> done 5 made c1
  write task/t1
  submit 6 t1 STOPPED a=STOPPED [CannotStartContainerError: port is already allocated], because CannotStartContainerError: port is already allocated
)");
}

TEST(recovery, a_start_without_answer_is_never_taken_for_dead) {
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
> done 4 fail Timeout DockerTimeoutError no answer
  op 5 InspectContainer c1
> done 5 made c1
  op 6 StartContainer c1
> done 6 fail Timeout DockerTimeoutError no answer
  op 7 InspectContainer c1
> done 7 made c1
  op 8 StartContainer c1
> done 8 fail Timeout DockerTimeoutError no answer
  write task/t1
  op 9 InspectContainer c1
> done 9 running c1
  write task/t1
  op 10 StopContainer c1 within 30 s
  submit 11 t1 PENDING a=RUNNING, because DockerTimeoutError: no answer
> done 10 ok
  op 12 InspectContainer c1
> done 12 exited c1 143
  write task/t1
)");
}

TEST(recovery, a_container_out_of_memory_says_so) {
  Running t;
  expect(t, R"(
> oom c1
> died c1 137
  op 6 InspectContainer c1
> done 6 exited c1 137
  write task/t1
  submit 7 t1 STOPPED a=STOPPED(137) [OutOfMemoryError: Container killed due to memory usage]
)");
}

constexpr const char* limited =
    R"({"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"memory":64}]})";

// As Docker on a loaded machine tells it.
TEST(recovery, a_container_whose_memory_is_told_of_after_its_end_says_so_too) {
  Running t(limited);
  expect(t, R"(
> died c1 137
  op 6 InspectContainer c1
> done 6 exited c1 137
> tick +400ms
> oom c1
  op 7 InspectContainer c1
> done 7 exited c1 137
  write task/t1
  submit 8 t1 STOPPED a=STOPPED(137) [OutOfMemoryError: Container killed due to memory usage]
)");
}

TEST(recovery, a_container_that_is_killed_and_nobody_says_why_names_its_limit) {
  Running t(limited);
  expect(t, R"(
> died c1 137
  op 6 InspectContainer c1
> done 6 exited c1 137
> tick +1s
> tick +1s
  op 7 InspectContainer c1
> done 7 exited c1 137
  write task/t1
  submit 8 t1 STOPPED a=STOPPED(137) [Killed by SIGKILL, not by Berth. So end containers at their memory limit (64 MiB), but Docker did not say that this one was.]
)");
}

TEST(recovery, a_container_that_is_stopped_does_not_wait_for_news_of_its_memory) {
  Running t(limited);
  expect(t, R"(
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  op 6 StopContainer c1 within 30 s
  ack m2
> done 6 ok
  op 7 InspectContainer c1
> died c1 137
> done 7 exited c1 137
  write task/t1
  submit 8 t1 STOPPED a=STOPPED(137)
)");
}

TEST(recovery, the_memory_of_one_run_says_nothing_of_the_next) {
  Running t(
      R"({"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"restartPolicy":{"enabled":true,"restartAttemptPeriod":60}}]})");
  expect(t, R"(
> tick +61s
> oom c1
> died c1 137
  op 6 InspectContainer c1
> done 6 exited c1 137
  write task/t1
  op 7 StartContainer c1
> done 7 ok
  write task/t1
> tick +10s
> died c1 1
  op 8 InspectContainer c1
> done 8 exited c1 1
  write task/t1
  submit 9 t1 STOPPED a=STOPPED(1)
)");
}

TEST(recovery, a_container_removed_behind_our_back_keeps_the_exit_code_that_was_told) {
  Running t;
  expect(t, R"(
> died c1 7
  op 6 InspectContainer c1
> done 6 fail NotFound ContainerVanishedError no such container
  op 7 EndProcesses c1
> done 7 left none
  write task/t1
  submit 8 t1 STOPPED a=STOPPED(7)
)");
}

TEST(recovery, a_container_removed_after_it_ran_out_of_memory_says_so_too) {
  Running t;
  expect(t, R"(
> oom c1
> died c1 137
  op 6 InspectContainer c1
> done 6 fail NotFound ContainerVanishedError no such container
  op 7 EndProcesses c1
> done 7 left none
  write task/t1
  submit 8 t1 STOPPED a=STOPPED(137) [OutOfMemoryError: Container killed due to memory usage]
)");
}

TEST(recovery, a_restart_policy_restarts_here_and_only_after_its_period) {
  Running t(
      R"({"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"restartPolicy":{"enabled":true,"ignoredExitCodes":[7],"restartAttemptPeriod":60}}]})");
  expect(t, R"(
> tick +61s
> closed 1000 ok
  connect, having seen 1
> died c1 1
  op 6 InspectContainer c1
> done 6 exited c1 1
  write task/t1
  op 7 StartContainer c1
> done 7 ok
  write task/t1
# The old end told again.
> died c1 1
  op 8 InspectContainer c1
> done 8 running c1
# Too young now.
> tick +10s
> died c1 1
  op 9 InspectContainer c1
> done 9 exited c1 1
  write task/t1
  submit 10 t1 STOPPED a=STOPPED(1)
)");
}

TEST(recovery, an_ignored_exit_code_is_an_end) {
  Running t(
      R"({"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"restartPolicy":{"enabled":true,"ignoredExitCodes":[7],"restartAttemptPeriod":60}}]})");
  expect(t, R"(
> tick +61s
> closed 1000 ok
  connect, having seen 1
> died c1 7
  op 6 InspectContainer c1
> done 6 exited c1 7
  write task/t1
  submit 7 t1 STOPPED a=STOPPED(7)
)");
}

}  // namespace
}  // namespace agent::core
