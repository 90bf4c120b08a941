// What an agent does after a crash, and while Docker is away, told as transcripts.

#include <gtest/gtest.h>

#include "agent/core/testing_running.h"

namespace agent::core {
namespace {

using testing::expect;
using testing::Running;
using testing::Transcript;
using testing::Up;

TEST(recovery, a_running_container_is_found_again_and_left_alone) {
  Running t;
  expect(t, R"(
> crash
  register again
> ready
  op 1 ListContainers agent-1
> done 1 list running:c1:t1:a
> registered
  connect, asking for credentials, having seen 1
> died c1 0
  op 2 InspectContainer c1
> done 2 exited c1 0
  write task/t1
  submit 3 t1 STOPPED a=STOPPED(0)
)");
}

// The snapshot is of a moment at which db was not healthy yet, and arrives after the event.
TEST(recovery, a_snapshot_takes_back_no_health_that_was_told_since) {
  Up t;
  t.play(R"(
> payload m1 {"arn":"t1","containers":[{"name":"main","image":"b","essential":true,"dependsOn":[{"containerName":"db","condition":"HEALTHY"}]},{"name":"db","image":"b","healthCheckType":"docker","dockerConfig":{"config":"{\"Healthcheck\":{}}"}}]}
> done 2 image
> done 3 image
> done 4 created c1
> done 5 created c2
> done 6 ok
)");
  expect(t, R"(
> crash
  submit 1 t1 PENDING STARTING main=PENDING db=RUNNING
  register again
> ready
  op 2 ListContainers agent-1
> healthy c2
> done 2 list made:c1:t1:main running:c2:t1:db
  op 3 StartContainer c1
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
  op 3 EndProcesses c1
> done 3 left unknown
  write task/t1
  submit 4 t1 STOPPED a=STOPPED [ContainerVanishedError: the container is gone from Docker; it was removed by somebody else.], because ContainerVanishedError: the container is gone from Docker; it was removed by somebody else.
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
