#include "sim/network.h"

#include <algorithm>

namespace sim {

NamedOperation find_operation(std::string_view name) {
  for (const api::Service* const service : {&api::ecs_service(), &api::autoscaling_service(),
                                            &api::ssm_service(), &api::secretsmanager_service()}) {
    if (const api::Operation* const found = api::find(*service, name)) return {service, found};
  }
  CHECK(false);
  return {};
}
namespace {

constexpr base::Milliseconds least_delay{1};
constexpr uint16_t abnormal = 1006;

}  // namespace

void Link::cut(base::Milliseconds how_long) {
  cut_until_ = std::max(cut_until_, environment_.events.now() + how_long);
}

base::Milliseconds Link::delay() {
  // Mostly short, sometimes up to the longest, so that messages overtake each other.
  const base::Milliseconds longest =
      environment_.faults_on ? environment_.rates.longest_delay : base::Milliseconds{5};
  const base::Milliseconds usual = std::min(longest, base::Milliseconds{20});
  return environment_.between(least_delay, environment_.random.chance(10) ? longest : usual);
}

void Link::carry(const std::function<void()>& arrives) {
  if (is_cut() || environment_.inject(environment_.rates.loss)) return;
  const int copies = environment_.inject(environment_.rates.duplicate) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    environment_.events.after(delay(), [this, arrives] {
      if (!is_cut()) arrives();
    });
  }
}

base::Milliseconds Connection::arrival(base::Time& latest) {
  const base::Time now = environment_.events.now();
  const base::Time drawn = now + link_.delay();
  if (environment_.inject(environment_.rates.reorder)) return drawn - now;
  latest = std::max(latest, drawn);
  return latest - now;
}

// A message that is lost takes the connection with it, as it does with TCP.
void Connection::carry(base::Time& latest, std::function<void()> arrives) {
  if (link_.is_cut()) return;
  if (environment_.inject(environment_.rates.loss)) return break_off();
  const int copies = environment_.inject(environment_.rates.duplicate) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    environment_.events.after(arrival(latest), [self = shared_from_this(), arrives] {
      if (!self->link_.is_cut()) arrives();
    });
  }
}

void Connection::break_off() {
  environment_.events.after(link_.delay(), [self = shared_from_this()] {
    self->agent_is_closed(abnormal, "connection reset");
    self->server_is_closed("connection reset");
  });
}

void Connection::accept(ServerSide server) {
  server_ = std::move(server);
  accepted_ = true;
  server_open_ = true;
  link_.carry([self = shared_from_this()] {
    if (self->agent_gone_ || self->agent_open_) return;
    self->agent_open_ = true;
    self->agent_.opened();
    const std::vector<acs::ServerMessage> early = std::exchange(self->early_, {});
    for (const acs::ServerMessage& message : early) self->agent_hears(message);
  });
}

void Connection::agent_hears(const acs::ServerMessage& message) {
  if (agent_gone_) return;
  if (agent_open_) {
    agent_.heard(message);
  } else {
    early_.push_back(message);
  }
}

void Connection::agent_is_closed(uint16_t code, const std::string& reason) {
  if (std::exchange(agent_gone_, true)) return;
  agent_.closed(code, reason);
}

void Connection::server_is_closed(const std::string& reason) {
  if (!std::exchange(server_open_, false)) return;
  server_.closed(reason);
}

void Connection::send_to_agent(const acs::ServerMessage& message) {
  if (!server_open_) return;
  carry(latest_to_agent_, [self = shared_from_this(), message] { self->agent_hears(message); });
}

void Connection::send_to_server(const acs::AgentMessage& message) {
  if (agent_gone_) return;
  carry(latest_to_server_, [self = shared_from_this(), message] {
    if (self->server_open_) self->server_.heard(message);
  });
}

void Connection::close_by_server(uint16_t code, const std::string& reason) {
  server_open_ = false;
  if (link_.is_cut()) return;
  environment_.events.after(arrival(latest_to_agent_), [self = shared_from_this(), code, reason] {
    self->agent_is_closed(code, reason);
  });
}

void Connection::close_by_agent(const std::string& reason) {
  agent_gone_ = true;
  if (link_.is_cut()) return;
  environment_.events.after(arrival(latest_to_server_), [self = shared_from_this(), reason] {
    self->server_is_closed(reason);
  });
}

}  // namespace sim
