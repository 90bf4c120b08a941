// The life of a task, and what the control plane says, told as transcripts.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Up;

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
> payload m1 [{"arn":"t1","networkMode":"cni","containers":[{"name":"a","image":"b","essential":true}]},{"arn":"t2","containers":[{"name":"a","image":"b","essential":true}]}]
  write payload/t1
  write payload/t2
  write task/t1
  write task/t2
  write agent
  note Task 't1': UnrecognizedTaskError: This agent does not support the network mode 'cni'.
  op 3 InspectImage b
  submit 2 t1 STOPPED a=STOPPED, because UnrecognizedTaskError: This agent does not support the network mode 'cni'.
)");
}

TEST(transcript, what_this_agent_cannot_do_is_refused_by_name) {
  Up t;
  expect(t, R"(
> payload m1 {"arn":"t1","containers":[{"name":"a","image":"b","secrets":[{"name":"S","provider":"vault"}]}]}
  write payload/t1
  write task/t1
  write agent
  note Task 't1': UnrecognizedTaskError: Container 'a': the secret 'S' has the unknown provider 'vault'.
  submit 2 t1 STOPPED a=STOPPED, because UnrecognizedTaskError: Container 'a': the secret 'S' has the unknown provider 'vault'.
> payload m2 {"arn":"t2","volumes":[{"name":"v","type":"efs"}],"containers":[{"name":"a","image":"b"}]}
  write payload/t2
  write task/t2
  write agent
  note Task 't2': UnrecognizedTaskError: Volume 'v': this agent does not support the type 'efs'.
  submit 3 t2 STOPPED a=STOPPED, because UnrecognizedTaskError: Volume 'v': this agent does not support the type 'efs'.
> payload m3 {"arn":"t3","pidMode":"pod","containers":[{"name":"a","image":"b"}]}
  write payload/t3
  write task/t3
  write agent
  note Task 't3': UnrecognizedTaskError: This agent does not support the pidMode 'pod'.
  submit 4 t3 STOPPED a=STOPPED, because UnrecognizedTaskError: This agent does not support the pidMode 'pod'.
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
  write task/t3
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
  connect, asking for credentials, having seen 10
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
