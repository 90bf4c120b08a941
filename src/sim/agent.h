// The agent's process on one machine: the real core, its journal on a disk that survives it, and
// the order that the real driver keeps: journal first, then everything else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/core.h"
#include "sim/agent_link.h"
#include "sim/environment.h"
#include "sim/events.h"
#include "sim/expectations.h"
#include "sim/machine.h"
#include "sim/mutants/mutant.h"
#include "sim/network.h"
#include "sim/server.h"

namespace sim {

class Agent {
 public:
  using Journal = std::map<std::string, std::string>;

  // The references outlive the agent.
  Agent(Environment& environment, Mutant& mutant, Machine& machine, Link& link, Server& server,
        Expectations& expectations);

  void start();
  // The process dies; the containers live on.
  void crash(std::string_view why);
  // Together with the machine; `disk_too`: it comes back reinstalled.
  void power_off(bool disk_too);
  // Its machine was given back to its provider: neither ever comes back.
  void end();
  bool has_ended() const { return ended_; }
  // The agent's stream of Docker events breaks, and what happens meanwhile is not told.
  void docker_stops(bool live_restore);
  void docker_starts();
  // A GPU's health has changed; found out within some seconds.
  void gpu_changed();

  const std::string& name() const { return machine_.name(); }
  bool up() const { return core_.has_value(); }
  Machine& machine() { return machine_; }
  const Machine& machine() const { return machine_; }
  Link& link() { return link_; }
  // nullptr while the process is down.
  const agent::core::Core* core() const { return core_ ? &*core_ : nullptr; }
  const Journal& journal() const { return journal_; }
  // How often it has come back without its disk.
  uint64_t disks_lost() const { return disks_lost_; }

 private:
  void take(agent::core::Input input);
  void schedule_turn();
  void turn();
  // False: the process has died of it.
  bool write(std::vector<agent::core::Output>& outputs);
  void release(agent::core::Output& output);
  void say(const agent::core::Output& output);
  void begin(const agent::core::Operation& operation);
  // The container's secrets first, then Docker.
  void fetch_and_create(const agent::core::Operation& operation, const Machine::Answer& answer);
  void wake_at(base::Time local);
  void look_for_docker();
  void die();
  base::Time local_now() const { return clock_.local(environment_.events.now()); }

  Environment& environment_;
  Mutant& mutant_;
  Machine& machine_;
  Link& link_;
  Server& server_;
  Expectations& expectations_;
  std::string who_;
  DriftingClock clock_;
  Journal journal_;
  bool ended_ = false;
  uint64_t disks_lost_ = 0;
  uint64_t life_ = 0;
  uint64_t wakes_ = 0;
  std::optional<agent::core::Core> core_;
  std::unique_ptr<AgentLink> control_;
  // Of tasks' execution roles, by task: in memory only, as the control plane sends them.
  std::map<std::string, acs::IAMRoleCredentials> execution_keys_;
  base::Time core_wake_at_ = base::Time::min();
  bool turn_scheduled_ = false;
  std::vector<agent::core::Input> inbox_;
  std::vector<agent::core::JournalWrite> unwritten_;  // Of a mutant that delays the journal.
};

}  // namespace sim
