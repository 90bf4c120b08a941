#include "acs/session.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace acs {
namespace {

using namespace std::chrono_literals;

constexpr base::Time start{base::Milliseconds(1'700'000'000'000)};

Task task(const std::string& arn, const std::string& desired = "RUNNING") {
  Task made;
  made.arn = arn;
  made.desired_status = desired;
  return made;
}

struct Server {
  base::Random random{1};
  Timeline timeline;
  base::Time now = start;
  ServerSession session{{}, {.cluster_arn = "default", .container_instance_arn = "ci"}, start};

  PayloadMessage deliver(Task made) {
    return session.deliver(std::move(made), timeline, random, now);
  }
  std::vector<std::string> acknowledged(const std::string& message_id) {
    std::vector<std::string> arns;
    for (const auto& ack :
         session.receive(AckRequest{"default", "ci", message_id}, now).acknowledged) {
      arns.push_back(ack.task_arn + " " + ack.desired_status);
    }
    return arns;
  }
  ServerSession::Ticked at(base::Milliseconds since_start) {
    now = start + since_start;
    return session.tick(random, now);
  }
};

TEST(timeline, grows_even_when_the_clock_stands_still_or_goes_back) {
  Timeline timeline;
  const int64_t first = timeline.next(start);
  EXPECT_GE(first, start.time_since_epoch().count());
  EXPECT_GT(timeline.next(start), first);
  EXPECT_GT(timeline.next(start - 1h), first + 1);
}

TEST(timeline, goes_on_behind_what_may_have_been_given_out_before) {
  Timeline timeline(start.time_since_epoch().count() + 1000);
  EXPECT_EQ(timeline.next(start), start.time_since_epoch().count() + 1001);
  EXPECT_EQ(timeline.last(), start.time_since_epoch().count() + 1001);
  EXPECT_EQ(timeline.next(start + 1h), (start + 1h).time_since_epoch().count());
}

TEST(server_session, a_manifest_and_the_payloads_behind_it_share_one_growing_number) {
  Server server;
  const TaskManifestMessage manifest =
      server.session.open({{"t1", "default", "RUNNING"}}, server.timeline, server.random, start);
  const PayloadMessage first = server.deliver(task("t1"));
  const PayloadMessage second = server.deliver(task("t2"));
  EXPECT_LT(manifest.timeline, first.seq_num);
  EXPECT_LT(first.seq_num, second.seq_num);
  EXPECT_EQ(first.tasks.size(), 1U);
  EXPECT_NE(first.message_id, second.message_id);
  EXPECT_FALSE(first.cluster_arn.empty());
  EXPECT_FALSE(first.container_instance_arn.empty());
}

TEST(server_session, acks_may_come_swapped_and_twice) {
  Server server;
  const std::string first = server.deliver(task("t1")).message_id;
  const std::string second = server.deliver(task("t2", "STOPPED")).message_id;
  EXPECT_EQ(server.acknowledged(second), std::vector<std::string>{"t2 STOPPED"});
  EXPECT_EQ(server.acknowledged(first), std::vector<std::string>{"t1 RUNNING"});
  EXPECT_TRUE(server.acknowledged(first).empty());
  EXPECT_EQ(server.session.unacknowledged(), 0U);
}

TEST(server_session, a_payload_is_repeated_until_it_is_acknowledged) {
  Server server;
  const PayloadMessage payload = server.deliver(task("t1"));
  EXPECT_EQ(server.session.next_tick(), start + 30s);
  server.at(30s);
  server.session.receive(HeartbeatAckRequest{"any"}, server.now);
  const auto ticked = server.at(60s);
  ASSERT_FALSE(ticked.messages.empty());
  EXPECT_EQ(ticked.messages[0], ServerMessage(payload));
  server.acknowledged(payload.message_id);
  for (const ServerMessage& message : server.at(120s).messages) {
    EXPECT_TRUE(std::holds_alternative<HeartbeatMessage>(message));
  }
}

TEST(server_session, a_reported_end_settles_a_payload_that_is_never_acknowledged) {
  Server server;
  const std::string id = server.deliver(task("t1")).message_id;
  server.session.settle("t1");
  EXPECT_EQ(server.session.unacknowledged(), 0U);
  EXPECT_TRUE(server.acknowledged(id).empty());
}

TEST(server_session, a_stop_takes_the_place_of_the_start_that_was_not_acknowledged) {
  Server server;
  const std::string run = server.deliver(task("t1")).message_id;
  const std::string stop = server.deliver(task("t1", "STOPPED")).message_id;
  EXPECT_EQ(server.session.unacknowledged(), 1U);
  EXPECT_TRUE(server.acknowledged(run).empty());
  EXPECT_EQ(server.acknowledged(stop), std::vector<std::string>{"t1 STOPPED"});
}

TEST(server_session, heartbeats_come_every_30_seconds_of_silence_and_any_message_puts_them_off) {
  Server server;
  EXPECT_TRUE(server.at(29s).messages.empty());
  server.deliver(task("t1"));
  EXPECT_TRUE(server.at(58s).messages.empty());
  server.session.settle("t1");
  const auto ticked = server.at(59s);
  ASSERT_EQ(ticked.messages.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<HeartbeatMessage>(ticked.messages[0]));
}

TEST(server_session, without_heartbeat_acks_the_connection_is_dead) {
  Server server;
  server.at(30s);
  EXPECT_EQ(server.session.next_tick(), start + 60s);
  EXPECT_FALSE(server.at(59s).dead);
  EXPECT_TRUE(server.at(60s).dead);
}

TEST(server_session, anything_that_the_agent_says_proves_that_it_is_there) {
  Server server;
  server.at(30s);
  server.now = start + 31s;
  server.session.receive(AckRequest{"default", "ci", "unknown"}, server.now);
  EXPECT_FALSE(server.at(60s).dead);
  EXPECT_EQ(server.session.last_heard(), start + 31s);
}

TEST(server_session, an_agent_of_protocol_version_1_may_leave_acks_out) {
  base::Random random{1};
  ServerSession session(
      {}, {.cluster_arn = "c", .container_instance_arn = "i", .protocol_version = 1}, start);
  session.tick(random, start + 30s);
  EXPECT_FALSE(session.tick(random, start + 10min).dead);
}

TEST(server_session, an_agent_of_a_newer_protocol_is_taken_for_one_of_version_2) {
  base::Random random{1};
  ServerSession session(
      {}, {.cluster_arn = "c", .container_instance_arn = "i", .protocol_version = 3}, start);
  EXPECT_EQ(session.tick(random, start + 30s).messages.size(), 1U);
  EXPECT_TRUE(session.tick(random, start + 60s).dead);
}

TEST(server_session, payloads_sent_again_into_a_dead_connection_do_not_hide_that_it_is_dead) {
  base::Random random{1};
  Timeline timeline;
  ServerSession session({.redelivery_interval = 15s},
                        {.cluster_arn = "c", .container_instance_arn = "i"}, start);
  session.deliver(task("t1"), timeline, random, start);
  base::Time now = start;
  bool dead = false;
  while (!dead && now < start + 10min) {
    now = session.next_tick();
    dead = session.tick(random, now).dead;
  }
  EXPECT_EQ(now, start + 90s);  // Asked after 60 s without a word, and given 30 s.
  EXPECT_TRUE(dead);
}

TEST(server_session,
     an_agent_of_protocol_version_1_that_never_answers_gets_heartbeats_all_the_same) {
  base::Random random{1};
  ServerSession session(
      {}, {.cluster_arn = "c", .container_instance_arn = "i", .protocol_version = 1}, start);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(session.next_tick(), start + i * 30s);
    EXPECT_EQ(session.tick(random, session.next_tick()).messages.size(), 1U);
  }
}

TEST(server_session, stop_candidates_count_for_the_latest_manifest_and_once) {
  Server server;
  const auto first = server.session.open({}, server.timeline, server.random, start);
  const auto second = server.session.open({}, server.timeline, server.random, start);
  const auto candidates = [&](const std::string& id) {
    return server.session.receive(TaskStopVerificationMessage{id, {{"t1", "c", "STOPPED"}}}, start)
        .stop_candidates;
  };
  EXPECT_FALSE(candidates(first.message_id));
  const auto asked = candidates(second.message_id);
  ASSERT_TRUE(asked);
  const TaskStopVerificationAck ack =
      server.session.confirm_stops(*asked, {{"t1", "c", "STOPPED"}}, start);
  EXPECT_EQ(ack.message_id, second.message_id);
  EXPECT_EQ(ack.stop_tasks.size(), 1U);
  EXPECT_FALSE(candidates(second.message_id));
}

struct Agent {
  base::Random random{7};
  base::Time now = start;
  AgentSession session{{}, start};

  std::string tick(base::Milliseconds since_start) {
    now = start + since_start;
    const auto command = session.tick(now);
    if (!command) return "";
    const auto* connect = std::get_if<AgentSession::Connect>(&*command);
    if (connect == nullptr) return "disconnect";
    return connect->send_credentials ? "connect with credentials" : "connect";
  }
  base::Milliseconds wait_after(const Closed& end) {
    session.closed(end, random, now);
    return session.next_tick() - now;
  }
};

TEST(agent_session, credentials_are_asked_for_until_the_first_connection_of_the_process) {
  Agent agent;
  EXPECT_EQ(agent.tick(0s), "connect with credentials");
  EXPECT_EQ(agent.tick(0s), "");
  agent.session.closed({0, "connection refused"}, agent.random, agent.now);
  EXPECT_EQ(agent.tick(1s), "connect with credentials");
  agent.session.connected(agent.random, agent.now);
  agent.now += 10s;
  agent.session.closed({1006, ""}, agent.random, agent.now);
  EXPECT_EQ(agent.tick(11s), "connect");
}

TEST(agent_session, orderly_ends_reconnect_at_once) {
  for (const auto code : std::vector<uint16_t>{1000, 1001, 1006, 1011}) {
    Agent agent;
    agent.tick(0s);
    agent.session.connected(agent.random, agent.now);
    agent.now += 5s;
    EXPECT_EQ(agent.wait_after({code, ""}), 0s) << code;
  }
  Agent agent;
  agent.tick(0s);
  agent.session.connected(agent.random, agent.now);
  agent.now += 5s;
  EXPECT_GE(agent.wait_after({1008, "policy"}), 250ms);
}

TEST(agent_session, failed_tries_wait_longer_and_longer_up_to_two_minutes) {
  Agent agent;
  base::Milliseconds expected = 250ms;
  for (int i = 0; i < 30; ++i) {
    agent.session.tick(agent.now);
    const base::Milliseconds wait = agent.wait_after({0, "refused"});
    EXPECT_GE(wait, expected);
    EXPECT_LE(wait, expected + expected / 5 + 1ms);
    agent.now += wait;
    expected = std::min<base::Milliseconds>(
        base::Milliseconds(static_cast<int64_t>(static_cast<double>(expected.count()) * 1.5)),
        2min);
  }
  EXPECT_EQ(expected, 2min);
  agent.session.tick(agent.now);
  agent.session.connected(agent.random, agent.now);
  agent.now += 61s;
  agent.session.closed({1008, ""}, agent.random, agent.now);
  EXPECT_LE(agent.session.next_tick() - agent.now, 300ms);
}

TEST(agent_session, a_server_that_accepts_and_hangs_up_is_not_hammered) {
  Agent agent;
  base::Milliseconds last{0};
  for (int i = 0; i < 8; ++i) {
    agent.session.tick(agent.now);
    agent.session.connected(agent.random, agent.now);
    last = agent.wait_after({1006, ""});
    EXPECT_GE(last, 250ms);
    agent.now += last;
  }
  EXPECT_GE(last, 2s);
}

TEST(agent_session, silence_of_one_to_two_minutes_ends_the_connection) {
  Agent agent;
  agent.tick(0s);
  agent.session.connected(agent.random, agent.now);
  EXPECT_EQ(agent.tick(59s), "");
  agent.session.heard(agent.random, agent.now);
  EXPECT_EQ(agent.tick(118s), "");
  EXPECT_EQ(agent.tick(59s + 2min), "disconnect");
  EXPECT_EQ(agent.tick(3min), "");  // Once.
}

TEST(agent_session, a_connection_lasts_30_to_35_minutes) {
  Agent agent;
  agent.tick(0s);
  agent.session.connected(agent.random, agent.now);
  base::Milliseconds age = 0s;
  while (true) {
    age += 30s;
    agent.session.heard(agent.random, start + age);
    if (agent.tick(age) == "disconnect") break;
    ASSERT_LE(age, 36min);
  }
  EXPECT_GE(age, 30min);
  EXPECT_EQ(agent.wait_after({1000, ""}), 0s);
}

TEST(agent_session, an_inactive_instance_waits_for_an_hour) {
  Agent agent;
  agent.tick(0s);
  EXPECT_EQ(agent.wait_after({0, "400 {\"InactiveInstanceException\":\"deregistered\"}"}), 1h);
}

TEST(agent_rules, a_payload_without_its_three_names_is_dropped) {
  AgentProgress progress;
  PayloadMessage message;
  message.seq_num = 5;
  EXPECT_FALSE(accept_payload(message, progress));
  message.cluster_arn = "c";
  message.container_instance_arn = "i";
  EXPECT_FALSE(accept_payload(message, progress));
  EXPECT_EQ(progress.highest, 0);
  message.message_id = "m";
  EXPECT_TRUE(accept_payload(message, progress));
  EXPECT_EQ(progress.highest, 5);
}

TEST(agent_rules, a_manifest_must_be_newer_than_every_payload_and_manifest) {
  AgentProgress progress;
  PayloadMessage payload;
  payload.cluster_arn = "c";
  payload.container_instance_arn = "i";
  payload.message_id = "p";
  payload.seq_num = 10;
  ASSERT_TRUE(accept_payload(payload, progress));
  TaskManifestMessage manifest;
  manifest.cluster_arn = "c";
  manifest.container_instance_arn = "i";
  manifest.message_id = "m1";
  manifest.timeline = 10;
  EXPECT_FALSE(accept_manifest(manifest, progress));
  manifest.timeline = 11;
  EXPECT_TRUE(accept_manifest(manifest, progress));
  EXPECT_FALSE(accept_manifest(manifest, progress));
  payload.seq_num = 3;  // A late payload is handled, and takes nothing back.
  EXPECT_TRUE(accept_payload(payload, progress));
  EXPECT_EQ(progress.highest, 11);
}

TEST(agent_rules, a_stop_ack_counts_once_and_for_the_latest_manifest) {
  AgentProgress progress{.highest = 0, .manifest_id = "m2"};
  EXPECT_FALSE(accept_stop_ack({"m1", 0, {}}, progress));
  EXPECT_TRUE(accept_stop_ack({"m2", 0, {}}, progress));
  EXPECT_FALSE(accept_stop_ack({"m2", 0, {}}, progress));
  EXPECT_FALSE(accept_stop_ack({"", 0, {}}, progress));
}

}  // namespace
}  // namespace acs
