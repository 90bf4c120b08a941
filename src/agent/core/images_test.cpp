// Images of tasks, told as transcripts: pulled, kept, refused.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Up;

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
  submit 4 t1 PENDING PULLING main=PENDING
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
  submit 5 t1 PENDING PULLING main=PENDING side=PENDING
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
  submit 3 t1 PENDING PULLING main=PENDING
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
  submit 3 t1 PENDING PULLING main=PENDING
> done 2 fail Other CannotPullContainerError no route to host
  write task/t1
)");
}

}  // namespace
}  // namespace agent::core
