// One end of the line between the control plane and `berth exec`, which outlives the connections
// that carry it. Each end counts the session's messages that it has taken and keeps those that it
// has sent until the far end has told (ExecKind::Taken) that it has them; on a new connection both
// tell how many they have, and send the rest again. So nothing is lost and nothing comes twice.
// Pure.
//
// On each connection the client's first word is how many messages it has, in its hello; the control
// plane's first message there is taken_message(), and until that has come the client sends nothing
// else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acs {

class ExecLink {
 public:
  // Keeps the message, which the caller sends now where there is a connection. The reference is
  // good until the next call.
  const std::string& send(std::string message);

  struct Received {
    bool for_caller = false;           // A message of the session, which has not come before.
    bool broken = false;               // The far end does not keep to what is agreed.
    std::vector<std::string> answers;  // To be sent now, in their order.
  };
  // What has come on the present connection.
  Received receive(std::string_view message);

  // The control plane's side of a new connection: what the client lacks, in order; nullopt: it
  // tells a number that cannot be.
  std::optional<std::vector<std::string>> resume(uint64_t taken_by_client);
  // The client's side: what it lacks is among the answers to the first message of the far end.
  void reconnect() { waits_for_count_ = true; }
  // Whether send() may be followed by sending.
  bool is_open() const { return !waits_for_count_; }

  uint64_t taken() const { return taken_; }
  std::string taken_message() const;
  // Messages that the far end is not known to have, with what each takes beside its bytes.
  size_t kept_bytes() const { return kept_bytes_; }
  bool settled() const { return kept_.empty(); }

 private:
  bool drop_taken(uint64_t taken_by_far_end);

  std::deque<std::string> kept_;
  size_t kept_bytes_ = 0;
  uint64_t dropped_ = 0;  // Of those sent, before the first in kept_.
  uint64_t taken_ = 0;
  uint64_t told_ = 0;  // Of those taken.
  size_t untold_bytes_ = 0;
  bool waits_for_count_ = false;
};

}  // namespace acs
