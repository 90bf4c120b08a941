// The agent and its control plane, told as transcripts: registration, stream, the end.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Running;
using testing::Transcript;
using testing::Up;

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

TEST(recovery, tasks_of_an_instance_that_was_deregistered_stop_when_it_registers_anew) {
  Running t;
  expect(t, R"(
> crash
  register again
> registered arn:new
  write task/t1
  write agent
  connect, asking for credentials, having seen 1
> ready
  op 1 ListContainers agent-1
> done 1 list running:c1:t1:a
  op 2 StopContainer c1 within 30 s
> done 2 ok
  op 3 InspectContainer c1
> done 3 exited c1 143
  write task/t1
  submit 4 t1 STOPPED a=STOPPED(143), because The container instance arn:aws:ecs:us-east-1:1:container-instance/default/ci was deregistered.
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

}  // namespace
}  // namespace agent::core
