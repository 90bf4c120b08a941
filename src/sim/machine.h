// One machine: its Docker with images and containers, and its GPUs. It lives on when the agent's
// process dies. It is what is physically true; checkers compare everything else with it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/core/core.h"
#include "agent/core/runtime.h"
#include "base/time.h"
#include "model/catalogue.h"
#include "sim/environment.h"
#include "sim/gpus.h"

namespace sim {

// What a container will do, drawn when it is made.
struct ContainerPlan {
  base::Milliseconds life{};  // Until it exits by itself.
  int32_t exit_code = 0;
  bool fails_to_start = false;
  bool ignores_term = false;
  base::Milliseconds dies_after{};        // From SIGKILL to its end.
  base::Milliseconds opens_gpus_after{};  // From its start: until then no device shows it.
};

struct SimContainer {
  std::string id;
  std::string name;
  std::string task_arn;
  std::string container_name;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> environment;
  std::vector<uint16_t> host_ports;
  agent::core::GpuAccess gpus;
  ContainerPlan plan;
  // What is true: Created, Running or Exited.
  agent::core::RuntimeStatus status = agent::core::RuntimeStatus::Created;
  // What Docker says where that is not so: it has lost sight of the container.
  std::optional<agent::core::RuntimeStatus> said;
  int32_t exit_code = 0;
  uint32_t starts = 0;
  bool stopping = false;
  std::optional<base::Time> started_at;
  std::optional<base::Time> finished_at;

  bool runs() const { return status == agent::core::RuntimeStatus::Running; }
  agent::core::RuntimeStatus as_docker_says() const { return said.value_or(status); }
};

// What became of a container, kept after it was removed and its machine reinstalled.
struct ContainerFate {
  std::string machine;
  uint32_t starts = 0;
  bool running = false;
  std::optional<int32_t> exit_code;
  bool power_cut = false;  // It ended with its machine: nobody saw an exit code.
};

class Machine {
 public:
  using Answer = std::function<void(agent::core::OperationResult)>;
  struct Watcher {
    std::function<void(const Machine&, const SimContainer&)> started;
  };
  // By task ARN and container name, over all machines and their whole lives.
  using Fates = std::map<std::pair<std::string, std::string>, std::vector<ContainerFate>>;

  // The references outlive the machine.
  Machine(Environment& environment, std::string name, const model::InstanceType& type, Fates& fates,
          Watcher watcher);

  const std::string& name() const { return name_; }
  const model::InstanceType& type() const { return type_; }
  Gpus& gpus() { return gpus_; }
  const Gpus& gpus() const { return gpus_; }
  const std::map<std::string, SimContainer>& containers() const { return containers_; }
  // Those that were given the GPU and run, whether or not they have opened it.
  std::vector<const SimContainer*> running_with(const std::string& gpu) const;

  // Docker's side. `answer` is called once, later; the caller may be dead by then.
  void begin(const agent::core::Operation& operation, Answer answer);
  // A pull is broken off and answered as such.
  void cancel(agent::core::OperationId id);
  // The agent's process has died: nobody waits for answers any more.
  void forget_callers();
  bool docker_up() const { return docker_up_; }
  // Where the events go; empty: nobody listens.
  void listen(std::function<void(const agent::core::ContainerEvent&)> listener);

  // What goes wrong.
  void stop_docker(bool live_restore);
  void start_docker();
  // Pulls that hang are broken off by the registry, and will succeed when tried again.
  void break_off_pulls();
  // Power off and on: containers are there still, none of them runs.
  void power_cycle();
  // Power off, and its disk is new: no images, no containers.
  void reinstall();

 private:
  friend struct MachineCalls;  // One function an operation: machine_calls.cpp.

  // An agent that restarts counts its operations from 1 again.
  struct Pull {
    uint64_t number = 0;
    Answer answer;
  };

  SimContainer* find(const std::string& id_or_name);
  void run(SimContainer& container);
  void end(SimContainer& container, int32_t exit_code, bool power_cut);
  void signal_kill(SimContainer& container);
  void emit(agent::core::EventKind kind, const SimContainer& container);
  void end_all(int32_t exit_code, bool power_cut);
  // A dockerd that restarts takes some containers for what they are not.
  void lose_sight();

  Environment& environment_;
  std::string name_;
  std::string who_;
  const model::InstanceType& type_;
  Gpus gpus_;
  Fates& fates_;
  Watcher watcher_;
  bool docker_up_ = true;
  base::Time docker_down_since_{};
  uint64_t boots_ = 0;  // Events of an earlier life mean nothing.
  uint64_t made_ = 0;
  uint64_t pulls_begun_ = 0;
  std::set<std::string> images_;
  std::map<std::string, SimContainer> containers_;  // By id.
  std::map<agent::core::OperationId, Pull> pulls_;
  std::multimap<std::string, Answer> log_followers_;  // By container id.
  std::function<void(const agent::core::ContainerEvent&)> listener_;
};

}  // namespace sim
