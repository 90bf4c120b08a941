// The network between one client or agent and the server: API calls over HTTP and one control
// stream at a time. A link delays, loses, doubles, reorders, and is cut for a while.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acs/messages.h"
#include "api/any.h"
#include "api/service.h"
#include "base/result.h"
#include "base/time.h"
#include "control/step/input.h"
#include "sim/environment.h"

namespace sim {

class Link {
 public:
  Link(Environment& environment, std::string name)
      : environment_(environment), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool is_cut() const { return environment_.events.now() < cut_until_; }
  // Nothing passes for so long.
  void cut(base::Milliseconds how_long);
  void stop_faults() { cut_until_ = base::Time::min(); }
  // `arrives` happens later: never, once or twice. It owns what it needs.
  void carry(const std::function<void()>& arrives);
  base::Milliseconds delay();

 private:
  Environment& environment_;
  std::string name_;
  base::Time cut_until_ = base::Time::min();
};

using ApiReply = std::expected<api::Any, base::Error>;

// An operation of ECS, of Auto Scaling or of the secret store, and who signs the call.
struct NamedOperation {
  const api::Service* service = nullptr;
  const api::Operation* operation = nullptr;
  std::optional<acs::IAMRoleCredentials> key = {};  // Of a task's role; none: the caller's own.
};
NamedOperation find_operation(std::string_view name);

// What stands at the far end of a link: the server.
class ApiServer {
 public:
  using Reply = std::function<void(std::shared_ptr<const ApiReply>)>;
  virtual ~ApiServer() = default;
  // False: nobody listens there.
  virtual bool take_call(const NamedOperation& operation, api::Any input, Reply reply) = 0;
};

// The error code of a call that got no answer: whether it took effect is not known.
inline constexpr std::string_view unreachable = "Unreachable";

// Makes one API call; `done` is called once. `key`: as in NamedOperation. Errors: `unreachable`;
// the server's.
template <class Response, class Request>
void call_api(Environment& environment, Link& link, ApiServer& server, std::string_view operation,
              Request request, std::function<void(base::Result<Response>)> done,
              std::optional<acs::IAMRoleCredentials> key = {}) {
  // Shared by the copies of the call that are under way and its time limit.
  struct Pending {
    bool answered = false;
    std::function<void(base::Result<Response>)> done;
    void answer(base::Result<Response> result) {
      if (std::exchange(answered, true)) return;
      done(std::move(result));
    }
  };
  const auto pending = std::make_shared<Pending>();
  pending->done = std::move(done);
  NamedOperation found = find_operation(operation);
  found.key = std::move(key);
  const auto arrives = [&link, &server, found, pending, request = std::move(request)] {
    const auto answered = [&link, pending](std::shared_ptr<const ApiReply> reply) {
      link.carry([pending, reply = std::move(reply)] {
        if (*reply) {
          pending->answer((*reply)->template as<Response>());
        } else {
          pending->answer(base::fail(reply->error()));
        }
      });
    };
    if (server.take_call(found, api::Any::make(request), answered)) return;
    link.carry(
        [pending] { pending->answer(base::fail(std::string(unreachable), "connection refused")); });
  };
  link.carry(arrives);
  constexpr base::Milliseconds time_limit = std::chrono::seconds(30);
  environment.events.after(time_limit, [pending] {
    pending->answer(base::fail(std::string(unreachable), "no answer in 30 s"));
  });
}

// One control stream. Both ends and what is on its way between them share it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct AgentSide {
    std::function<void()> opened;
    std::function<void(const acs::ServerMessage&)> heard;
    std::function<void(uint16_t code, std::string reason)> closed;
  };
  struct ServerSide {
    std::function<void(const acs::AgentMessage&)> heard;
    std::function<void(std::string reason)> closed;
  };

  Connection(Environment& environment, Link& link, control::SessionId id, AgentSide agent)
      : environment_(environment), link_(link), id_(id), agent_(std::move(agent)) {}

  control::SessionId id() const { return id_; }
  const std::string& agent_name() const { return link_.name(); }
  // The server has accepted: the agent learns it later, or never.
  void accept(ServerSide server);
  bool was_accepted() const { return accepted_; }

  void send_to_agent(const acs::ServerMessage& message);
  void send_to_server(const acs::AgentMessage& message);
  // One end closes, or its process dies; the other hears of it later or, where the link is cut,
  // never.
  void close_by_server(uint16_t code, const std::string& reason);
  void close_by_agent(const std::string& reason);

 private:
  // When something sent now arrives: in order, unless the link reorders.
  base::Milliseconds arrival(base::Time& latest);
  void carry(base::Time& latest, std::function<void()> arrives);
  void break_off();
  void agent_hears(const acs::ServerMessage& message);
  void agent_is_closed(uint16_t code, const std::string& reason);
  void server_is_closed(const std::string& reason);

  Environment& environment_;
  Link& link_;
  control::SessionId id_;
  AgentSide agent_;
  ServerSide server_;
  bool accepted_ = false;
  bool server_open_ = false;
  bool agent_open_ = false;
  bool agent_gone_ = false;
  base::Time latest_to_agent_ = base::Time::min();
  base::Time latest_to_server_ = base::Time::min();
  std::vector<acs::ServerMessage> early_;  // Arrived before the answer to the handshake.
};

}  // namespace sim
