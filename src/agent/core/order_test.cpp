// Containers of one task that depend on each other, told as transcripts.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Up;

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
  submit 10 t1 PENDING STARTING main=PENDING db=RUNNING init=RUNNING
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
  submit 7 t1 PENDING STARTING main=PENDING init=RUNNING
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
  submit 7 t1 PENDING STARTING main=PENDING slow=RUNNING
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

}  // namespace
}  // namespace agent::core
