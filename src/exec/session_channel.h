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

namespace exec {

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

// The far end of one channel. Input that comes out of order waits for what is missing; output is
// kept until the plugin has acknowledged it.
//
// The plugin acknowledges a message when it takes it or keeps it for later. It drops, without a
// word, what it has taken already, and output that is next in order as long as it is not ready for
// output. So the oldest message is sent again after a while; and an acknowledgement settles what
// went before it on the same connection and was sure to be taken.
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
    size_t consumed = 0;                      // Bytes of output that the plugin has now.
  };

  Step start(base::Time now);
  // `room`: so many bytes of input can go on to the process; what is more stays unacknowledged, and
  // comes again. Frames that are no messages are ignored, as the plugin ignores them.
  Step receive(std::string_view frame, size_t room, base::Time now);
  // Bytes of the process; kept until the handshake is done.
  Step output(std::string_view bytes, base::Time now);
  // Sends again what is due; call it at the latest at next_due().
  Step tick(base::Time now);
  base::Time next_due() const;  // base::Time::max() when nothing is unacknowledged.
  // The plugin has come back on another connection: everything that it has not acknowledged.
  Step reconnect(base::Time now);
  // Whether the plugin has all output.
  bool settled() const { return sent_.empty() && pending_.empty(); }
  // The session has ended.
  Step finish(std::string_view reason, base::Time now);

 private:
  struct Sent {
    std::string frame;
    size_t bytes = 0;  // Of the process.
    bool is_output = false;
    base::Time at;
    int times = 1;      // On this connection.
    bool sure = false;  // To be taken: see is_sure().
  };

  void send(Step& step, PayloadType type, std::string payload, base::Time now);
  void acknowledge(Step& step, const ChannelMessage& message, base::Time now);
  void take(Step& step, const ChannelMessage& message, base::Time now);
  bool fits(const ChannelMessage& message, size_t room) const;
  // Messages of the handshake are taken at once, and output once the plugin has taken some.
  bool is_sure(bool is_output) const { return ready_ || !is_output; }
  void take_acknowledgement(Step& step, const ChannelMessage& message);
  void settle(Step& step, std::map<int64_t, Sent>::iterator which);

  std::string session_id_;
  base::Random random_;
  int64_t next_output_ = 0;
  int64_t next_input_ = 0;
  std::map<int64_t, Sent> sent_;  // By sequence number; not acknowledged.
  std::map<int64_t, ChannelMessage> early_;
  size_t early_bytes_ = 0;
  base::Time started_{};
  bool open_ = false;   // The handshake is done.
  bool ready_ = false;  // The plugin has taken output.
  std::string pending_;
};

}  // namespace exec
