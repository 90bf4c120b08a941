#include "acs/exec_link.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>

#include "acs/exec.h"
#include "base/format.h"

namespace acs {
namespace {

// Two ends and the connection between them, which loses what is on its way when it is cut.
struct Line {
  ExecLink plane;
  ExecLink client;
  std::deque<std::string> to_client;
  std::deque<std::string> to_plane;
  std::vector<std::string> taken_by_client;
  std::vector<std::string> taken_by_plane;
  bool connected = false;
  bool sound = true;

  void cut() {
    connected = false;
    to_client.clear();
    to_plane.clear();
  }
  void connect() {
    client.reconnect();
    const auto rest = plane.resume(client.taken());
    sound = sound && rest.has_value();
    to_client.push_back(plane.taken_message());
    if (rest) to_client.insert(to_client.end(), rest->begin(), rest->end());
    connected = true;
  }
  void plane_sends(std::string message) {
    const std::string& kept = plane.send(std::move(message));
    if (connected) to_client.push_back(kept);
  }
  void client_sends(std::string message) {
    const std::string& kept = client.send(std::move(message));
    if (connected && client.is_open()) to_plane.push_back(kept);
  }
  void deliver(std::deque<std::string>& way, ExecLink& end, std::deque<std::string>& back,
               std::vector<std::string>& taken) {
    if (way.empty()) return;
    const std::string message = std::move(way.front());
    way.pop_front();
    ExecLink::Received received = end.receive(message);
    sound = sound && !received.broken;
    if (received.for_caller) taken.push_back(message);
    back.insert(back.end(), received.answers.begin(), received.answers.end());
  }
  void deliver_to_client() { deliver(to_client, client, to_plane, taken_by_client); }
  void deliver_to_plane() { deliver(to_plane, plane, to_client, taken_by_plane); }
};

std::string output(int number) {
  return encode_exec(ExecKind::Output, base::format("{}", number));
}

RC_GTEST_PROP(ExecLink, brings_each_message_once_and_in_order_over_any_connections, ()) {
  Line line;
  line.connect();
  std::vector<std::string> said_by_plane;
  std::vector<std::string> said_by_client;
  const auto acts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12));
  for (const int act : acts) {
    if (act < 3) {
      said_by_plane.push_back(output(static_cast<int>(said_by_plane.size())));
      line.plane_sends(said_by_plane.back());
    } else if (act < 5) {
      said_by_client.push_back(
          encode_exec(ExecKind::Input, base::format("{}", said_by_client.size())));
      line.client_sends(said_by_client.back());
    } else if (act < 8) {
      line.deliver_to_client();
    } else if (act < 11) {
      line.deliver_to_plane();
    } else if (line.connected) {
      line.cut();
    } else {
      line.connect();
    }
  }
  line.cut();
  line.connect();
  while (!line.to_client.empty() || !line.to_plane.empty()) {
    line.deliver_to_client();
    line.deliver_to_plane();
  }
  RC_ASSERT(line.sound);
  RC_ASSERT(line.taken_by_client == said_by_plane);
  RC_ASSERT(line.taken_by_plane == said_by_client);
}

TEST(ExecLink, keeps_little_of_what_the_far_end_takes) {
  Line line;
  line.connect();
  line.deliver_to_client();
  for (int i = 0; i < 10'000; ++i) {
    line.plane_sends(output(i));
    line.deliver_to_client();
    line.deliver_to_plane();
    ASSERT_LT(line.plane.kept_bytes(), 10'000U);
  }
  const std::string large = encode_exec(ExecKind::Output, std::string(exec_most_bytes, 'x'));
  for (int i = 0; i < 1'000; ++i) {
    line.plane_sends(large);
    line.deliver_to_client();
    line.deliver_to_plane();
    ASSERT_LT(line.plane.kept_bytes(), exec_window / 2);
  }
}

TEST(ExecLink, the_end_is_acknowledged_at_once) {
  Line line;
  line.connect();
  line.plane_sends(output(1));
  line.plane_sends(encode_exec(ExecKind::ExitCode, "0"));
  EXPECT_FALSE(line.plane.settled());
  for (int i = 0; i < 3; ++i) line.deliver_to_client();
  line.deliver_to_plane();
  EXPECT_TRUE(line.plane.settled());
}

TEST(ExecLink, counts_that_cannot_be_are_told) {
  ExecLink link;
  link.send(output(1));
  EXPECT_FALSE(link.resume(2));
  EXPECT_TRUE(link.receive("k2").broken);
  EXPECT_TRUE(link.receive("kx").broken);
  EXPECT_TRUE(link.receive("k").broken);
  EXPECT_FALSE(link.receive("k1").broken);
  EXPECT_TRUE(link.receive("k0").broken);
  link.reconnect();
  EXPECT_TRUE(link.receive(output(1)).broken) << "the count comes first";
}

}  // namespace
}  // namespace acs
