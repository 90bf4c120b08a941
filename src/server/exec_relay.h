// Sessions of ExecuteCommand: passes bytes between the client of a session, which is the plugin of
// the AWS CLI or `berth exec`, and the agent that runs the command in the container.
//
// Between the agent and here, and with `berth exec`, a message is binary: its kind and its bytes.
//   to the agent:   'i' input, 'q' end of the input, 'z' {"cols","rows"}
//   from the agent: 'o' output, 'e' standard error, 'x' exit code in digits, 'f' why it failed
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/queue.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http_server.h"
#include "net/websocket.h"
#include "server/session_channel.h"

namespace server {

inline constexpr std::string_view exec_client_path = "/exec/session/";
inline constexpr std::string_view exec_agent_path = "/exec/agent/";

// A session that was given out and waits for both ends.
struct ExecSession {
  std::string id;
  std::string client_token;
  std::string agent_token;
};

class ExecRelay {
 public:
  // `clock` outlives it.
  explicit ExecRelay(base::Clock& clock);
  ~ExecRelay();  // Does stop().
  ExecRelay(const ExecRelay&) = delete;
  ExecRelay& operator=(const ExecRelay&) = delete;

  // False when too much is waiting already. Any thread.
  bool expect(ExecSession session);
  // Whether the path of an upgrade is a session's. Any thread.
  static bool is_for(std::string_view path);
  // The upgrade of either end: the agent's token stands in the query, the client's in its first
  // message. Any thread.
  void open(const net::HttpRequest& request, const net::Upgrade& upgrade);
  // Closes what is open and joins the thread.
  void stop();

 private:
  enum class Side : uint8_t { Client, Agent };
  struct Opened {
    uint64_t socket_id = 0;
    Side side = Side::Client;
    std::string session;
    std::string token;                       // Of the agent.
    std::shared_ptr<net::WebSocket> socket;  // Shared with its connection.
  };
  struct Message {
    uint64_t socket_id = 0;
    std::string bytes;
    bool is_text = false;
  };
  struct Closed {
    uint64_t socket_id = 0;
  };
  using Event = std::variant<ExecSession, Opened, Message, Closed>;

  struct Session {
    ExecSession ticket;
    base::Time made_at;
    std::shared_ptr<net::WebSocket> client;
    std::shared_ptr<net::WebSocket> agent;
    uint64_t client_id = 0;
    uint64_t agent_id = 0;
    bool accepted = false;                  // The client has shown its token.
    std::optional<SessionChannel> channel;  // Of the plugin; none for `berth exec`.
    std::vector<std::string> waiting;       // Messages to an agent that has not come yet.
  };

  void run();
  void take(ExecSession ticket);
  void take(Opened opened);
  void take(Message message);
  void take(const Closed& closed);
  void give_up_stale();
  void on_client(Session& session, const Message& message);
  void on_first_message(Session& session, const Message& message);
  void on_agent(Session& session, const Message& message);
  void to_agent(Session& session, std::string message);
  void follow(Session& session, SessionChannel::Step step);
  void end(const std::string& id, std::string_view why);

  base::Clock& clock_;
  base::Queue<Event> queue_{10'000};
  std::atomic<uint64_t> last_socket_ = 0;
  // Owned by the thread.
  std::map<std::string, Session> sessions_;
  std::map<uint64_t, std::string> of_socket_;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace server
