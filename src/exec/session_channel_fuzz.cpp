// Any bytes as a message of a session's channel: what can be read must print and read back as the
// same. And the messages of a user, made of the same bytes, in any order and more than once: the
// process gets the same input as from those in their order.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/session_channel.h"

namespace {

constexpr base::Time now{base::Milliseconds(1'769'860'800'000)};
constexpr size_t room = size_t{1} << 20;

// What the messages have done so far.
struct Done {
  std::string input;
  std::vector<std::pair<int, int>> sizes;
  bool terminated = false;
  friend bool operator==(const Done&, const Done&) = default;
};

void take(Done& done, const exec::SessionChannel::Step& step) {
  done.input += step.input;
  if (step.size) done.sizes.push_back(*step.size);
  done.terminated = done.terminated || step.terminated;
}

void read_and_print(std::string_view frame) {
  const auto read = exec::decode_channel_message(frame);
  if (!read) {
    CHECK(read.error().code == "InvalidMessage");
    return;
  }
  const auto again = exec::decode_channel_message(exec::encode(*read));
  CHECK(again.has_value() && *again == *read);
}

// One message for each: a byte for its type, one for its length, and its payload.
std::vector<std::string> frames_of(std::string_view bytes) {
  constexpr exec::PayloadType types[] = {exec::PayloadType::Output, exec::PayloadType::Size,
                                         exec::PayloadType::Flag,
                                         exec::PayloadType::HandshakeResponse};
  std::vector<std::string> frames;
  while (bytes.size() >= 2 && frames.size() < 64) {
    const auto type = types[static_cast<uint8_t>(bytes[0]) % std::size(types)];
    const size_t length = static_cast<uint8_t>(bytes[1]) % 32U;
    frames.push_back(exec::encode({.type = "input_stream_data",
                                   .sequence = std::ssize(frames),
                                   .id = "00112233-4455-6677-8899-aabbccddeeff",
                                   .created = now,
                                   .payload_type = type,
                                   .payload = std::string(bytes.substr(2, length))}));
    bytes.remove_prefix(std::min(bytes.size(), 2 + length));
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_and_print(bytes);
  exec::SessionChannel ordered("session", 1);
  exec::SessionChannel mixed("session", 1);
  ordered.start(now);
  mixed.start(now);
  mixed.receive(bytes, room, now);
  const std::vector<std::string> frames = frames_of(bytes);
  Done in_order;
  Done in_any;
  for (const std::string& frame : frames) take(in_order, ordered.receive(frame, room, now));
  for (const uint8_t choice : std::span(data, size)) {
    if (frames.empty()) break;
    take(in_any, mixed.receive(frames[choice % frames.size()], room, now));
  }
  for (const std::string& frame : frames) take(in_any, mixed.receive(frame, room, now));
  CHECK(in_order == in_any);
  return 0;
}
