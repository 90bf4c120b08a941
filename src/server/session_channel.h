// The data channel of AWS Systems Manager's Session Manager, from the far end: what the agent on a
// machine says to the plugin behind `aws ecs execute-command`. Pure.
// Source: github.com/aws/session-manager-plugin, src/message/clientmessage.go and
// src/datachannel/streaming.go: the layout of messages, the handshake, acknowledgements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"

namespace server {

enum class PayloadType : uint32_t {
  None = 0,
  Output = 1,
  Size = 3,
  HandshakeRequest = 5,
  HandshakeResponse = 6,
  HandshakeComplete = 7,
  Flag = 10,
};

struct ChannelMessage {
  std::string type;  // "input_stream_data", "output_stream_data", "acknowledge", "channel_closed".
  int64_t sequence = 0;
  uint64_t flags = 0;  // Bit 0: the first of a stream; bit 1: its last.
  std::string id;      // A UUID in text.
  base::Time created{};
  PayloadType payload_type = PayloadType::None;
  std::string payload;
  friend bool operator==(const ChannelMessage&, const ChannelMessage&) = default;
};

// One binary frame.
std::string encode(const ChannelMessage& message);
// Errors: "InvalidMessage" when the bytes are too few, the lengths do not fit or the digest is
// wrong.
base::Result<ChannelMessage> decode_channel_message(std::string_view frame);

// The far end of one channel. Input that comes out of order waits for what is missing.
class SessionChannel {
 public:
  SessionChannel(std::string session_id, uint64_t seed)
      : session_id_(std::move(session_id)), random_(seed) {}

  // What has to be sent now, and what the user did.
  struct Step {
    std::vector<std::string> frames;
    std::string input;                        // Bytes for the process.
    std::optional<std::pair<int, int>> size;  // Columns and rows of the user's terminal.
    bool terminated = false;                  // The user has ended the session.
  };

  Step start(base::Time now);
  // Frames that are no messages are ignored, as the plugin ignores them.
  Step receive(std::string_view frame, base::Time now);
  // Bytes of the process; kept until the handshake is done.
  Step output(std::string_view bytes, base::Time now);
  // The process has ended.
  Step finish(std::string_view reason, base::Time now);

 private:
  void send(Step& step, PayloadType type, std::string payload, base::Time now);
  void acknowledge(Step& step, const ChannelMessage& message, base::Time now);
  void take(Step& step, const ChannelMessage& message, base::Time now);

  std::string session_id_;
  base::Random random_;
  int64_t next_output_ = 0;
  int64_t next_input_ = 0;
  std::map<int64_t, ChannelMessage> early_;
  base::Time started_{};
  bool open_ = false;
  std::string pending_;
};

}  // namespace server
