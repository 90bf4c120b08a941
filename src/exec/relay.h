// Sessions of ExecuteCommand: passes bytes between the client of a session, which is the plugin of
// the AWS CLI or `berth exec`, and the agent that runs the command in the container. With the agent
// and with `berth exec` it speaks acs/exec.h, with the plugin session_channel.h.
//
// The first message of a client is JSON with the session's TokenValue, which is good once;
// "BerthRaw" makes it one of `berth exec`, whose "BerthTerminal" says whether the command gets a
// terminal, and "BerthTaken" how many messages of the session it has (acs/exec_link.h). Whose
// connection broke asks for another token (ResumeSession) and comes back; meanwhile the process
// goes on. `berth exec` without "BerthTaken" cannot come back.
//
// A session that is to be logged gets an Log; the thread never waits for it, but holds back the
// command's exit code for the moment that its last words take to the disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "acs/exec.h"
#include "acs/exec_link.h"
#include "base/onward_clock.h"
#include "base/queue.h"
#include "base/result.h"
#include "base/time.h"
#include "exec/log.h"
#include "exec/session_channel.h"
#include "net/http_server.h"
#include "net/websocket.h"

namespace exec {

inline constexpr std::string_view client_path = "/exec/session/";
inline constexpr std::string_view agent_path = "/exec/agent/";

// Where a session is to be logged, and what as.
struct LogOrder {
  std::string group;
  Beginning beginning;
};

// A session that was given out and waits for both ends.
struct Ticket {
  std::string id;
  std::string client_token;
  std::string agent_token;
  std::string instance;  // ARN: whose agent runs the command.
  std::optional<LogOrder> log = std::nullopt;
};

class Relay {
 public:
  // Hands a call of CloudWatch Logs on and never waits; false: too much is waiting. Otherwise
  // `answered` is called once, on any thread, before the relay is destroyed.
  using LogAnswered = std::move_only_function<void(base::Result<api::Any>)>;
  using CallLogs = std::function<bool(LogCall call, LogAnswered answered)>;

  // `clock` outlives it.
  Relay(base::Clock& clock, CallLogs call_logs);
  ~Relay();  // Does stop().
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // False when there are too many sessions already. Any thread.
  bool expect(Ticket session);
  // Whether there is a session that a client may come back to; if so, its next client's token is
  // this. `answered` is called on the relay's thread. False when too much is waiting. Any thread.
  using Answered = std::move_only_function<void(bool known)>;
  bool resume(std::string id, std::string client_token, Answered answered);
  // Ends the session; `answered` learns whether there was one.
  bool terminate(std::string id, Answered answered);
  // Ends every session with the agent of this instance (an ARN), whose key was taken back. Waits
  // for room. Any thread but the relay's own.
  void end_all_of(std::string instance);
  // Whether the path of an upgrade is a session's. Any thread.
  static bool is_for(std::string_view path);
  // The upgrade of either end: the agent's token stands in the query, the client's in its first
  // message. One to a session that is not there is refused before it may send anything. Any thread.
  void open(const net::HttpRequest& request, const net::Upgrade& upgrade);
  // Closes what is open and joins the thread.
  void stop();

 private:
  enum class Side : uint8_t { Client, Agent };
  struct Opening {
    Side side = Side::Client;
    std::string session;
    std::string token;  // Of the agent.
    net::Upgrade upgrade;
  };
  struct Message {
    uint64_t socket_id = 0;
    std::string bytes;
  };
  struct Closed {
    uint64_t socket_id = 0;
    bool on_purpose = false;  // Otherwise the connection broke.
  };
  struct Resume {
    std::string session;
    std::string token;
    Answered answered;
  };
  struct Terminate {
    std::string session;
    Answered answered;
  };
  struct EndAllOf {
    std::string instance;
  };
  struct Logged {
    std::string session;
    base::Result<void> answer;
  };
  using Event = std::variant<Ticket, Opening, Message, Closed, Resume, Terminate, EndAllOf, Logged>;

  // A client that has not shown its token yet.
  struct Handshake {
    std::string session;
    std::shared_ptr<net::WebSocket> socket;
    base::Time since;
  };
  // The agent's last message, which waits for the log.
  struct HeldEnd {
    std::string message;
    base::Time until;
    bool agent_closed = false;  // Its connection was closed meanwhile.
  };
  struct Session {
    Ticket ticket;  // Its client_token is empty once used.
    base::Time made_at;
    std::shared_ptr<net::WebSocket> client;  // Null: none has come, or its connection broke.
    std::shared_ptr<net::WebSocket> agent;
    uint64_t client_id = 0;
    uint64_t agent_id = 0;
    bool accepted = false;                  // A client has shown its token.
    std::optional<SessionChannel> channel;  // Of the plugin; none for `berth exec`.
    std::optional<acs::ExecLink> link;      // Of `berth exec`, where it can come back.
    bool told_end = false;                  // Of a link: the last message was sent.
    std::vector<std::string> waiting;       // Messages to an agent that has not come yet.
    size_t waiting_bytes = 0;
    size_t input_room = acs::exec_window;  // Of a plugin: what may go to the agent.
    size_t output_under_way = 0;           // What came from the agent and was not consumed.
    base::Time client_lost{};
    std::optional<HeldEnd> held;
    std::optional<std::string> ending;  // Why it ends once the client has all output.
    base::Time ends_by{};
  };

  bool hand(uint64_t socket_id, std::string bytes);
  void run();
  base::Milliseconds until_next_due();
  void take(Ticket ticket);
  void take(Opening opening);
  void take(Message message);
  void take(const Closed& closed);
  void take(Resume resume);
  void take(Terminate terminate);
  void take(const EndAllOf& order);
  void take(const Logged& logged);
  void take_agent(Opening opening);
  // Null where the peer is gone already.
  std::shared_ptr<net::WebSocket> accept(uint64_t socket_id, const net::Upgrade& upgrade);
  // Why it has to end now; empty: it need not.
  static std::string_view stale_because(const Session& session, base::Time now);
  void give_up_stale();

  void tick();
  void on_first_message(uint64_t socket_id, const Message& message);
  // The session may be gone after any of these.
  void on_client(Session& session, const Message& message);
  void on_client_of_link(Session& session, const Message& message);
  void on_agent_of_link(Session& session, const Message& message);
  void send_on_link(Session& session, std::string message);
  void resume_link(Session& session, int64_t taken_by_client);
  void on_agent(Session& session, const Message& message);
  void on_agent_closed(Session& session);
  void on_agent_of_plugin(Session& session, const Message& message);
  void to_agent(Session& session, std::string message);
  // The session may be gone afterwards.
  void follow(Session& session, SessionChannel::Step step);
  void end(const std::string& id, std::string_view why);

  void begin_log(Session& session, bool terminal);
  // True: the message is held back.
  bool log_from_agent(Session& session, const Message& message);
  void end_log(const std::string& id, std::string_view why);
  // Makes the call that is due, if any.
  void write_log(const std::string& id);
  void write_logs_that_are_due();
  // Every call that is left.
  void finish_logs();
  bool call_logs(const std::string& id, LogCall call);
  bool log_may_end(const std::string& id) const;
  void release_ends();

  base::OnwardClock clock_;  // Of the thread.
  base::Queue<Event> queue_{10'000};
  std::atomic<size_t> queued_bytes_ = 0;
  std::atomic<size_t> open_sessions_ = 0;  // Those to come included.
  // Owned by the thread.
  uint64_t last_socket_ = 0;
  std::map<std::string, Session> sessions_;
  std::map<uint64_t, std::string> of_socket_;
  std::map<uint64_t, Handshake> handshakes_;
  std::map<std::string, Log> logs_;  // By session, which may have ended.
  size_t logs_bytes_ = 0;            // What they keep.
  const CallLogs call_logs_;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace exec
