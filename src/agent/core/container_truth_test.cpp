// Docker's word and the kernel's: the table, and what the agent does where they disagree, told as
// transcripts.

#include "agent/core/container_truth.h"

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Running;
using testing::Up;

TEST(truth_of, has_an_answer_for_every_state_that_docker_can_tell) {
  using enum Truth;
  struct Case {
    RuntimeStatus said;
    bool ran;
    Truth unknown, none, some;
  };
  const Case cases[] = {
      {RuntimeStatus::Created, false, NotStarted, NotStarted, Lingers},
      {RuntimeStatus::Created, true, Ended, Ended, Lingers},
      {RuntimeStatus::Running, true, Runs, Doubtful, Runs},
      {RuntimeStatus::Paused, true, Runs, Doubtful, Runs},
      {RuntimeStatus::Restarting, true, Runs, Runs, Runs},
      {RuntimeStatus::Removing, true, Ended, Ended, Lingers},
      {RuntimeStatus::Exited, true, Ended, Ended, Lingers},
      {RuntimeStatus::Dead, true, Ended, Ended, Lingers},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(truth_of(one.said, Processes::Unknown, one.ran), one.unknown);
    EXPECT_EQ(truth_of(one.said, Processes::None, one.ran), one.none);
    EXPECT_EQ(truth_of(one.said, Processes::Some, one.ran), one.some);
  }
}

constexpr const char* until_start = R"(
> payload m1 {"arn":"t1","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]}
> done 2 image
> done 3 created c1
)";

TEST(truth, a_start_that_failed_is_looked_at_and_its_program_ended_before_the_gpu_is_free) {
  Up t;
  t.play(until_start);
  expect(t, R"(
> done 4 fail Other CannotStartContainerError ttrpc: closed
  op 5 InspectContainer c1
> done 5 made c1 some
  write task/t1
  note Container a of task t1 runs, and Docker does not know it: it is ended.
  op 6 EndProcesses c1
> done 6 left some
  note Processes of container a of task t1 outlive SIGKILL.
  submit 7 t1 PENDING STARTING a=RUNNING
> submitted 7 accepted
  write task/t1
> tick +5s
  op 8 EndProcesses c1
> done 8 left none
  op 9 InspectContainer c1
> done 9 made c1 none
  write task/t1
  op 10 ProbeGpu GPU-1 without c1
> done 10 gpu empty
  write task/t1
  submit 11 t1 STOPPED a=STOPPED [CannotStartContainerError: ttrpc: closed], because CannotStartContainerError: ttrpc: closed, GPU-1 empty
)");
}

TEST(truth, a_start_that_failed_may_come_true_a_little_later) {
  Up t;
  t.play(until_start);
  expect(t, R"(
> done 4 fail Other CannotStartContainerError ttrpc: closed
  op 5 InspectContainer c1
> done 5 made c1 none
> tick +5s
  op 6 InspectContainer c1
> done 6 made c1 none
> tick +5s
  op 7 InspectContainer c1
> done 7 made c1 none
  write task/t1
  op 8 ProbeGpu GPU-1 without c1
)");
}

TEST(truth, a_start_that_docker_refused_has_not_happened) {
  Up t;
  t.play(until_start);
  expect(t, R"(
> done 4 fail BadParameter CannotStartContainerError exec: no such file
  op 5 InspectContainer c1
> done 5 made c1 none
  write task/t1
  op 6 ProbeGpu GPU-1 without c1
)");
}

TEST(truth, a_start_that_was_answered_with_an_error_and_runs_is_ended) {
  Up t;
  t.play(until_start);
  expect(t, R"(
> done 4 fail Other CannotStartContainerError cannot write its state
  op 5 InspectContainer c1
> done 5 running c1 some
  write task/t1
  note Container a of task t1 runs, and Docker does not know it: it is ended.
  op 6 EndProcesses c1
> done 6 left none
  op 7 InspectContainer c1
> done 7 exited c1 137 none
  write task/t1
  op 8 ProbeGpu GPU-1 without c1
)");
}

TEST(truth, a_task_that_is_stopped_while_a_start_is_unsure_waits_until_that_is_known) {
  Up t;
  t.play(until_start);
  expect(t, R"(
> done 4 fail Timeout DockerTimeoutError no answer
  op 5 InspectContainer c1
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  ack m2
> done 5 made c1 none
> tick +5s
  op 6 InspectContainer c1
> done 6 made c1 some
  write task/t1
  note Container a of task t1 runs, and Docker does not know it: it is ended.
  op 7 EndProcesses c1
  submit 8 t1 PENDING a=RUNNING
> done 7 left none
  op 9 InspectContainer c1
> done 9 made c1 none
  write task/t1
  op 10 ProbeGpu GPU-1 without c1
)");
}

TEST(truth, a_container_that_docker_calls_created_after_it_ran_has_ended) {
  Running t;
  expect(t, R"(
> lost connection reset
  note Docker does not answer: connection reset. Containers are left as they are.
> ready
  op 6 ListContainers agent-1
> done 6 list made:c1:t1:a
  op 7 InspectContainer c1
> done 7 made c1
  write task/t1
  submit 8 t1 STOPPED a=STOPPED [DockerStateError: it has ended; Docker, which was restarted, does not know any more that it ran.], because DockerStateError: it has ended; Docker, which was restarted, does not know any more that it ran.
)");
}

TEST(truth, a_container_that_docker_calls_exited_and_that_runs_is_ended) {
  Running t;
  expect(t, R"(
> lost connection reset
  note Docker does not answer: connection reset. Containers are left as they are.
> ready
  op 6 ListContainers agent-1
> done 6 list exited:c1:t1:a:some
  op 7 InspectContainer c1
> done 7 exited c1 255 some
  write task/t1
  note Container a of task t1 runs, and Docker does not know it: it is ended.
  op 8 EndProcesses c1
> done 8 left none
  op 9 InspectContainer c1
> done 9 exited c1 255 none
  write task/t1
  submit 10 t1 STOPPED a=STOPPED [DockerStateError: its program ran, and Docker, which was restarted, did not know it any more; Berth has ended it.], because DockerStateError: its program ran, and Docker, which was restarted, did not know it any more; Berth has ended it.
)");
}

// In the machine's own pid namespace they do not end with its main process.
TEST(truth, children_that_a_container_leaves_behind_are_ended_before_it_is_told_stopped) {
  Running t;
  expect(t, R"(
> died c1 3
  op 6 InspectContainer c1
> done 6 exited c1 3 some
  op 7 EndProcesses c1
> done 7 left none
  op 8 InspectContainer c1
> done 8 exited c1 3 none
  write task/t1
  submit 9 t1 STOPPED a=STOPPED(3)
)");
}

TEST(truth, a_container_that_docker_calls_running_without_a_process_has_ended_after_a_while) {
  Running t;
  expect(t, R"(
> lost connection reset
  note Docker does not answer: connection reset. Containers are left as they are.
> ready
  op 6 ListContainers agent-1
> done 6 list running:c1:t1:a:none
  op 7 InspectContainer c1
> done 7 running c1 none
> tick +5s
  op 8 InspectContainer c1
> done 8 running c1 none
> tick +5s
  op 9 InspectContainer c1
> done 9 running c1 none
  write task/t1
  submit 10 t1 STOPPED a=STOPPED [DockerStateError: its program has ended; Docker, which was restarted, still says that it runs.], because DockerStateError: its program has ended; Docker, which was restarted, still says that it runs.
)");
}

TEST(truth, a_stop_that_docker_refuses_ends_by_the_cgroup) {
  Running t;
  expect(t, R"(
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  op 6 StopContainer c1 within 30 s
  ack m2
> done 6 fail Conflict CannotStopContainerError it is paused
  note Container a of task t1 does not stop: CannotStopContainerError: it is paused
> tick +5s
  op 7 InspectContainer c1
> done 7 paused c1 some
> tick +5s
  op 8 StopContainer c1 within 30 s
> done 8 fail Conflict CannotStopContainerError it is paused
  note Container a of task t1 does not stop: CannotStopContainerError: it is paused
> tick +5s
  op 9 InspectContainer c1
> done 9 paused c1 some
> tick +5s
  op 10 KillContainer c1
> done 10 fail Conflict CannotStopContainerError it is paused
  note Container a of task t1 does not stop: CannotStopContainerError: it is paused
> tick +5s
  op 11 InspectContainer c1
> done 11 paused c1 some
> tick +5s
  op 12 EndProcesses c1
> done 12 left none
  op 13 InspectContainer c1
> done 13 exited c1 137 none
  write task/t1
  submit 14 t1 STOPPED a=STOPPED(137)
)");
}

TEST(truth, a_container_of_a_stopped_task_that_runs_is_ended) {
  Running t;
  t.play(R"(
> died c1 0
> done 6 exited c1 0
> submitted 7 accepted
)");
  expect(t, R"(
> ready
  op 8 ListContainers agent-1
> done 8 list exited:c1:t1:a:some
  note Container ecs-f-1-a-9b5b101d8d45bb170820 runs although its task has stopped: it is ended.
  op 9 EndProcesses c1
> done 9 left none
)");
}

// The journal is gone; the containers carry the label of the data directory.
TEST(truth, a_container_of_a_task_that_the_agent_has_forgotten_is_ended_before_a_gpu_is_proven) {
  Up t;
  expect(t, R"(
> ready
  op 2 ListContainers agent-1
> done 2 list running:c9:t9:a:some
  note Container somebody is of this agent and of no task that it knows: its journal was lost. The container is ended.
  op 3 EndProcesses c9
> payload m1 {"arn":"t1","desiredStatus":"STOPPED","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],"containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 4 ProbeGpu GPU-1 without c9
  ack m1
> done 3 left none
  op 5 RemoveContainer c9
> done 4 gpu empty
  write task/t1
  submit 6 t1 STOPPED a=STOPPED, because The task never started on this container instance., GPU-1 empty
> done 5 ok
)");
}

TEST(truth, containers_of_another_agent_on_the_same_docker_are_left_alone) {
  Config config = testing::test_config();
  config.agent_data = "";
  Up t(config);
  expect(t, R"(
> ready
  op 2 ListContainers agent-1
> done 2 list running:c9:t9:a:some
)");
}

}  // namespace
}  // namespace agent::core
