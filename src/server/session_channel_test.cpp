#include "server/session_channel.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "json/value.h"

namespace server {
namespace {

const base::Time noon{std::chrono::seconds(1'750'000'000)};
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

  auto step = channel.receive(input(1, PayloadType::Output, "b"), noon);
  EXPECT_EQ(step.input, "");
  EXPECT_EQ(read(step.frames).at(0).type, "acknowledge");
  step = channel.receive(input(0, PayloadType::HandshakeResponse, "{}"), noon);
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
  channel.receive(input(0, PayloadType::HandshakeResponse, "{}"), noon);
  EXPECT_EQ(channel.receive(input(1, PayloadType::Output, "x"), noon).input, "x");
  const auto again = channel.receive(input(1, PayloadType::Output, "x"), noon);
  EXPECT_EQ(again.input, "");
  const auto ack = json::parse(read(again.frames).at(0).payload);
  EXPECT_EQ((*ack)["AcknowledgedMessageId"].text_or(""), some_id);
  EXPECT_EQ((*ack)["AcknowledgedMessageSequenceNumber"].as_int64(), 1);
}

TEST(SessionChannel, sizes_and_the_end_are_told) {
  SessionChannel channel("s", 1);
  channel.start(noon);
  auto step = channel.receive(input(0, PayloadType::Size, R"({"cols":120,"rows":40})"), noon);
  EXPECT_EQ(step.size, (std::pair{120, 40}));
  step = channel.receive(input(1, PayloadType::Flag, std::string("\0\0\0\2", 4)), noon);
  EXPECT_TRUE(step.terminated);
  const auto closed = read(channel.finish("exit code 3", noon).frames);
  EXPECT_EQ(closed.at(0).type, "channel_closed");
  EXPECT_NE(closed[0].payload.find("exit code 3"), std::string::npos);
}

}  // namespace
}  // namespace server
