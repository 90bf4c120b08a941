// An agent's dealings with the control plane: registers, opens the control stream, reports. What
// the real agent's control link does, over the simulated network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "acs/agent_session.h"
#include "agent/core/core.h"
#include "base/time.h"
#include "sim/environment.h"
#include "sim/machine.h"
#include "sim/network.h"
#include "sim/server.h"

namespace sim {

// Of one process of the agent. What it asked for before it died is answered to nobody.
class AgentLink {
 public:
  using Tell = std::function<void(agent::core::Input)>;

  // The references outlive it. `tell` brings an input to the agent's core, later.
  AgentLink(Environment& environment, Machine& machine, Link& link, Server& server, Tell tell);

  void want_registration(agent::core::Register registration);
  void want_session(const acs::AgentSession::Command& command);
  void send(const std::vector<acs::AgentMessage>& messages);
  void submit(const agent::core::Submit& submit);
  // Why Docker does not answer; empty: it does.
  void docker_is(std::string reason);
  // The health of a GPU has changed: the control plane is to be told.
  void announce();
  // Starts what is possible; to be called after each turn.
  void advance(const std::string& arn);
  // The process has died.
  void die();

 private:
  // What replies hold on to: they look whether the process is still there.
  struct Life {
    bool over = false;
  };

  void start_registration(const std::string& arn, bool for_core);
  void registered(bool for_core, const std::string& told_reason,
                  const base::Result<api::ecs::RegisterContainerInstanceResponse>& answer);
  void connect(const std::string& arn);
  void open(const std::string& arn, uint64_t socket, const acs::AgentSession::Connect& how);
  void socket_closed(uint64_t socket, uint16_t code, const std::string& reason);

  Environment& environment_;
  Machine& machine_;
  Link& link_;
  Server& server_;
  Tell tell_;
  std::shared_ptr<Life> life_ = std::make_shared<Life>();  // Shared with replies under way.
  std::set<std::string> found_gpus_;
  std::optional<agent::core::Register> registration_;
  std::optional<acs::AgentSession::Connect> connect_;
  std::optional<std::string> docker_reason_;
  std::string told_reason_;
  std::string arn_;
  bool registering_ = false;
  bool announce_ = false;
  base::Time retry_at_ = base::Time::min();
  uint64_t socket_ = 0;
  std::shared_ptr<Connection> connection_;  // Shared with the server's end.
  bool connected_ = false;
};

}  // namespace sim
