#include "server/exec_relay.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "base/random.h"
#include "crypto/crypto.h"
#include "json/value.h"
#include "server/front.h"

namespace server {
namespace {

constexpr base::Milliseconds tick{1'000};
// For the agent to come after its client, and for a client to come at all.
constexpr base::Milliseconds agent_patience{20'000};
constexpr base::Milliseconds client_patience{60'000};
constexpr size_t most_sessions = 1'000;
constexpr size_t most_waiting = 1'000;
constexpr uint16_t close_normal = 1000;
constexpr uint16_t close_policy = 1008;

std::string_view behind(std::string_view target, std::string_view prefix) {
  const std::string_view path = target.substr(0, target.find('?'));
  return path.substr(prefix.size());
}

std::string of_kind(char kind, std::string_view bytes) {
  return std::string(1, kind) + std::string(bytes);
}

}  // namespace

ExecRelay::ExecRelay(base::Clock& clock) : clock_(clock), thread_([this] { run(); }) {}

ExecRelay::~ExecRelay() {
  stop();
}

void ExecRelay::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

bool ExecRelay::expect(ExecSession session) {
  return queue_.try_push(Event(std::move(session)));
}

bool ExecRelay::is_for(std::string_view path) {
  return path.starts_with(exec_client_path) || path.starts_with(exec_agent_path);
}

void ExecRelay::open(const net::HttpRequest& request, const net::Upgrade& upgrade) {
  const bool agent = std::string_view(request.target).starts_with(exec_agent_path);
  const uint64_t id = ++last_socket_;
  auto socket = upgrade.accept(
      {.on_message =
           [this, id](std::string bytes, bool is_text) {
             queue_.push(Event(Message{id, std::move(bytes), is_text}));
           },
       .on_close = [this, id](uint16_t, const std::string&) { queue_.push(Event(Closed{id})); }});
  if (socket == nullptr) return;
  queue_.push(Event(Opened{
      .socket_id = id,
      .side = agent ? Side::Agent : Side::Client,
      .session = std::string(behind(request.target, agent ? exec_agent_path : exec_client_path)),
      .token = query_parameter(request.target, "token"),
      .socket = std::move(socket)}));
}

void ExecRelay::run() {
  while (true) {
    auto events = queue_.pop_batch(1'000, tick);
    if (events.empty() && queue_.closed()) break;
    for (Event& event : events) {
      std::visit([this](auto& one) { take(std::move(one)); }, event);
    }
    give_up_stale();
  }
  while (!sessions_.empty()) end(sessions_.begin()->first, "The server stops.");
}

void ExecRelay::take(ExecSession ticket) {
  if (sessions_.size() >= most_sessions) return;  // Its ends are refused as unknown.
  const std::string id = ticket.id;
  Session session;
  session.ticket = std::move(ticket);
  session.made_at = clock_.now();
  sessions_.emplace(id, std::move(session));
}

void ExecRelay::take(Opened opened) {
  const auto found = sessions_.find(opened.session);
  const bool known = found != sessions_.end();
  const bool agent = opened.side == Side::Agent;
  const bool taken =
      known && (agent ? found->second.agent != nullptr : found->second.client != nullptr);
  const bool allowed = known && (!agent || crypto::constant_time_equal(
                                               opened.token, found->second.ticket.agent_token));
  if (!allowed || taken) {
    opened.socket->close(close_policy, "There is no such session.");
    return;
  }
  Session& session = found->second;
  of_socket_[opened.socket_id] = opened.session;
  if (!agent) {
    session.client = std::move(opened.socket);
    session.client_id = opened.socket_id;
    return;
  }
  session.agent = std::move(opened.socket);
  session.agent_id = opened.socket_id;
  for (std::string& message : std::exchange(session.waiting, {})) {
    session.agent->send_binary(std::move(message));
  }
}

void ExecRelay::take(Message message) {
  const auto socket = of_socket_.find(message.socket_id);
  if (socket == of_socket_.end()) return;
  Session& session = sessions_.at(socket->second);
  if (message.socket_id == session.agent_id) {
    on_agent(session, message);
  } else {
    on_client(session, message);
  }
}

void ExecRelay::take(const Closed& closed) {
  const auto socket = of_socket_.find(closed.socket_id);
  if (socket == of_socket_.end()) return;
  const std::string id = socket->second;
  const bool agent = closed.socket_id == sessions_.at(id).agent_id;
  end(id, agent ? "The agent has closed the session." : "The client has closed the session.");
}

void ExecRelay::give_up_stale() {
  std::vector<std::pair<std::string, std::string_view>> stale;
  const base::Time now = clock_.now();
  for (const auto& [id, session] : sessions_) {
    if (!session.accepted && session.made_at + client_patience <= now) {
      stale.emplace_back(id, "No client came.");
    } else if (session.accepted && session.agent == nullptr &&
               session.made_at + agent_patience <= now) {
      stale.emplace_back(id,
                         "The agent of the container instance did not answer: ExecuteCommand needs "
                         "Berth's own agent.");
    }
  }
  for (const auto& [id, why] : stale) end(id, why);
}

// {"TokenValue": ...}, and "BerthRaw" of `berth exec`.
void ExecRelay::on_first_message(Session& session, const Message& message) {
  const auto hello = json::parse(message.bytes);
  const std::string token = hello ? (*hello)["TokenValue"].text_or("") : std::string();
  if (!crypto::constant_time_equal(token, session.ticket.client_token)) {
    end(session.ticket.id, "The session's token is wrong.");
    return;
  }
  session.accepted = true;
  if ((*hello)["BerthRaw"].as_bool().value_or(false)) return;
  session.channel.emplace(session.ticket.id, base::system_seed());
  follow(session, session.channel->start(clock_.now()));
}

void ExecRelay::on_client(Session& session, const Message& message) {
  if (!session.accepted) {
    on_first_message(session, message);
  } else if (session.channel) {
    follow(session, session.channel->receive(message.bytes, clock_.now()));
  } else {
    to_agent(session, message.bytes);
  }
}

void ExecRelay::to_agent(Session& session, std::string message) {
  if (session.agent != nullptr) {
    session.agent->send_binary(std::move(message));
  } else if (session.waiting.size() < most_waiting) {
    session.waiting.push_back(std::move(message));
  }
}

void ExecRelay::follow(Session& session, SessionChannel::Step step) {
  for (std::string& frame : step.frames) session.client->send_binary(std::move(frame));
  if (!step.input.empty()) to_agent(session, of_kind('i', step.input));
  if (step.size) {
    to_agent(session, of_kind('z', base::format(R"({{"cols":{},"rows":{}}})", step.size->first,
                                                step.size->second)));
  }
  if (step.terminated) end(session.ticket.id, "The client has ended the session.");
}

void ExecRelay::on_agent(Session& session, const Message& message) {
  if (message.bytes.empty() || session.client == nullptr) return;
  if (!session.channel) {
    session.client->send_binary(message.bytes);
    return;
  }
  const char kind = message.bytes.front();
  const std::string_view bytes = std::string_view(message.bytes).substr(1);
  if (kind == 'o' || kind == 'e') {
    follow(session, session.channel->output(bytes, clock_.now()));
  } else if (kind == 'x') {
    end(session.ticket.id, base::format("The command has ended with exit code {}.", bytes));
  } else if (kind == 'f') {
    end(session.ticket.id, bytes);
  }
}

void ExecRelay::end(const std::string& id, std::string_view why) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  Session session = std::move(found->second);
  sessions_.erase(found);
  of_socket_.erase(session.client_id);
  of_socket_.erase(session.agent_id);
  if (session.client != nullptr) {
    if (session.channel) {
      for (std::string& frame : session.channel->finish(why, clock_.now()).frames) {
        session.client->send_binary(std::move(frame));
      }
    } else if (session.accepted && session.agent == nullptr) {
      session.client->send_binary(of_kind('f', why));
    }
    session.client->close(close_normal, std::string(why));
  }
  if (session.agent != nullptr) session.agent->close(close_normal, std::string(why));
}

}  // namespace server
