// The life of tasks, told as transcripts: see transcript_testing.h.

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

void expect(Transcript& transcript, const std::string& text) {
  EXPECT_EQ(transcript.play(text), text);
}

TEST(transcript, a_container_runs_ends_and_is_removed_after_its_time) {
  Config config = testing::test_config();
  config.cleanup_wait = std::chrono::seconds(50);
  Up t(config);
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"busybox:test","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage busybox:test
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
> died c1 0
  op 6 InspectContainer c1
> done 6 exited c1 0
  write task/t1
  submit 7 t1 STOPPED main=STOPPED(0)
> submitted 7 accepted
  write task/t1
> tick +49s
> tick +1s
  op 8 RemoveContainer c1
> done 8 ok
  write stopped/t1
  erase payload/t1
  erase task/t1
  forget t1
# The server may not have read the report: the task does not start again.
> payload m2 {"arn":"t1","containers":[{"name":"main","image":"busybox:test","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  ack m2
  submit 9 t1 STOPPED main=STOPPED, because The task had stopped before.
)");
}

TEST(transcript, a_missing_image_is_pulled_and_what_is_going_on_is_reported) {
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
  submit 4 t1 PENDING main=PENDING
> submitted 4 accepted
  write task/t1
> done 3 fail Timeout DockerTimeoutError nothing came for a minute
> tick +1100ms
  op 5 PullImage r/i:1
> done 5 ok
  op 6 InspectImage r/i:1
> done 6 image
  op 7 CreateContainer ecs-f-1-main-*
> submitted 8 accepted
> done 7 created c1
  write task/t1
  op 8 StartContainer c1
> done 9 ok
)");
}

TEST(transcript, an_image_that_may_not_be_pulled_ends_the_task_with_the_registrys_words) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"r/i:1","essential":true},{"name":"side","image":"busybox:test"}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage r/i:1
  op 3 InspectImage busybox:test
  ack m1
> done 2 fail NotFound CannotInspectContainerError no such image
  op 4 PullImage r/i:1
  submit 5 t1 PENDING main=PENDING side=PENDING
> done 3 image
  op 6 CreateContainer ecs-f-1-side-*
> done 4 fail Denied CannotPullContainerError pull access denied for r/i
  write task/t1
> done 6 created c2
  write task/t1
> submitted 5 accepted
  write task/t1
  submit 7 t1 STOPPED main=STOPPED [CannotPullContainerError: pull access denied for r/i] side=STOPPED, because CannotPullContainerError: pull access denied for r/i
)");
}

TEST(transcript, the_default_pull_behaviour_falls_back_to_the_image_on_the_machine) {
  Config config = testing::test_config();
  config.pull_behavior = PullBehavior::Default;
  config.pull_attempts = 1;
  Up t(config);
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"r/i:1","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 PullImage r/i:1
  ack m1
  submit 3 t1 PENDING main=PENDING
> done 2 fail Other CannotPullContainerError no route to host
  op 4 InspectImage r/i:1
> done 4 image
  op 5 CreateContainer ecs-f-1-main-*
)");
}

TEST(transcript, the_always_pull_behaviour_does_not_fall_back) {
  Config config = testing::test_config();
  config.pull_behavior = PullBehavior::Always;
  config.pull_attempts = 1;
  Up t(config);
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"r/i:1","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 PullImage r/i:1
  ack m1
  submit 3 t1 PENDING main=PENDING
> done 2 fail Other CannotPullContainerError no route to host
  write task/t1
)");
}

TEST(transcript, an_essential_containers_end_stops_the_others_at_the_same_time) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"b","essential":true},{"name":"a","image":"b"},{"name":"z","image":"b","stopTimeout":5}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  op 3 InspectImage b
  op 4 InspectImage b
  ack m1
> done 2 image
  op 5 CreateContainer ecs-f-1-main-*
> done 3 image
  op 6 CreateContainer ecs-f-1-a-*
> done 4 image
  op 7 CreateContainer ecs-f-1-z-*
> done 5 created c1
  write task/t1
  op 8 StartContainer c1
> done 6 created c2
  write task/t1
  op 9 StartContainer c2
> done 7 created c3
  write task/t1
  op 10 StartContainer c3
> done 8 ok
  write task/t1
> done 9 ok
  write task/t1
> done 10 ok
  write task/t1
  submit 11 t1 RUNNING main=RUNNING a=RUNNING z=RUNNING
> submitted 11 accepted
  write task/t1
> died c1 3
  op 12 InspectContainer c1
> submitted 12 accepted
> done 13 exited c1 3
> done 14 ok
> done 15 ok
> died c2 143
  op 13 InspectContainer c2
> done 17 exited c2 143
> done 18 exited c3 137
> submitted 16 accepted
)");
}

TEST(transcript, the_end_of_a_container_that_is_not_essential_is_only_told) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"b","essential":true},{"name":"init","image":"b"}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  op 3 InspectImage b
  ack m1
> done 2 image
  op 4 CreateContainer ecs-f-1-main-*
> done 3 image
  op 5 CreateContainer ecs-f-1-init-*
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
  submit 8 t1 RUNNING main=RUNNING init=RUNNING
> submitted 8 accepted
  write task/t1
> submitted 9 accepted
> died c2 0
  op 9 InspectContainer c2
> done 10 exited c2 0
> submitted 11 accepted
)");
}

TEST(transcript, dependencies_start_in_order_and_stop_in_reverse) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"b","essential":true,"dependsOn":[{"containerName":"db","condition":"HEALTHY"},{"containerName":"init","condition":"SUCCESS"}]},{"name":"db","image":"b","essential":true,"healthCheckType":"docker","dockerConfig":{"config":"{\"Healthcheck\":{\"Test\":[\"CMD\",\"true\"]}}"}},{"name":"init","image":"b"}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  op 3 InspectImage b
  op 4 InspectImage b
  ack m1
> done 2 image
  op 5 CreateContainer ecs-f-1-main-*
> done 3 image
  op 6 CreateContainer ecs-f-1-db-*
> done 4 image
  op 7 CreateContainer ecs-f-1-init-*
> done 5 created c1
  write task/t1
> done 6 created c2
  write task/t1
  op 8 StartContainer c2
> done 7 created c3
  write task/t1
  op 9 StartContainer c3
> done 8 ok
  write task/t1
> done 9 ok
  write task/t1
  submit 10 t1 PENDING main=PENDING db=RUNNING init=RUNNING
> died c3 0
  op 11 InspectContainer c3
> done 11 exited c3 0
  write task/t1
> healthy c2
  op 12 StartContainer c1
> done 12 ok
  write task/t1
> submitted 10 accepted
  write task/t1
  submit 13 t1 RUNNING main=RUNNING db=RUNNING init=STOPPED(0)
> submitted 13 accepted
  write task/t1
# A stop: main first, then what it depended on.
> payload m2 {"arn":"t1","desiredStatus":"STOPPED"}
  write task/t1
  write agent
  op 14 StopContainer c1 within 30 s
  ack m2
> done 14 ok
  op 15 InspectContainer c1
> done 15 exited c1 143
  write task/t1
  op 16 StopContainer c2 within 30 s
  submit 17 t1 RUNNING main=STOPPED(143) db=RUNNING init=STOPPED(0)
> done 16 ok
  op 18 InspectContainer c2
> done 18 exited c2 0
  write task/t1
> submitted 17 accepted
  write task/t1
  submit 19 t1 STOPPED main=STOPPED(143) db=STOPPED(0) init=STOPPED(0)
> submitted 19 accepted
  write task/t1
)");
}

TEST(transcript, a_dependency_that_fails_ends_the_task_with_a_reason) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"b","essential":true,"dependsOn":[{"containerName":"init","condition":"SUCCESS"}]},{"name":"init","image":"b"}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  op 3 InspectImage b
  ack m1
> done 2 image
  op 4 CreateContainer ecs-f-1-main-*
> done 3 image
  op 5 CreateContainer ecs-f-1-init-*
> done 4 created c1
  write task/t1
> done 5 created c2
  write task/t1
  op 6 StartContainer c2
> done 6 ok
  write task/t1
  submit 7 t1 PENDING main=PENDING init=RUNNING
> died c2 9
  op 8 InspectContainer c2
> done 8 exited c2 9
  write task/t1
> submitted 7 accepted
  write task/t1
  submit 9 t1 STOPPED main=STOPPED [TaskDependencyError: container 'init' stopped with exit code 9, so that its condition SUCCESS cannot be met.] init=STOPPED(9), because TaskDependencyError: container 'init' stopped with exit code 9, so that its condition SUCCESS cannot be met.
)");
}

TEST(transcript, the_start_timeout_of_what_is_waited_for_ends_the_task) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"b","essential":true,"dependsOn":[{"containerName":"slow","condition":"COMPLETE"}]},{"name":"slow","image":"b","startTimeout":10}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  op 3 InspectImage b
  ack m1
> done 2 image
  op 4 CreateContainer ecs-f-1-main-*
> done 3 image
  op 5 CreateContainer ecs-f-1-slow-*
> done 4 created c1
  write task/t1
> done 5 created c2
  write task/t1
  op 6 StartContainer c2
> done 6 ok
  write task/t1
  submit 7 t1 PENDING main=PENDING slow=RUNNING
> submitted 7 accepted
  write task/t1
> tick +9s
> tick +1s
  write task/t1
  op 8 StopContainer c2 within 30 s
  submit 9 t1 PENDING main=STOPPED [TaskDependencyError: container 'slow' did not meet the condition COMPLETE within its startTimeout of 10 s.] slow=RUNNING, because TaskDependencyError: container 'slow' did not meet the condition COMPLETE within its startTimeout of 10 s.
> done 8 ok
  op 10 InspectContainer c2
> done 10 exited c2 137
  write task/t1
> submitted 9 accepted
  write task/t1
  submit 11 t1 STOPPED main=STOPPED [TaskDependencyError: container 'slow' did not meet the condition COMPLETE within its startTimeout of 10 s.] slow=STOPPED(137), because TaskDependencyError: container 'slow' did not meet the condition COMPLETE within its startTimeout of 10 s.
)");
}

TEST(transcript, dependencies_that_cannot_be_resolved_are_acknowledged_and_reported) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"dependsOn":[{"containerName":"z","condition":"START"}]},{"name":"z","image":"b","dependsOn":[{"containerName":"a","condition":"START"}]}]}
  write payload/t1
  write task/t1
  write agent
  note Task t1: TaskDependencyError: Task dependencies cannot be resolved: the containers wait for each other in a circle.
  ack m1
  submit 2 t1 STOPPED a=STOPPED z=STOPPED, because TaskDependencyError: Task dependencies cannot be resolved: the containers wait for each other in a circle.
> payload m2 {"arn":"t2","containers":[{"name":"a","image":"b","essential":true,"dependsOn":[{"containerName":"z","condition":"HEALTHY"}]},{"name":"z","image":"b","healthCheckType":"DOCKER","dockerConfig":{"config":"{\"Healthcheck\":{\"Test\":[\"CMD\",\"true\"]}}"}}]}
  write payload/t2
  write task/t2
  write agent
  note Task t2: TaskDependencyError: Task dependencies cannot be resolved: container 'a' waits for 'z' to be HEALTHY, which has no Docker health check.
  ack m2
  submit 3 t2 STOPPED a=STOPPED z=STOPPED, because TaskDependencyError: Task dependencies cannot be resolved: container 'a' waits for 'z' to be HEALTHY, which has no Docker health check.
)");
}

TEST(transcript, a_task_that_is_not_understood_is_reported_and_its_message_not_acknowledged) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"overrides":"{\"environment\":[]}"}]}
  write payload/t1
  write task/t1
  write agent
  note Task 't1': UnrecognizedTaskError: Container 'a': the override 'environment' must be merged by the control plane; only a list 'command' may stand in overrides.
  submit 2 t1 STOPPED a=STOPPED, because UnrecognizedTaskError: Container 'a': the override 'environment' must be merged by the control plane; only a list 'command' may stand in overrides.
> submitted 2 accepted
  write task/t1
# The server gives up: it is a task like any other that has stopped.
> payload m2 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true,"overrides":"{\"environment\":[]}"}]}
  write task/t1
  write agent
  ack m2
  submit 3 t1 STOPPED a=STOPPED, because UnrecognizedTaskError: Container 'a': the override 'environment' must be merged by the control plane; only a list 'command' may stand in overrides.
)");
}

TEST(transcript, one_bad_task_keeps_the_whole_message_from_being_acknowledged_but_not_the_others) {
  Up t;
  expect(t, R"(
> payload m1 [{"arn":"t1","networkMode":"awsvpc","containers":[{"name":"a","image":"b","essential":true}]},{"arn":"t2","containers":[{"name":"a","image":"b","essential":true}]}]
  write payload/t1
  write payload/t2
  write task/t1
  write task/t2
  write agent
  note Task 't1': UnrecognizedTaskError: This agent does not support the network mode 'awsvpc'.
  op 3 InspectImage b
  submit 2 t1 STOPPED a=STOPPED, because UnrecognizedTaskError: This agent does not support the network mode 'awsvpc'.
)");
}

TEST(transcript, what_this_agent_cannot_do_is_refused_by_name) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","secrets":[{"name":"S"}]}]}
  write payload/t1
  write task/t1
  write agent
  note Task 't1': UnrecognizedTaskError: Container 'a': this agent does not support secrets.
  submit 2 t1 STOPPED a=STOPPED, because UnrecognizedTaskError: Container 'a': this agent does not support secrets.
> payload m2 {"arn":"t2","volumes":[{"name":"v","type":"efs"}],"containers":[{"name":"a","image":"b"}]}
  write payload/t2
  write task/t2
  write agent
  note Task 't2': UnrecognizedTaskError: Volume 'v': this agent does not support the type 'efs'.
  submit 3 t2 STOPPED a=STOPPED, because UnrecognizedTaskError: Volume 'v': this agent does not support the type 'efs'.
> payload m3 {"arn":"t3","pidMode":"task","containers":[{"name":"a","image":"b"}]}
  write payload/t3
  write task/t3
  write agent
  note Task 't3': UnrecognizedTaskError: This agent does not support the pidMode 'task'.
  submit 4 t3 STOPPED a=STOPPED, because UnrecognizedTaskError: This agent does not support the pidMode 'task'.
> payload m4 {"arn":"t4","containers":[]}
  write payload/t4
  write task/t4
  write agent
  note Task 't4': UnrecognizedTaskError: The task has no container.
  submit 5 t4 STOPPED, because UnrecognizedTaskError: The task has no container.
> payload m5 {"arn":"t5","containers":[{"name":"a","image":"b"},{"name":"a","image":"b"}]}
  write payload/t5
  write task/t5
  write agent
  note Task 't5': UnrecognizedTaskError: Two containers have the name 'a'.
  submit 6 t5 STOPPED a=STOPPED a=STOPPED, because UnrecognizedTaskError: Two containers have the name 'a'.
> payload m6 {"arn":"t6","desiredStatus":"PAUSED","containers":[{"name":"a","image":"b"}]}
  write payload/t6
  write task/t6
  write agent
  note Task 't6': UnrecognizedTaskError: The desired status 'PAUSED' is neither RUNNING nor STOPPED.
  submit 7 t6 STOPPED a=STOPPED, because UnrecognizedTaskError: The desired status 'PAUSED' is neither RUNNING nor STOPPED.
> payload m7 {"containers":[{"name":"a","image":"b"}]}
  write agent
  note Task '': UnrecognizedTaskError: A task of the payload has no ARN.
)");
}

TEST(transcript, a_payload_that_comes_again_changes_nothing) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  ack m1
> payload m2 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]}
  write agent
  ack m2
> done 2 image
  op 3 CreateContainer ecs-f-1-a-*
> done 3 created c1
  write task/t1
  op 4 StartContainer c1
> payload m3 {"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]}
  write agent
  ack m3
)");
}

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
  submit 4 t1 PENDING a=PENDING
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

TEST(transcript, a_stop_of_an_unknown_task_is_answered_with_its_end) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","desiredStatus":"STOPPED","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}]}
  write payload/t1
  write task/t1
  write agent
  op 2 ProbeGpu GPU-1
  ack m1
> done 2 gpu empty
  write task/t1
  submit 3 t1 STOPPED, because The task never started on this container instance., GPU-1 empty
)");
}

TEST(transcript, the_manifest_stops_only_what_the_server_confirms) {
  Up t;
  expect(t, R"(
> payload m1 [{"arn":"t1","containers":[{"name":"a","image":"b","essential":true}]},{"arn":"t2","containers":[{"name":"a","image":"b","essential":true}]},{"arn":"t3","containers":[{"name":"a","image":"b","essential":true}]}]
  write payload/t1
  write payload/t2
  write payload/t3
  write task/t1
  write task/t2
  write task/t3
  write agent
  op 2 InspectImage b
  op 3 InspectImage b
  op 4 InspectImage b
  ack m1
# Not above the payload's number: dropped without an ack.
> message {"type":"TaskManifestMessage","message":{"clusterArn":"c","containerInstanceArn":"i","messageId":"old","timeline":1,"tasks":[]}}
  note A task manifest of timeline 1 is out of date and ignored.
> message {"type":"TaskManifestMessage","message":{"clusterArn":"c","containerInstanceArn":"i","messageId":"mf","timeline":10,"tasks":[{"taskArn":"arn:aws:ecs:us-east-1:1:task/default/t1","desiredStatus":"RUNNING"},{"taskArn":"arn:aws:ecs:us-east-1:1:task/default/t2","desiredStatus":"STOPPED"}]}}
  write agent
  ack mf
  stop candidates of mf: t2 t3
> message {"type":"TaskStopVerificationAck","message":{"messageId":"other","stopTasks":[{"taskArn":"arn:aws:ecs:us-east-1:1:task/default/t2"}]}}
> message {"type":"TaskStopVerificationAck","message":{"messageId":"mf","stopTasks":[{"taskArn":"arn:aws:ecs:us-east-1:1:task/default/t3"}]}}
  write task/t3
  cancel 4
  submit 5 t3 STOPPED a=STOPPED, because The control plane no longer wants the task.
> message {"type":"TaskStopVerificationAck","message":{"messageId":"mf","stopTasks":[{"taskArn":"arn:aws:ecs:us-east-1:1:task/default/t2"}]}}
)");
}

TEST(transcript, the_manifests_number_outlives_the_process) {
  Up t;
  expect(t, R"(
> message {"type":"TaskManifestMessage","message":{"clusterArn":"c","containerInstanceArn":"i","messageId":"mf","timeline":10,"tasks":[]}}
  write agent
  ack mf
> crash
  register again
> registered
  connect, asking for credentials
> open
> message {"type":"TaskManifestMessage","message":{"clusterArn":"c","containerInstanceArn":"i","messageId":"mg","timeline":10,"tasks":[]}}
  note A task manifest of timeline 10 is out of date and ignored.
> message {"type":"TaskManifestMessage","message":{"clusterArn":"c","containerInstanceArn":"i","messageId":"mh","timeline":11,"tasks":[]}}
  write agent
  ack mh
)");
}

TEST(transcript, messages_without_their_names_are_dropped) {
  Up t;
  expect(t, R"(
> message {"type":"PayloadMessage","message":{"messageId":"m1","tasks":[{"arn":"t9","desiredStatus":"RUNNING"}]}}
  note A payload without cluster, instance or message id is ignored.
> message {"type":"TaskManifestMessage","message":{"messageId":"m1","timeline":5}}
  note A task manifest of timeline 5 is out of date and ignored.
> message {"type":"Unheard","message":{}}
UnknownMessageType: A message of the unknown type 'Unheard' is ignored.
)");
}

TEST(transcript, heartbeats_are_acknowledged_updates_refused_attachments_ignored) {
  Up t;
  expect(t, R"(
> message {"type":"HeartbeatMessage","message":{"messageId":"h1","healthy":true}}
  heartbeat ack h1
> message {"type":"PerformUpdateMessage","message":{"messageId":"u1"}}
  nack u1: This agent is updated with its package, not by the control plane.
> message {"type":"AttachTaskNetworkInterfacesMessage","message":{"messageId":"e1"}}
  note The attachment message e1 is ignored: this agent attaches no AWS devices.
)");
}

TEST(transcript, keys_are_handed_on_and_acknowledged_and_never_written) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","roleCredentials":{"credentialsId":"id-1","accessKeyId":"AKIA","secretAccessKey":"very-secret","sessionToken":"token-secret","expiration":"2030-01-01T00:00:00Z"},"containers":[{"name":"a","image":"b","essential":true}]}
  write payload/t1
  write task/t1
  write agent
  op 2 InspectImage b
  credentials ack id-1 in m1
  ack m1
  credentials t1 TaskApplication id-1
> message {"type":"IAMRoleCredentialsMessage","message":{"messageId":"m2","taskArn":"arn:aws:ecs:us-east-1:1:task/default/t1","roleType":"TaskApplication","roleCredentials":{"credentialsId":"id-2","expiration":"2030-01-01T01:00:00Z"}}}
  credentials ack id-2 in m2
  credentials t1 TaskApplication id-2
)");
  for (const auto& [key, value] : t.journal()) {
    EXPECT_EQ(value.find("secret"), std::string::npos) << key;
    EXPECT_EQ(value.find("AKIA"), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace agent::core
