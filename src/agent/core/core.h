// The agent's pure state machine: decides everything that Berth's agent does with tasks, from
// values, and does nothing itself.
//
// Contract with the driver (one thread owns the Core):
//   1. Core::create(config, all records of the journal, now), then step(Tick{}, now).
//   2. For every input: Output out = core.step(input, now); write out.journal in one durable
//      transaction; only then do the rest of `out`. Several steps may share one transaction. When
//      the write fails: end the process (or throw the Core away and create it anew).
//   3. step(Tick{}, now) at out.wake_at of the latest Output, if nothing came before.
//   4. Every Operation, Submit, Register and Connect is answered by exactly one input, at any time
//      and in any order; a cancelled one too. Operations may run in parallel.
// Containers are never touched by creating or destroying a Core.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "acs/agent_session.h"
#include "acs/messages.h"
#include "acs/telemetry.h"
#include "agent/core/config.h"
#include "agent/core/runtime.h"
#include "agent/core/state.h"
#include "agent/core/task.h"
#include "api/generated/ecs.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"

namespace agent::core {

struct Tick {};

// Answers to Register.
struct Registered {
  std::string container_instance_arn;
};
struct RegisterFailed {
  base::Error error;
  bool permanent = false;  // Refused, not unreachable: tried again only every minute.
};

// The control stream. SessionClosed also answers a Connect that failed, and every Disconnect.
struct SessionOpened {};
struct SessionClosed {
  acs::Closed end;
};
struct SessionMessage {
  acs::ServerMessage message;
};

struct OperationDone {
  OperationId id = 0;
  OperationResult result;
};

// How far a pull that is under way has come, as often as the edge likes. `bytes_expected` may be a
// guess and change.
struct PullProgress {
  OperationId id = 0;
  uint64_t bytes_done = 0;
  uint64_t bytes_expected = 0;
};

// The stream of events is subscribed, at the start and again after each loss: nothing is missed
// from here on. The core then takes a snapshot.
struct RuntimeReady {};
// The stream of events broke, or could not be had.
struct RuntimeLost {
  std::string reason;  // "Docker is not reachable at /var/run/docker.sock: is it running?"
};

enum class SubmitOutcome : uint8_t {
  Accepted,
  Refused,  // InvalidParameterException, ClientException: sending it again is pointless.
  Retry     // Anything else, unknown outcomes included.
};
struct SubmitDone {
  uint64_t id = 0;
  SubmitOutcome outcome = SubmitOutcome::Accepted;
  base::Error error;
};

// Stops every task, on an operator's wish.
struct StopAllTasks {
  std::string reason;
};

// Whether the disk with Docker's data runs full: the containers of tasks whose end is known to the
// control plane then go at once, not after cleanup_wait.
struct DiskSpace {
  bool low = false;
};

using Input = std::variant<Tick, Registered, RegisterFailed, SessionOpened, SessionClosed,
                           SessionMessage, OperationDone, PullProgress, RuntimeReady, RuntimeLost,
                           ContainerEvent, SubmitDone, StopAllTasks, DiskSpace>;

struct JournalRecord {
  std::string key;
  std::string value;
};
struct JournalWrite {
  std::string key;
  std::optional<std::string> value;  // nullopt: delete.
};

// RegisterContainerInstance with the machine's attributes and resources; with the ARN when the
// agent has been registered before.
struct Register {
  std::string container_instance_arn;
};

// SubmitTaskStateChange. One at a time per task.
struct Submit {
  uint64_t id = 0;
  api::ecs::SubmitTaskStateChangeRequest request;
};

// Keys of a task's role, new or refreshed; never journaled, never logged.
struct CredentialsSet {
  std::string task_arn;
  std::string role_type;  // "TaskApplication" or "TaskExecution"; the latter is for the agent only.
  acs::IAMRoleCredentials credentials;
};

struct Note {
  enum class Level : uint8_t { Info, Warning, Error };
  Level level = Level::Info;
  std::string text;
};

struct Output {
  std::vector<JournalWrite> journal;  // Durable before everything below.
  std::vector<Operation> operations;
  // Operations whose result no longer matters: pulls to be broken off. Still to be answered.
  std::vector<OperationId> cancelled;
  std::vector<acs::AgentMessage> messages;  // On the control stream; dropped when it is closed.
  std::vector<Submit> submits;
  std::vector<acs::AgentSession::Command> session;
  std::optional<Register> registration;
  std::vector<CredentialsSet> credentials;
  std::vector<std::string> forgotten_tasks;  // ARNs of which nothing is left: drop credentials too.
  std::vector<Note> notes;                   // For the log.
  base::Time wake_at = base::Time::max();
};

class Core {
 public:
  // Errors: "JournalCorrupt" naming the key; "JournalOfAnotherCluster".
  static base::Result<Core> create(Config config, const std::vector<JournalRecord>& journal,
                                   base::Time now);

  Output step(Input input, base::Time now);

  // Tasks that are not forgotten, by ARN. Valid until the next step().
  const std::map<std::string, Task>& tasks() const { return state_.tasks; }
  const Config& config() const { return state_.config; }
  const std::string& container_instance_arn() const { return state_.instance_arn; }
  bool session_open() const {
    return state_.session.state() == acs::AgentSession::State::Connected;
  }
  // The containers of all tasks can be worked on.
  bool runtime_ready() const { return state_.runtime_ready; }
  const std::string& runtime_reason() const { return state_.runtime_reason; }
  // No task has a container that runs or may start.
  bool idle() const;

 private:
  explicit Core(State state) : state_(std::move(state)) {}
  State state_;
};

// Container health for the telemetry stream; nullopt when no container has a health check.
std::optional<acs::PublishHealthRequest> health_report(const Core& core, base::Time now);

}  // namespace agent::core
