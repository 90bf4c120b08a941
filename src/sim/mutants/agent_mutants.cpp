// Mutants in the agents, around the real core.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "json/value.h"
#include "sim/mutants/mutants.h"

namespace sim {
namespace {

using agent::core::Input;
using agent::core::JournalRecord;
using agent::core::Output;

const acs::PayloadMessage* payload_in(const Input& input) {
  const auto* const message = std::get_if<agent::core::SessionMessage>(&input);
  return message == nullptr ? nullptr : std::get_if<acs::PayloadMessage>(&message->message);
}

class LostWakeUp final : public Mutant {
 public:
  void out_of_agent(const std::string&, Output& output) override {
    output.wake_at = base::Time::max();
  }
};

class AckWithoutKeeping final : public Mutant {
 public:
  bool into_agent(const std::string&, Input& input) override {
    if (payload_in(input) == nullptr || ++payloads_ % 5 != 0) return true;
    std::get<acs::PayloadMessage>(std::get<agent::core::SessionMessage>(input).message)
        .tasks.clear();
    return true;
  }

 private:
  uint64_t payloads_ = 0;
};

class JournalAfterAck final : public Mutant {
 public:
  bool delays_journal(const std::string&) override { return true; }
};

class GpuProofForged final : public Mutant {
 public:
  bool into_agent(const std::string&, Input& input) override {
    auto* const done = std::get_if<agent::core::OperationDone>(&input);
    if (done == nullptr || !done->result) return true;
    if (auto* const use = std::get_if<agent::core::GpuUse>(&*done->result)) use->empty = true;
    return true;
  }
};

// What runs is what Docker says that runs.
class DockerBelieved final : public Mutant {
 public:
  bool into_agent(const std::string&, Input& input) override {
    auto* const done = std::get_if<agent::core::OperationDone>(&input);
    if (done == nullptr || !done->result) return true;
    if (auto* const info = std::get_if<agent::core::ContainerInfo>(&*done->result)) {
      info->processes = agent::core::Processes::Unknown;
    }
    if (auto* const snapshot = std::get_if<agent::core::Snapshot>(&*done->result)) {
      for (auto& one : snapshot->containers) one.processes = agent::core::Processes::Unknown;
    }
    return true;
  }
};

// The journal's record of a task, its containers as they were before they were made.
class StartedAgainAfterRestart final : public Mutant {
 public:
  void journal_read(const std::string&, std::vector<JournalRecord>& records) override {
    for (JournalRecord& record : records) {
      if (!record.key.starts_with("task/")) continue;
      auto read = json::parse(record.value);
      if (!read || (*read)["stopDesired"].as_bool().value_or(false)) continue;
      json::Value containers = json::Value::array();
      for (json::Value container : (*read)["containers"].items()) {
        container.set("status", "NONE");
        container.set("runtimeId", "");
        container.set("dockerName", container["dockerName"].text_or("") + "-again");
        containers.push(std::move(container));
      }
      read->set("containers", std::move(containers));
      record.value = json::print(*read);
    }
  }
};

// Stopped tasks are not in the journal that is read, and the first heartbeat after a restart is an
// old payload.
class StalePayloadAccepted final : public Mutant {
 public:
  bool into_agent(const std::string& agent, Input& input) override {
    if (const acs::PayloadMessage* const payload = payload_in(input)) {
      if (payload->tasks.front().desired_status == "RUNNING") old_[agent] = *payload;
      return true;
    }
    auto* const message = std::get_if<agent::core::SessionMessage>(&input);
    if (message == nullptr || !restarted_[agent]) return true;
    if (!std::holds_alternative<acs::HeartbeatMessage>(message->message)) return true;
    const auto old = old_.find(agent);
    if (old == old_.end()) return true;
    message->message = old->second;
    restarted_[agent] = false;
    return true;
  }
  void journal_read(const std::string& agent, std::vector<JournalRecord>& records) override {
    restarted_[agent] = true;
    std::erase_if(records, [](const JournalRecord& record) { return record.key != "agent"; });
  }

 private:
  std::map<std::string, acs::PayloadMessage> old_;
  std::map<std::string, bool> restarted_;
};

class DroppedReport final : public Mutant {
 public:
  void out_of_agent(const std::string&, Output& output) override {
    std::erase_if(output.submits, [](const agent::core::Submit& submit) {
      return submit.request.status == "STOPPED";
    });
  }
};

class StoppedTooEarly final : public Mutant {
 public:
  void out_of_agent(const std::string&, Output& output) override {
    for (agent::core::Submit& submit : output.submits) {
      if (submit.request.status == "RUNNING") submit.request.status = "STOPPED";
    }
  }
};

class WrongExitCode final : public Mutant {
 public:
  void out_of_agent(const std::string&, Output& output) override {
    for (agent::core::Submit& submit : output.submits) {
      for (api::ecs::ContainerStateChange& container : submit.request.containers) {
        if (container.exit_code) container.exit_code = 0;
      }
    }
  }
};

}  // namespace

std::unique_ptr<Mutant> make_lost_wake_up() {
  return std::make_unique<LostWakeUp>();
}
std::unique_ptr<Mutant> make_ack_without_keeping() {
  return std::make_unique<AckWithoutKeeping>();
}
std::unique_ptr<Mutant> make_journal_after_ack() {
  return std::make_unique<JournalAfterAck>();
}
std::unique_ptr<Mutant> make_gpu_proof_forged() {
  return std::make_unique<GpuProofForged>();
}
std::unique_ptr<Mutant> make_docker_believed() {
  return std::make_unique<DockerBelieved>();
}
std::unique_ptr<Mutant> make_started_again_after_restart() {
  return std::make_unique<StartedAgainAfterRestart>();
}
std::unique_ptr<Mutant> make_stale_payload_accepted() {
  return std::make_unique<StalePayloadAccepted>();
}
std::unique_ptr<Mutant> make_dropped_report() {
  return std::make_unique<DroppedReport>();
}
std::unique_ptr<Mutant> make_stopped_too_early() {
  return std::make_unique<StoppedTooEarly>();
}
std::unique_ptr<Mutant> make_wrong_exit_code() {
  return std::make_unique<WrongExitCode>();
}

}  // namespace sim
