// The agent's end of a control stream (ACS) or telemetry stream (TCS): when to connect, when to
// give a silent connection up, and which messages count. Pure.
// Source: amazon-ecs-agent, ecs-agent/acs/session/session.go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "acs/messages.h"
#include "base/random.h"
#include "base/time.h"

namespace acs {

struct AgentSettings {
  // A connection on which nothing arrives for so long, plus up to inactivity_jitter, is given up.
  base::Milliseconds inactivity = std::chrono::minutes(1);
  base::Milliseconds inactivity_jitter = std::chrono::minutes(1);
  // The agent closes by itself after so long, plus up to lifetime_jitter, and comes back at once.
  base::Milliseconds lifetime = std::chrono::minutes(30);
  base::Milliseconds lifetime_jitter = std::chrono::minutes(5);
  // Between tries after an abnormal end; grows by `backoff_factor` up to `backoff_max`, each with
  // up to `backoff_jitter` of itself added.
  base::Milliseconds backoff_min = std::chrono::milliseconds(250);
  base::Milliseconds backoff_max = std::chrono::minutes(2);
  double backoff_factor = 1.5;
  double backoff_jitter = 0.2;
  // A connection that lasted so long starts the backoff over.
  base::Milliseconds backoff_reset_after = std::chrono::minutes(1);
  // After an answer that says InactiveInstanceException.
  base::Milliseconds inactive_instance_wait = std::chrono::hours(1);
};

// Values that grow by a factor with jitter.
class Backoff {
 public:
  Backoff(base::Milliseconds min, base::Milliseconds max, double factor, double jitter)
      : min_(min), max_(max), factor_(factor), jitter_(jitter) {}
  base::Milliseconds next(base::Random& random);
  void reset() { next_ = base::Milliseconds{0}; }

 private:
  base::Milliseconds min_;
  base::Milliseconds max_;
  double factor_;
  double jitter_;
  base::Milliseconds next_{0};
};

// How a connection, or the try to make one, ended.
struct Closed {
  uint16_t code = 1006;  // The WebSocket close code; 0: there was no connection.
  std::string reason;    // May hold the name of an exception.
};

class AgentSession {
 public:
  enum class State : uint8_t { Waiting, Connecting, Connected };
  struct Connect {
    // True until the first successful connect of the process.
    bool send_credentials = false;
    int64_t highest =
        0;  // "seqNum" of the connection's query: AgentProgress::highest, by the caller.
  };
  struct Disconnect {
    std::string reason;
  };
  using Command = std::variant<Connect, Disconnect>;

  // The first tick() connects.
  AgentSession(AgentSettings settings, base::Time now);

  // What the caller has to do now; nullopt most of the time. After Connect it reports connected()
  // or closed(), after Disconnect it reports closed().
  std::optional<Command> tick(base::Time now);
  // Disconnect when there is a connection that is not closing already.
  std::optional<Command> leave(std::string reason);
  void connected(base::Random& random, base::Time now);
  // Any message arrived.
  void heard(base::Random& random, base::Time now);
  void closed(const Closed& end, base::Random& random, base::Time now);

  // When tick() has something to do, unless something else happens first.
  base::Time next_tick() const;
  State state() const { return state_; }

 private:
  AgentSettings settings_;
  Backoff backoff_;
  State state_ = State::Waiting;
  base::Time connect_at_;
  base::Time connected_at_{};
  base::Time silent_until_{};
  base::Time close_at_{};
  bool ever_connected_ = false;
  bool closing_ = false;
};

// How far an agent has got; `highest` must be kept across restarts.
struct AgentProgress {
  int64_t highest = 0;      // Of the sequence numbers of payloads and the timelines of manifests.
  std::string manifest_id;  // Of the manifest whose stops are not confirmed yet; memory only.
};

// False: the payload misses its cluster, instance or message id and is dropped without an ack.
bool accept_payload(const PayloadMessage& message, AgentProgress& progress);
// False: likewise, or its timeline is not above all that was seen; dropped without an ack.
bool accept_manifest(const TaskManifestMessage& message, AgentProgress& progress);
// True once, and only for the latest manifest.
bool accept_stop_ack(const TaskStopVerificationAck& message, AgentProgress& progress);

}  // namespace acs
