// The control plane's process: the real driver over the real core, between a disk and the network.
// It dies and comes back; its sessions and waiting calls die with it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acs/agent_session.h"
#include "control/step/input.h"
#include "control/step/settings.h"
#include "driver/driver.h"
#include "sim/environment.h"
#include "sim/events.h"
#include "sim/machine_provider.h"
#include "sim/mutants/mutant.h"
#include "sim/network.h"
#include "sim/secret_store.h"
#include "sim/watched_store.h"
#include "store/faulty/faulty_store.h"
#include "store/memory/memory_store.h"

namespace sim {

// One call as checkers want to see it.
struct SeenCall {
  control::RequestId id = 0;  // Calls are done in the order of their ids.
  std::string operation;
  std::optional<api::ecs::RunTaskRequest> run_task;
  std::optional<api::ecs::StopTaskRequest> stop_task;
  std::optional<api::ecs::SubmitTaskStateChangeRequest> report;
  std::string service;  // That it is about: of CreateService, UpdateService, DeleteService.
  std::optional<int32_t> desired_count;  // Of UpdateService.
  std::string task_sets_of;              // The service: of the operations that alter task sets.
  std::optional<api::ecs::UpdateTaskSetRequest> update_task_set;
  std::optional<api::ecs::UpdateTaskProtectionRequest> protection;
};

// One turn of the driver, after its changes are durable or were thrown away.
struct Turn {
  const model::ClusterState& state;  // Afterwards.
  const driver::Released& released;
  const std::map<control::RequestId, SeenCall>& calls;  // Those that `released` may answer.
  // The turn did nothing but this one call: a refusal was computed from `state`.
  bool alone = false;
  base::Time now;  // On the server's clock.
};

class Server final : public ApiServer {
 public:
  struct Watcher {
    std::function<void(const Turn&)> turned;
    // A call has arrived; nothing has come of it yet.
    std::function<void(const SeenCall&)> called;
    // A process has loaded its state.
    std::function<void(const model::ClusterState&)> loaded;
  };

  // The references outlive the server.
  Server(Environment& environment, Mutant& mutant, MachineProvider& machines, SecretStore& secrets,
         control::Settings settings, Watcher watcher);

  void start();
  void crash(std::string_view why);
  // Dies in its next commit but `commits`, before or after the write.
  void crash_at_commit(uint64_t commits, bool after_the_write);
  // Comes back knowing nothing.
  void lose_disk();
  // The faults of the world have changed.
  void apply_rates();

  bool up() const { return driver_ != nullptr; }
  // nullptr while it is down or cannot load its state.
  const model::ClusterState* state() const;
  const WatchedStore& store() const { return watched_; }
  const control::Settings& settings() const { return settings_; }
  base::Time local_now() const { return clock_.local(environment_.events.now()); }

  bool take_call(const NamedOperation& operation, api::Any input, Reply reply) override;
  // An agent opens a control stream. False: nobody listens.
  bool take_connection(const std::shared_ptr<Connection>& connection, const std::string& cluster,
                       const std::string& instance, const acs::AgentSession::Connect& how);

 private:
  struct Waiting {
    SeenCall seen;
    Reply reply;
  };

  // The secret store is a thread of its own beside the driver.
  void take_secret_call(const NamedOperation& operation, const api::Any& input, Reply reply);
  void take(control::Input input);
  void turn();
  void release(driver::Released released);
  void send(const std::vector<control::ToAgent>& messages);
  void die();
  void schedule_turn(base::Milliseconds delay);
  void schedule_timer();
  void list_machines();
  // Where the answers to what this process asks of the machine provider go.
  MachineProvider::Report reports();

  Environment& environment_;
  Mutant& mutant_;
  MachineProvider& machines_;
  SecretStore& secrets_;
  control::Settings settings_;
  Watcher watcher_;
  DriftingClock clock_;
  store::MemoryDisk disk_;
  store::MemoryStore memory_{disk_};
  store::FaultyStore faulty_;
  std::unique_ptr<store::Store> planted_;
  WatchedStore watched_;
  std::unique_ptr<driver::Driver> driver_;
  bool out_of_service_ = false;
  uint64_t life_ = 0;  // What was asked of an earlier process means nothing.
  bool turn_scheduled_ = false;
  base::Time timer_at_ = base::Time::max();  // For which a turn is scheduled, in true time.
  control::RequestId last_request_ = 0;
  control::SessionId last_session_ = 0;
  std::vector<control::Input> inbox_;
  std::map<control::RequestId, Waiting> waiting_;
  // Shared with the agents' ends.
  std::map<control::SessionId, std::shared_ptr<Connection>> connections_;
};

}  // namespace sim
