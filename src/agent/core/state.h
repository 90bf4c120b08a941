// All that Core knows. Changed by Core::step alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "acs/agent_session.h"
#include "agent/core/config.h"
#include "agent/core/runtime.h"
#include "agent/core/task.h"
#include "base/random.h"
#include "base/time.h"

namespace agent::core {

// What an operation is about.
struct Target {
  enum class Kind : uint8_t {
    Snapshot,
    Container,
    Removal,
    Logs,
    Volume,
    VolumeRemoval,
    Gpu,
    Stray
  };
  Kind kind = Kind::Snapshot;
  std::string task;    // ARN; of a stray its runtime_id; empty for the snapshot.
  size_t index = 0;    // Of the container, volume or GPU within the task.
  size_t request = 0;  // Request::index() of what was asked.
};

// A container of this agent that no task of it answers for: it is ended.
struct Stray {
  bool of_no_task = false;    // The agent has lost its journal; the container goes.
  bool ended = false;         // No process of it is left, as far as can be told.
  OperationId operation = 0;  // In flight; 0: none.
  uint32_t attempts = 0;
  base::Time retry_at{};
};

struct State {
  State(Config the_config, base::Time now)
      : config(std::move(the_config)),
        random(config.random_seed),
        session(config.session, now),
        register_at(now),
        pulled_images(config.pulled_images),
        runtime_lost_at(now),
        snapshot_at(now) {}

  Config config;
  base::Random random;

  acs::AgentSession session;
  acs::AgentProgress progress;
  std::string session_error;  // An exception that the server sent on this connection.
  std::string instance_arn;
  bool registered = false;  // By this process.
  bool registering = false;
  acs::Backoff register_backoff{std::chrono::milliseconds(250), std::chrono::seconds(30), 2, 0.2};
  base::Time register_at;

  std::map<std::string, Task> tasks;                     // By ARN.
  std::map<std::string, base::Time> remembered;          // Stopped and cleaned up: ARN to expiry.
  std::set<std::pair<base::Time, std::string>> timers;   // Task::timer and ARN.
  std::map<OperationId, Target> operations;              // In flight.
  std::map<uint64_t, std::string> submits;               // In flight: id to task ARN.
  std::map<std::string, std::string> task_of_container;  // runtime_id to task ARN.
  std::map<std::string, Stray> strays;                   // By runtime_id.
  std::set<std::string> pulled_images;                   // By this process and earlier ones.
  uint64_t next_id = 1;

  bool subscribed = false;     // To Docker's events.
  bool runtime_ready = false;  // A snapshot has been taken since.
  std::string runtime_reason = "Docker has not answered yet.";
  base::Time runtime_lost_at;
  bool runtime_loss_told = false;  // To the control plane, by leaving it.
  OperationId snapshot = 0;        // In flight; 0: none.
  base::Time snapshot_at;          // When the next one is due.
  uint32_t snapshot_attempts = 0;
  bool snapshot_taken = false;  // By this process: it knows what Docker has.

  bool disk_low = false;
};

}  // namespace agent::core
