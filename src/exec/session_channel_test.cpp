#include "exec/session_channel.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "exec/testing.h"
#include "json/value.h"

namespace exec {
namespace {

constexpr size_t channel_room = size_t{1} << 20;
constexpr std::string_view some_id = "01234567-89ab-cdef-0123-456789abcdef";

std::string input(int64_t sequence, PayloadType type, std::string payload) {
  return encode({.type = "input_stream_data",
                 .sequence = sequence,
                 .flags = 0,
                 .id = std::string(some_id),
                 .created = noon,
                 .payload_type = type,
                 .payload = std::move(payload)});
}

std::vector<ChannelMessage> read(const std::vector<std::string>& frames) {
  std::vector<ChannelMessage> messages;
  for (const std::string& frame : frames) messages.push_back(decode_channel_message(frame).value());
  return messages;
}

TEST(ChannelMessage, the_header_is_laid_out_as_the_plugin_reads_it) {
  const std::string frame = input(7, PayloadType::Output, "ls\n");
  ASSERT_EQ(frame.size(), 123U);
  EXPECT_EQ(frame.substr(0, 4), std::string("\0\0\0\x74", 4));
  EXPECT_EQ(frame.substr(4, 32), "input_stream_data               ");
  EXPECT_EQ(frame[55], 7);
  // The least significant half of the id first.
  EXPECT_EQ(frame.substr(64, 2), "\x01\x23");
  EXPECT_EQ(frame.substr(72, 2), "\x01\x23");
  EXPECT_EQ(frame.substr(120), "ls\n");
}

RC_GTEST_PROP(ChannelMessage, what_is_encoded_is_decoded_and_a_changed_byte_of_it_is_noticed,
              (const std::string& payload, int64_t sequence, uint8_t place)) {
  const std::string frame = input(sequence, PayloadType::Output, payload);
  const auto message = decode_channel_message(frame);
  RC_ASSERT(message.has_value());
  RC_ASSERT(message->payload == payload);
  RC_ASSERT(message->sequence == sequence);
  RC_ASSERT(message->id == some_id);
  if (payload.empty()) return;
  std::string changed = frame;
  changed[120 + place % payload.size()] ^= 1;
  RC_ASSERT(!decode_channel_message(changed));
  RC_ASSERT(!decode_channel_message(frame.substr(0, place % frame.size())));
}

TEST(SessionChannel, output_waits_for_the_handshake_and_input_for_what_is_missing) {
  SessionChannel channel("s", 1);
  auto sent = read(channel.start(noon).frames);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].payload_type, PayloadType::HandshakeRequest);
  EXPECT_EQ(sent[0].flags, 1U);
  EXPECT_TRUE(channel.output("early", noon).frames.empty());

  auto step = channel.receive(input(1, PayloadType::Output, "b"), channel_room, noon);
  EXPECT_EQ(step.input, "");
  EXPECT_EQ(read(step.frames).at(0).type, "acknowledge");
  step = channel.receive(input(0, PayloadType::HandshakeResponse, "{}"), channel_room, noon);
  EXPECT_EQ(step.input, "b");
  sent = read(step.frames);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[1].payload_type, PayloadType::HandshakeComplete);
  EXPECT_EQ(sent[2].payload, "early");
  EXPECT_EQ(sent[2].sequence, 2);
}

TEST(SessionChannel, a_repeated_message_is_acknowledged_and_taken_once) {
  SessionChannel channel("s", 1);
  channel.start(noon);
  channel.receive(input(0, PayloadType::HandshakeResponse, "{}"), channel_room, noon);
  EXPECT_EQ(channel.receive(input(1, PayloadType::Output, "x"), channel_room, noon).input, "x");
  const auto again = channel.receive(input(1, PayloadType::Output, "x"), channel_room, noon);
  EXPECT_EQ(again.input, "");
  const auto ack = json::parse(read(again.frames).at(0).payload);
  EXPECT_EQ((*ack)["AcknowledgedMessageId"].text_or(""), some_id);
  EXPECT_EQ((*ack)["AcknowledgedMessageSequenceNumber"].as_int64(), 1);
}

TEST(SessionChannel, sizes_and_the_end_are_told) {
  SessionChannel channel("s", 1);
  channel.start(noon);
  auto step =
      channel.receive(input(0, PayloadType::Size, R"({"cols":120,"rows":40})"), channel_room, noon);
  EXPECT_EQ(step.size, (std::pair{120, 40}));
  step =
      channel.receive(input(1, PayloadType::Flag, std::string("\0\0\0\2", 4)), channel_room, noon);
  EXPECT_TRUE(step.terminated);
  const auto closed = read(channel.finish("exit code 3", noon).frames);
  EXPECT_EQ(closed.at(0).type, "channel_closed");
  EXPECT_NE(closed[0].payload.find("exit code 3"), std::string::npos);
}

std::string acknowledgement(int64_t sequence) {
  return encode({.type = "acknowledge",
                 .id = std::string(some_id),
                 .created = noon,
                 .payload = json::print(
                     json::Value::object({{"AcknowledgedMessageType", "output_stream_data"},
                                          {"AcknowledgedMessageId", some_id},
                                          {"AcknowledgedMessageSequenceNumber", sequence},
                                          {"IsSequentialMessage", true}}))});
}

// After the handshake, whose two messages the plugin has acknowledged.
SessionChannel opened() {
  SessionChannel channel("s", 1);
  channel.start(noon);
  channel.receive(acknowledgement(0), channel_room, noon);
  channel.receive(input(0, PayloadType::HandshakeResponse, "{}"), channel_room, noon);
  channel.receive(acknowledgement(1), channel_room, noon);
  EXPECT_TRUE(channel.settled());
  return channel;
}

std::vector<int64_t> sequences(const std::vector<std::string>& frames) {
  std::vector<int64_t> numbers;
  for (const ChannelMessage& message : read(frames)) numbers.push_back(message.sequence);
  return numbers;
}

using Numbers = std::vector<int64_t>;

TEST(SessionChannel, output_that_the_plugin_was_not_ready_for_is_sent_again) {
  SessionChannel channel = opened();
  channel.output("a", noon);
  channel.output("b", noon);
  // The plugin keeps the second for later, and has dropped the first.
  EXPECT_EQ(channel.receive(acknowledgement(3), channel_room, noon).consumed, 1U);
  EXPECT_TRUE(channel.tick(noon + base::Milliseconds(499)).frames.empty());
  EXPECT_EQ(channel.next_due(), noon + base::Milliseconds(500));
  const base::Time later = channel.next_due();
  EXPECT_EQ(sequences(channel.tick(later).frames), Numbers{2});
  EXPECT_TRUE(channel.tick(later).frames.empty());
  EXPECT_EQ(sequences(channel.tick(channel.next_due()).frames), Numbers{2});
  EXPECT_FALSE(channel.settled());
  EXPECT_EQ(channel.receive(acknowledgement(2), channel_room, later).consumed, 1U);
  EXPECT_TRUE(channel.settled());
  EXPECT_EQ(channel.next_due(), base::Time::max());
}

TEST(SessionChannel, a_plugin_that_comes_back_gets_what_it_has_not_acknowledged_in_order) {
  SessionChannel channel = opened();
  for (const char* const text : {"a", "b", "c"}) channel.output(text, noon);
  EXPECT_EQ(channel.receive(acknowledgement(2), channel_room, noon).consumed, 1U);
  // It has taken "b", but its acknowledgement is lost with the connection.
  EXPECT_EQ(sequences(channel.reconnect(noon).frames), (Numbers{3, 4}));
  EXPECT_EQ(sequences(channel.output("d", noon).frames), Numbers{5});
  // It says nothing of what it has already; what follows settles it.
  EXPECT_EQ(channel.receive(acknowledgement(4), channel_room, noon).consumed, 2U);
  EXPECT_FALSE(channel.settled());
  EXPECT_EQ(channel.receive(acknowledgement(5), channel_room, noon).consumed, 1U);
  EXPECT_TRUE(channel.settled());
}

TEST(SessionChannel, the_last_message_is_not_sent_again_for_ever) {
  SessionChannel channel = opened();
  channel.output("a", noon);
  channel.receive(acknowledgement(2), channel_room, noon);
  channel.output("b", noon);
  channel.reconnect(noon);
  size_t sent = 0;
  size_t consumed = 0;
  while (!channel.settled() && sent < 100) {
    const auto step = channel.tick(channel.next_due());
    sent += step.frames.size();
    consumed += step.consumed;
  }
  EXPECT_EQ(sent, 9U);
  EXPECT_EQ(consumed, 1U);
}

TEST(SessionChannel, input_for_which_there_is_no_room_is_not_acknowledged_and_comes_again) {
  SessionChannel channel = opened();
  const std::string frame = input(1, PayloadType::Output, "abcd");
  EXPECT_TRUE(channel.receive(frame, 3, noon).frames.empty());
  // What comes early is bounded whatever the room.
  const std::string big(size_t{60} << 10, 'x');
  EXPECT_EQ(channel.receive(input(2, PayloadType::Output, big), 3, noon).frames.size(), 1U);
  EXPECT_TRUE(
      channel.receive(input(3, PayloadType::Output, big), channel_room, noon).frames.empty());
  EXPECT_TRUE(channel.receive(frame, big.size(), noon).frames.empty());
  EXPECT_EQ(channel.receive(frame, channel_room, noon).input, "abcd" + big);
}

// What HandleOutputMessage of the plugin does, and a connection that breaks.
struct PluginModel {
  int64_t expected = 0;
  bool ready = false;
  std::map<int64_t, ChannelMessage> later;
  std::string output;
  std::vector<std::string> sent;

  void take(const ChannelMessage& message) {
    if (message.type != "output_stream_data" || message.sequence < expected) return;
    if (message.sequence > expected) {
      sent.push_back(acknowledgement(message.sequence));
      later.emplace(message.sequence, message);
      return;
    }
    if (message.payload_type == PayloadType::Output && !ready) return;
    sent.push_back(acknowledgement(message.sequence));
    apply(message);
    while (!later.empty() && later.begin()->first == expected) {
      const ChannelMessage next = later.begin()->second;
      later.erase(later.begin());
      apply(next);
    }
  }
  void apply(const ChannelMessage& message) {
    ++expected;
    if (message.payload_type == PayloadType::HandshakeRequest) {
      sent.push_back(input(0, PayloadType::HandshakeResponse, "{}"));
    }
    if (message.payload_type == PayloadType::Output) output += message.payload;
  }
};

// One end of the channel and the model of the other, with what is under way between them.
struct Wire {
  SessionChannel channel{"s", 1};
  PluginModel plugin;
  std::vector<std::string> to_plugin;
  base::Time now = noon;
  size_t consumed = 0;

  void follow(SessionChannel::Step step) {
    consumed += step.consumed;
    for (std::string& frame : step.frames) to_plugin.push_back(std::move(frame));
  }
  void deliver() {
    for (const std::string& frame : std::exchange(to_plugin, {})) {
      plugin.take(decode_channel_message(frame).value());
    }
  }
  void answer() {
    for (const std::string& frame : std::exchange(plugin.sent, {})) {
      follow(channel.receive(frame, channel_room, now));
    }
  }
  void break_connection() {
    to_plugin.clear();
    plugin.sent.clear();
    follow(channel.reconnect(now));
  }
  void wait() {
    now = std::max(now, std::min(channel.next_due(), now + base::Milliseconds(1'000)));
    follow(channel.tick(now));
  }
};

RC_GTEST_PROP(SessionChannel, all_output_arrives_once_and_in_order_over_broken_connections,
              (const std::vector<uint8_t>& story)) {
  Wire wire;
  wire.follow(wire.channel.start(wire.now));
  // The plugin sends its response again until it is acknowledged; a broken connection before it is
  // another story.
  wire.deliver();
  wire.answer();
  std::string written;
  for (const uint8_t turn : story) {
    switch (turn % 8) {
      case 0:
        wire.break_connection();
        break;
      case 1:
      case 2:
        wire.deliver();
        break;
      case 3:
      case 4:
        wire.answer();
        break;
      case 5:
        wire.wait();
        break;
      case 6:
        wire.plugin.ready = true;
        break;
      default: {
        const std::string piece = "<" + std::to_string(written.size()) + ">";
        written += piece;
        wire.follow(wire.channel.output(piece, wire.now));
      }
    }
  }
  wire.plugin.ready = true;
  for (int i = 0; i < 10'000 && !wire.channel.settled(); ++i) {
    wire.deliver();
    wire.answer();
    wire.wait();
  }
  RC_ASSERT(wire.channel.settled());
  RC_ASSERT(wire.plugin.output == written);
  RC_ASSERT(wire.consumed == written.size());
}

}  // namespace
}  // namespace exec
