// What a task has beside its containers, told as transcripts: ports, volumes, output.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Up;

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

}  // namespace
}  // namespace agent::core
