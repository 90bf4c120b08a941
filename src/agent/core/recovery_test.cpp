// What goes wrong, told as transcripts: crashes of the agent, Docker away, GPUs that stay busy.

#include <gtest/gtest.h>

#include "agent/core/transcript_testing.h"

namespace agent::core {
namespace {

using testing::Transcript;

constexpr const char* up = R"(
> ready
  op 1 ListContainers agent-1
  register anew
> done 1 list
> registered
  write agent
  connect, asking for credentials
> open
)";

struct Up : Transcript {
  explicit Up(Config config = testing::test_config()) : Transcript(std::move(config)) {
    EXPECT_EQ(play(up), up);
  }
};

// One task with one container that runs.
struct Running : Up {
  explicit Running(const std::string& payload =
                       R"({"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]})",
                   Config config = testing::test_config())
      : Up(std::move(config)) {
    play("> payload m1 " + payload + "\n> done 2 image\n> done 3 created c1\n> done 4 ok\n" +
         "> submitted 5 accepted\n");
    EXPECT_TRUE(core().tasks().begin()->second.record.reached_running);
  }
};

void expect(Transcript& transcript, const std::string& text) {
  EXPECT_EQ(transcript.play(text), text);
}

TEST(recovery, a_running_container_is_found_again_and_left_alone) {
  Running t;
  expect(t, R"(
> crash
  register again
> ready
  op 1 ListContainers agent-1
> done 1 list running:c1:t1:a
> registered
  connect, asking for credentials
> died c1 0
  op 2 InspectContainer c1
> done 2 exited c1 0
  write task/t1
  submit 3 t1 STOPPED a=STOPPED(0)
)");
}

TEST(recovery, an_end_that_happened_while_the_agent_was_away_is_reported) {
  Running t;
  expect(t, R"(
> crash
  register again
> ready
  op 1 ListContainers agent-1
> done 1 list exited:c1:t1:a
  op 2 InspectContainer c1
> done 2 exited c1 5
  write task/t1
  submit 3 t1 STOPPED a=STOPPED(5)
)");
}

TEST(recovery, a_container_that_is_gone_has_vanished) {
  Running t;
  expect(t, R"(
> crash
  register again
> ready
  op 1 ListContainers agent-1
> done 1 list
  op 2 InspectContainer c1
> done 2 fail NotFound ContainerVanishedError no such container
  write task/t1
  submit 3 t1 STOPPED a=STOPPED [ContainerVanishedError: the container is gone from Docker; it was removed by somebody else.], because ContainerVanishedError: the container is gone from Docker; it was removed by somebody else.
)");
}

TEST(recovery, a_container_that_was_created_and_not_journaled_is_found_by_its_name) {
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
> crash
  register again
> ready
  op 1 ListContainers agent-1
> done 1 list made:c1:t1:a
  write task/t1
  op 2 StartContainer c1
)");
}

TEST(recovery, a_container_that_had_run_and_was_not_journaled_is_not_started_again) {
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
> crash
  register again
> ready
  op 1 ListContainers agent-1
> done 1 list exited:c1:t1:a
  write task/t1
  submit 2 t1 STOPPED a=STOPPED(0)
)");
}

TEST(recovery, a_task_that_was_accepted_and_not_begun_starts) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  ack m1
> crash
  register again
> ready
  op 1 ListContainers agent-1
> done 1 list
  op 2 InspectImage b
)");
}

TEST(recovery, a_stop_that_was_begun_goes_on) {
  Running t;
  expect(t, R"(
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  op 6 StopContainer c1 within 30 s
  ack m2
> crash
  register again
> ready
  op 1 ListContainers agent-1
> done 1 list running:c1:t1:a
  op 2 StopContainer c1 within 30 s
> done 2 ok
  op 3 InspectContainer c1
> done 3 exited c1 137
  write task/t1
  submit 4 t1 STOPPED a=STOPPED(137)
)");
}

TEST(recovery, a_report_that_was_not_accepted_is_sent_again) {
  Running t;
  expect(t, R"(
> died c1 0
  op 6 InspectContainer c1
> done 6 exited c1 0
  write task/t1
  submit 7 t1 STOPPED a=STOPPED(0)
> submitted 7 retry
> tick +250ms
  submit 8 t1 STOPPED a=STOPPED(0)
> crash
  submit 1 t1 STOPPED a=STOPPED(0)
  register again
> submitted 1 accepted
  write task/t1
> crash
  register again
)");
}

TEST(recovery, a_report_that_is_refused_is_dropped) {
  Running t;
  expect(t, R"(
> died c1 0
  op 6 InspectContainer c1
> done 6 exited c1 0
  write task/t1
  submit 7 t1 STOPPED a=STOPPED(0)
> submitted 7 refused
  write task/t1
  note The control plane refuses the report 'STOPPED' of task t1: InvalidParameterException: bad
)");
}

TEST(recovery, docker_away_changes_nothing_and_back_everything_is_looked_at) {
  Running t;
  expect(t, R"(
> payload m2 {"arn":"t2","containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t2
  write task/t2
  write agent
  op 6 InspectImage b
  ack m2
> done 6 fail Unreachable DockerTimeoutError connection refused
  note Docker does not answer: connection refused. Containers are left as they are.
> lost connection refused
> payload m3 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  ack m3
> ready
  op 7 ListContainers agent-1
> done 7 list running:c1:t1:a
  op 8 StopContainer c1 within 30 s
  op 9 InspectImage b
)");
}

TEST(recovery, without_docker_the_agent_leaves_and_says_why_until_docker_is_back) {
  Up t;
  expect(t, R"(
> lost Docker is not reachable at /var/run/docker.sock
  note Docker does not answer: Docker is not reachable at /var/run/docker.sock. Containers are left as they are.
> tick +9s
> tick +1s
  disconnect: Docker is not reachable at /var/run/docker.sock
> closed 1001 bye
> tick +10m
> ready
  op 2 ListContainers agent-1
> done 2 list
  connect
)");
}

TEST(recovery, an_agent_that_never_saw_docker_joins_once_to_say_so) {
  Transcript t;
  expect(t, R"(
> lost Docker is not reachable: is it running?
  register anew
> registered
  write agent
  connect, asking for credentials
> open
> tick +10s
  disconnect: Docker is not reachable: is it running?
> closed 1001 bye
> tick +10m
)");
}

TEST(recovery, containers_that_docker_took_with_it_end_with_that_reason) {
  Running t;
  expect(t, R"(
> lost connection reset
  note Docker does not answer: connection reset. Containers are left as they are.
> ready
  op 6 ListContainers agent-1
> done 6 list exited:c1:t1:a
  op 7 InspectContainer c1
> done 7 exited c1 255
  write task/t1
  submit 8 t1 STOPPED a=STOPPED(255) [DockerStateError: the container ended while Docker did not answer; a Docker that is restarted without live-restore stops all containers.]
)");
}

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
  write task/t1
  submit 5 t1 STOPPED a=STOPPED [CannotStartContainerError: port is already allocated], because CannotStartContainerError: port is already allocated
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

TEST(recovery, a_container_removed_behind_our_back_keeps_the_exit_code_that_was_told) {
  Running t;
  expect(t, R"(
> died c1 7
  op 6 InspectContainer c1
> done 6 fail NotFound ContainerVanishedError no such container
  write task/t1
  submit 7 t1 STOPPED a=STOPPED(7)
)");
}

TEST(recovery, a_restart_policy_restarts_here_and_only_after_its_period) {
  Running t(
      R"({"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"restartPolicy":{"enabled":true,"ignoredExitCodes":[7],"restartAttemptPeriod":60}}]})");
  expect(t, R"(
> tick +61s
> closed 1000 ok
  connect
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
  connect
> died c1 7
  op 6 InspectContainer c1
> done 6 exited c1 7
  write task/t1
  submit 7 t1 STOPPED a=STOPPED(7)
)");
}

TEST(recovery, dynamic_ports_are_asked_for_before_the_task_is_running) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","networkMode":"bridge","containers":[{"name":"a","image":"b","essential":true,"portMappings":[{"containerPort":80,"hostPort":0}]}]}
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
  op 5 InspectContainer c1
> done 5 running c1 32768
  write task/t1
  submit 6 t1 RUNNING a=RUNNING 0.0.0.0:32768->80
)");
}

TEST(recovery, volumes_are_made_before_the_containers_and_removed_after_them) {
  Config config = testing::test_config();
  config.cleanup_wait = std::chrono::seconds(1);
  Up t(config);
  expect(t, R"(
> payload m1 {"arn":"t1","volumes":[{"name":"data","type":"host","host":{"sourcePath":"/srv"}},{"name":"scratch"},{"name":"kept","type":"docker","dockerVolumeConfiguration":{"scope":"shared","autoprovision":true,"driver":"local"}}],"containers":[{"name":"a","image":"b","essential":true,"mountPoints":[{"sourceVolume":"scratch","containerPath":"/s"}]}]}
  write payload/t1
  write task/t1
  write agent
  op 2 CreateVolume ecs-f-1-scratch-t1 local
  op 3 CreateVolume kept local
  op 4 InspectImage b
  ack m1
> done 4 image
> done 2 ok
> done 3 ok
  op 5 CreateContainer ecs-f-1-a-*
> done 5 created c1
  write task/t1
  op 6 StartContainer c1
> done 6 ok
  write task/t1
  submit 7 t1 RUNNING a=RUNNING
> died c1 0
  op 8 InspectContainer c1
> done 8 exited c1 0
  write task/t1
> submitted 7 accepted
  write task/t1
  submit 9 t1 STOPPED a=STOPPED(0)
> submitted 9 accepted
  write task/t1
> tick +1s
  op 10 RemoveContainer c1
> done 10 ok
  op 11 RemoveVolume ecs-f-1-scratch-t1
> done 11 ok
  write stopped/t1
  erase payload/t1
  erase task/t1
  forget t1
)");
}

TEST(recovery, a_volume_that_must_exist_and_does_not_ends_the_task) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","volumes":[{"name":"kept","type":"docker","dockerVolumeConfiguration":{"scope":"shared"}}],"containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 CreateVolume kept local that exists
  op 3 InspectImage b
  ack m1
> done 3 image
> done 2 fail NotFound CannotInspectVolumeError no such volume: kept
  write task/t1
  submit 4 t1 STOPPED a=STOPPED, because CannotInspectVolumeError: no such volume: kept
)");
}

constexpr const char* logged =
    R"({"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"dockerConfig":{"hostConfig":"{\"LogConfig\":{\"Type\":\"awslogs\",\"Config\":{\"awslogs-group\":\"g\",\"awslogs-region\":\"us-east-1\",\"awslogs-stream-prefix\":\"p\"}}}"}}]})";

TEST(recovery, output_is_delivered_before_the_end_is_told_and_shipping_outlives_the_agent) {
  Up t;
  t.payloads["logged"] = logged;
  expect(t, R"(
> payload m1 @logged
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
  op 5 ShipLogs c1 to g p/a/t1
  submit 6 t1 RUNNING a=RUNNING
> crash
  submit 1 t1 RUNNING a=RUNNING
  register again
> ready
  op 2 ListContainers agent-1
> done 2 list running:c1:t1:a
  op 3 ShipLogs c1 to g p/a/t1
> died c1 0
  op 4 InspectContainer c1
> done 4 exited c1 0
  write task/t1
> done 3 ok
  write task/t1
> submitted 1 accepted
  write task/t1
  submit 5 t1 STOPPED a=STOPPED(0)
)");
}

TEST(recovery, output_that_cannot_be_delivered_does_not_hold_the_end_back_for_long) {
  Up t;
  t.payloads["logged"] = logged;
  expect(t, R"(
> payload m1 @logged
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
  op 5 ShipLogs c1 to g p/a/t1
  submit 6 t1 RUNNING a=RUNNING
> submitted 6 accepted
  write task/t1
> died c1 0
  op 7 InspectContainer c1
> done 7 exited c1 0
  write task/t1
> tick +2s
  submit 8 t1 STOPPED a=STOPPED(0)
)");
}

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
  op 8 ProbeGpu GPU-1
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

TEST(recovery, a_refused_registration_is_tried_again_every_minute) {
  Transcript t;
  expect(t, R"(
> tick
  register anew
> refused the instance identity is unknown
  note The control plane does not register this container instance: ClientException: the instance identity is unknown; tried again in 60 s.
> tick +59s
> tick +1s
  register anew
)");
}

TEST(recovery, an_inactive_instance_comes_back_after_an_hour) {
  Up t;
  expect(t, R"(
> message {"type":"InactiveInstanceException","message":{"message":"deregistered"}}
  note The control plane answered InactiveInstanceException: deregistered.
  disconnect: InactiveInstanceException: deregistered
> closed 1000 ok
> tick +59m
  op 2 ListContainers agent-1
> tick +1m
  connect
)");
}

TEST(recovery, the_control_stream_comes_back_at_once_and_asks_for_credentials_only_at_first) {
  Up t;
  expect(t, R"(
> tick +5s
> closed 1006 connection reset
  connect
> open
> tick +3m
  disconnect: The server has sent nothing for too long.
> closed 1001 ok
  connect
> crash
  register again
> registered
  connect, asking for credentials
)");
}

TEST(recovery, an_operator_stops_everything) {
  Running t;
  expect(t, R"(
> stop-all The server is being stopped.
  write task/t1
  op 6 StopContainer c1 within 30 s
> done 6 ok
  op 7 InspectContainer c1
> done 7 exited c1 143
  write task/t1
  submit 8 t1 STOPPED a=STOPPED(143), because The server is being stopped.
)");
  EXPECT_TRUE(t.core().idle());
}

TEST(recovery, a_journal_of_another_cluster_is_refused) {
  Running t;
  std::vector<JournalRecord> records;
  for (const auto& [key, value] : t.journal()) records.push_back({key, value});
  Config config = testing::test_config();
  config.cluster = "other";
  const auto core = Core::create(config, records, base::Time{});
  ASSERT_FALSE(core);
  EXPECT_EQ(core.error().code, "JournalOfAnotherCluster");
}

TEST(recovery, a_journal_that_cannot_be_read_is_refused_and_named) {
  for (const JournalRecord& bad :
       {JournalRecord{"task/t1", "{"}, JournalRecord{"task/t1", R"({"arn":"t1"})"},
        JournalRecord{"agent", "[]"}, JournalRecord{"surprise", "{}"},
        JournalRecord{"stopped/t1", "5"}}) {
    const auto core = Core::create(testing::test_config(), {bad}, base::Time{});
    ASSERT_FALSE(core) << bad.key;
    EXPECT_EQ(core.error().code, "JournalCorrupt");
    EXPECT_NE(core.error().message.find(bad.key), std::string::npos) << core.error().message;
  }
}

}  // namespace
}  // namespace agent::core
