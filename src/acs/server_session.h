// The server's end of one control stream (ACS) connection: what to send when, which payloads the
// agent has not acknowledged, and when the connection is to be taken for dead. Pure.
//
// The caller owns what outlives a connection: which tasks the instance shall run, and the Timeline.
// Use: on upgrade make a ServerSession and send what open() returns, then deliver() each task whose
// payload the agent has not acknowledged; pass every frame to receive(); call tick() at
// next_tick(). Several sessions of one instance may overlap: an agent opens a new one before the
// old has closed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acs/messages.h"
#include "base/random.h"
#include "base/time.h"

namespace acs {

// Sequence numbers of payloads and manifests of all instances: one counter that only grows, near
// the wall clock's milliseconds. The caller keeps durably up to which number they may have been
// given out, and starts behind it after a restart: the clock may have gone back meanwhile, and an
// official agent ignores a manifest that is not ahead of those it has seen, without telling them.
class Timeline {
 public:
  explicit Timeline(int64_t behind = 0) : last_(behind) {}
  int64_t next(base::Time now);
  int64_t last() const { return last_; }

 private:
  int64_t last_;
};

struct ServerSettings {
  // Any message to the agent puts the next heartbeat off, but an agent that has said nothing for
  // twice as long is asked in any case.
  base::Milliseconds heartbeat_interval = std::chrono::seconds(30);
  // A heartbeat without an answer for so long: the connection is dead (protocolVersion 2 only).
  base::Milliseconds heartbeat_timeout = std::chrono::seconds(30);
  // An unacknowledged payload is sent again after so long on the same connection.
  base::Milliseconds redelivery_interval = std::chrono::seconds(60);
};

struct SessionPeer {
  std::string cluster_arn;
  std::string container_instance_arn;
  int32_t protocol_version = 2;   // Of the connection's query; older agents may leave acks out.
  bool send_credentials = false;  // Of the connection's query; the caller sends the credentials.
  // Of the connection's query: what the agent has seen. Official agents do not tell.
  int64_t highest = 0;
};

class ServerSession {
 public:
  ServerSession(ServerSettings settings, SessionPeer peer, base::Time now);

  // The first message: the manifest of `tasks`, all that the instance has and that are not STOPPED.
  TaskManifestMessage open(std::vector<TaskIdentifier> tasks, Timeline& timeline,
                           base::Random& random, base::Time now);

  // A payload of one task, to be sent now. It is repeated by tick() until the agent acknowledges
  // it, a newer payload of the same task takes its place, or settle().
  PayloadMessage deliver(Task task, Timeline& timeline, base::Random& random, base::Time now);

  // The task was reported STOPPED: an acknowledgement of all its payloads. An official agent sends
  // no ack for a payload that it refuses.
  void settle(std::string_view task_arn);

  struct Acknowledged {
    std::string task_arn;
    std::string desired_status;  // Of the payload: "RUNNING" or "STOPPED".
  };
  struct Received {
    std::vector<Acknowledged> acknowledged;
    // The agent runs these although the latest manifest does not want them. The caller answers
    // with confirm_stops() of those that are indeed not to run.
    std::optional<TaskStopVerificationMessage> stop_candidates;
    std::optional<IAMRoleCredentialsAckRequest> credentials;
    std::optional<NackRequest> refused;
  };
  // Acks of unknown messages (of an earlier connection, or doubled) change nothing.
  Received receive(const AgentMessage& message, base::Time now);

  TaskStopVerificationAck confirm_stops(const TaskStopVerificationMessage& candidates,
                                        std::vector<TaskIdentifier> stop_tasks, base::Time now);

  // Call it for whatever is sent outside of this class (credentials).
  void sent(base::Time now);

  // The next tick() asks whether the agent is still there, unless it is asked already.
  void ask_soon(base::Time now) { asked_for_ = now; }

  struct Ticked {
    std::vector<ServerMessage> messages;  // To be sent now.
    bool dead = false;                    // To be closed now.
  };
  Ticked tick(base::Random& random, base::Time now);
  base::Time next_tick() const;

  const SessionPeer& peer() const { return peer_; }
  // When the agent last said anything.
  base::Time last_heard() const { return last_heard_; }
  size_t unacknowledged() const { return undelivered_.size(); }

 private:
  struct Undelivered {
    PayloadMessage message;
    base::Time sent_at;
  };

  // When the next heartbeat is to be sent.
  base::Time heartbeat_due() const;

  ServerSettings settings_;
  SessionPeer peer_;
  base::Time last_sent_;
  base::Time last_heard_;
  std::optional<base::Time> unanswered_heartbeat_;      // When the oldest such one was sent.
  std::optional<base::Time> asked_for_;                 // By ask_soon(), and not done yet.
  std::string manifest_id_;                             // Empty: none, or its stops are settled.
  std::map<std::string, Undelivered> undelivered_;      // By messageId.
  std::map<std::string, std::string> message_of_task_;  // Task ARN to messageId.
};

}  // namespace acs
