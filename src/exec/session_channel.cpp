#include "exec/session_channel.h"

#include "base/format.h"
#include "crypto/crypto.h"
#include "json/value.h"

namespace exec {
namespace {

constexpr size_t type_size = 32;
constexpr size_t header_size = 116;  // Without the length of the payload, which follows it.
constexpr size_t most_early = 1'000;
constexpr size_t most_early_bytes = size_t{64} << 10;
constexpr base::Milliseconds resend_after{500};
// So often it was sent on one connection: it must be there, only the plugin's word of it was lost.
// No plugin takes half a minute until it is ready for output.
constexpr int most_times_if_sure = 10;
constexpr int most_times = 60;
constexpr size_t most_payload = 16 * 1024;
constexpr uint64_t syn_flag = 1;
constexpr uint64_t fin_flag = 2;
constexpr uint32_t terminate_session_flag = 2;

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

uint64_t get(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

// The second half of the UUID's bytes stands first.
std::string id_bytes(std::string_view id) {
  std::string digits;
  for (const char c : id) {
    if (c != '-') digits += c;
  }
  const std::string bytes = crypto::from_hex(digits).value_or(std::string(16, '\0'));
  return bytes.substr(8) + bytes.substr(0, 8);
}

std::string id_text(std::string_view bytes) {
  std::string digits =
      crypto::to_hex(std::string(bytes.substr(8)) + std::string(bytes.substr(0, 8)));
  for (const size_t dash : {20U, 16U, 12U, 8U}) digits.insert(dash, "-");
  return digits;
}

std::unexpected<base::Error> invalid_message(std::string_view why) {
  return base::fail("InvalidMessage", base::format("A message of a session {}.", why));
}

}  // namespace

std::string encode(const ChannelMessage& message) {
  std::string frame;
  put(frame, header_size, 4);
  frame += message.type.substr(0, type_size);
  frame.resize(4 + type_size, ' ');
  put(frame, 1, 4);
  put(frame, static_cast<uint64_t>(message.created.time_since_epoch().count()), 8);
  put(frame, static_cast<uint64_t>(message.sequence), 8);
  put(frame, message.flags, 8);
  frame += id_bytes(message.id);
  frame += crypto::as_text(crypto::sha256(message.payload));
  put(frame, static_cast<uint64_t>(message.payload_type), 4);
  put(frame, message.payload.size(), 4);
  return frame + message.payload;
}

base::Result<ChannelMessage> decode_channel_message(std::string_view frame) {
  if (frame.size() < header_size + 4) return invalid_message("is too short");
  if (get(frame.substr(0, 4)) != header_size) {
    return invalid_message("has a header of another length");
  }
  if (get(frame.substr(header_size, 4)) != frame.size() - header_size - 4) {
    return invalid_message("is not as long as it says");
  }
  ChannelMessage message;
  message.type = frame.substr(4, type_size);
  while (message.type.ends_with(' ') || message.type.ends_with('\0')) message.type.pop_back();
  message.created = base::Time(base::Milliseconds(static_cast<int64_t>(get(frame.substr(40, 8)))));
  message.sequence = static_cast<int64_t>(get(frame.substr(48, 8)));
  message.flags = get(frame.substr(56, 8));
  message.id = id_text(frame.substr(64, 16));
  message.payload_type = static_cast<PayloadType>(get(frame.substr(112, 4)));
  message.payload = frame.substr(header_size + 4);
  if (frame.substr(80, 32) != crypto::as_text(crypto::sha256(message.payload))) {
    return invalid_message("has another digest than its payload");
  }
  return message;
}

void SessionChannel::send(Step& step, PayloadType type, std::string payload, base::Time now) {
  const int64_t sequence = next_output_++;
  const bool is_output = type == PayloadType::Output;
  Sent sent{.frame = {},
            .bytes = is_output ? payload.size() : 0,
            .is_output = is_output,
            .at = now,
            .sure = is_sure(is_output)};
  sent.frame = encode({.type = "output_stream_data",
                       .sequence = sequence,
                       .flags = sequence == 0 ? syn_flag : 0,
                       .id = random_.uuid(),
                       .created = now,
                       .payload_type = type,
                       .payload = std::move(payload)});
  step.frames.push_back(sent.frame);
  sent_.emplace(sequence, std::move(sent));
}

void SessionChannel::settle(Step& step, std::map<int64_t, Sent>::iterator which) {
  step.consumed += which->second.bytes;
  sent_.erase(which);
}

void SessionChannel::take_acknowledgement(Step& step, const ChannelMessage& message) {
  const auto told = json::parse(message.payload);
  if (!told || !told->is_object()) return;
  const auto found =
      sent_.find((*told)["AcknowledgedMessageSequenceNumber"].as_int64().value_or(-1));
  if (found == sent_.end()) return;
  while (sent_.begin() != found && sent_.begin()->second.sure) settle(step, sent_.begin());
  if (found == sent_.begin() && found->second.is_output) ready_ = true;
  settle(step, found);
}

SessionChannel::Step SessionChannel::tick(base::Time now) {
  Step step;
  while (!sent_.empty()) {
    Sent& oldest = sent_.begin()->second;
    if (now < oldest.at + resend_after) break;
    if (oldest.times >= (oldest.sure ? most_times_if_sure : most_times)) {
      ready_ = ready_ || oldest.is_output;
      settle(step, sent_.begin());
      continue;
    }
    oldest.at = now;
    ++oldest.times;
    oldest.sure = is_sure(oldest.is_output);
    step.frames.push_back(oldest.frame);
    break;
  }
  return step;
}

base::Time SessionChannel::next_due() const {
  return sent_.empty() ? base::Time::max() : sent_.begin()->second.at + resend_after;
}

SessionChannel::Step SessionChannel::reconnect(base::Time now) {
  Step step;
  for (auto& [sequence, sent] : sent_) {
    sent.at = now;
    sent.times = 1;
    sent.sure = is_sure(sent.is_output);
    step.frames.push_back(sent.frame);
  }
  return step;
}

SessionChannel::Step SessionChannel::start(base::Time now) {
  Step step;
  started_ = now;
  send(step, PayloadType::HandshakeRequest,
       json::print(json::Value::object(
           {{"AgentVersion", "3.3.0.0"},
            {"RequestedClientActions",
             json::Value::array({json::Value::object(
                 {{"ActionType", "SessionType"},
                  {"ActionParameters",
                   json::Value::object({{"SessionType", "InteractiveCommands"},
                                        {"Properties", json::Value::object()}})}})})}})),
       now);
  return step;
}

void SessionChannel::acknowledge(Step& step, const ChannelMessage& message, base::Time now) {
  step.frames.push_back(encode({.type = "acknowledge",
                                .sequence = 0,
                                .flags = syn_flag | fin_flag,
                                .id = random_.uuid(),
                                .created = now,
                                .payload_type = PayloadType::None,
                                .payload = json::print(json::Value::object(
                                    {{"AcknowledgedMessageType", message.type},
                                     {"AcknowledgedMessageId", message.id},
                                     {"AcknowledgedMessageSequenceNumber", message.sequence},
                                     {"IsSequentialMessage", true}}))}));
}

void SessionChannel::take(Step& step, const ChannelMessage& message, base::Time now) {
  switch (message.payload_type) {
    case PayloadType::HandshakeResponse: {
      if (open_) return;
      open_ = true;
      const auto taken = std::chrono::nanoseconds(now - started_);
      send(step, PayloadType::HandshakeComplete,
           json::print(json::Value::object(
               {{"HandshakeTimeToComplete", int64_t{taken.count()}}, {"CustomerMessage", ""}})),
           now);
      Step kept = output(std::exchange(pending_, {}), now);
      for (std::string& frame : kept.frames) step.frames.push_back(std::move(frame));
      return;
    }
    case PayloadType::Output:
      step.input += message.payload;
      return;
    case PayloadType::Size: {
      const auto size = json::parse(message.payload);
      if (!size) return;
      step.size = {static_cast<int>((*size)["cols"].as_int64().value_or(80)),
                   static_cast<int>((*size)["rows"].as_int64().value_or(24))};
      return;
    }
    case PayloadType::Flag:
      if (message.payload.size() == 4 && get(message.payload) == terminate_session_flag) {
        step.terminated = true;
      }
      return;
    default:
      return;
  }
}

// What came early goes on together with the message that was missing, so it has to fit too.
bool SessionChannel::fits(const ChannelMessage& message, size_t room) const {
  const size_t bytes = early_bytes_ + message.payload.size();
  if (message.sequence == next_input_) return bytes <= room;
  return early_.size() < most_early && bytes <= most_early_bytes;
}

SessionChannel::Step SessionChannel::receive(std::string_view frame, size_t room, base::Time now) {
  Step step;
  auto message = decode_channel_message(frame);
  if (!message) return step;
  if (message->type == "acknowledge") take_acknowledgement(step, *message);
  if (message->type != "input_stream_data") return step;
  const int64_t sequence = message->sequence;
  const bool is_new = sequence >= next_input_ && !early_.contains(sequence);
  if (is_new && !fits(*message, room)) return step;
  acknowledge(step, *message, now);
  if (!is_new) return step;
  early_bytes_ += message->payload.size();
  early_.emplace(sequence, std::move(*message));
  for (auto next = early_.begin(); next != early_.end() && next->first == next_input_;
       next = early_.begin()) {
    ++next_input_;
    early_bytes_ -= next->second.payload.size();
    take(step, next->second, now);
    early_.erase(next);
  }
  return step;
}

SessionChannel::Step SessionChannel::output(std::string_view bytes, base::Time now) {
  Step step;
  if (!open_) {
    pending_ += bytes;
    return step;
  }
  while (!bytes.empty()) {
    send(step, PayloadType::Output, std::string(bytes.substr(0, most_payload)), now);
    bytes.remove_prefix(std::min(bytes.size(), most_payload));
  }
  return step;
}

SessionChannel::Step SessionChannel::finish(std::string_view reason, base::Time now) {
  Step step;
  const std::string id = random_.uuid();
  step.frames.push_back(
      encode({.type = "channel_closed",
              .sequence = 0,
              .flags = syn_flag | fin_flag,
              .id = id,
              .created = now,
              .payload_type = PayloadType::None,
              .payload = json::print(json::Value::object(
                  {{"MessageId", id},
                   {"CreatedDate", base::format("{}", now.time_since_epoch().count())},
                   {"DestinationId", session_id_},
                   {"SessionId", session_id_},
                   {"MessageType", "channel_closed"},
                   {"SchemaVersion", 1},
                   {"Output", reason}}))}));
  return step;
}

}  // namespace exec
