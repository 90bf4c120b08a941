// Transcripts: a test is one text. Lines that start with "> " are inputs, the lines behind each are
// what Core answered. play(text) does the inputs and returns the whole text again, so that
// EXPECT_EQ(play(text), text) says what is new. For tests only.
//
//   > payload m1 {"arn":"t1",...}   ARNs are short here: t1
//   > done 3 created c1             an operation's answer; see answer()
//   > tick +500ms                   time passes
//   > crash                         a new process, from the journal
#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/core/core.h"
#include "api/json.h"
#include "base/format.h"
#include "base/result.h"

namespace agent::core::testing {

inline constexpr std::string_view arn_prefix = "arn:aws:ecs:us-east-1:1:task/default/";
inline constexpr std::string_view instance_arn =
    "arn:aws:ecs:us-east-1:1:container-instance/default/ci";

inline std::string short_arn(std::string text) {
  for (size_t at = text.find(arn_prefix); at != std::string::npos; at = text.find(arn_prefix)) {
    text.erase(at, arn_prefix.size());
  }
  return text;
}

inline Config test_config() {
  Config config;
  config.agent_name = "agent-1";
  config.agent_data = "/data";
  config.random_seed = 1;
  return config;
}

class Transcript {
 public:
  explicit Transcript(Config config = test_config()) : config_(std::move(config)) { start(); }

  std::string play(std::string_view text) {
    std::string played;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("> ")) {
        played += line + "\n" + input(line.substr(2));
      } else if (line.empty() || line.starts_with("#")) {
        played += line + "\n";
      }
    }
    return played;
  }

  Core& core() { return *core_; }
  const std::map<std::string, std::string>& journal() const { return journal_; }
  std::vector<Operation> operations;            // All that were issued.
  std::map<std::string, std::string> payloads;  // What "> payload m1 @name" stands for.

 private:
  static std::string word(std::istringstream& in) {
    std::string text;
    in >> text;
    return text;
  }
  static std::string rest(std::istringstream& in) {
    std::string text;
    std::getline(in >> std::ws, text);
    return text;
  }

  void start() {
    std::vector<JournalRecord> records;
    for (const auto& [key, value] : journal_) records.push_back({key, value});
    base::Result<Core> made = Core::create(config_, records, now_);
    CHECK(made.has_value());
    core_.emplace(std::move(*made));
  }

  std::string input(const std::string& line) {
    std::istringstream in(line);
    const std::string verb = word(in);
    if (verb == "crash") {
      start();
      return step(Tick{});
    }
    if (verb == "tick") {
      pass(word(in));
      return step(Tick{});
    }
    if (verb == "ready") return step(RuntimeReady{});
    if (verb == "lost") return step(RuntimeLost{rest(in)});
    if (verb == "registered") {
      const std::string arn = word(in);
      return step(Registered{arn.empty() ? std::string(instance_arn) : arn});
    }
    if (verb == "refused") return step(RegisterFailed{{"ClientException", rest(in)}, true});
    if (verb == "open") return step(SessionOpened{});
    if (verb == "closed") {
      const auto code = static_cast<uint16_t>(std::stoi(word(in)));
      return step(SessionClosed{{code, rest(in)}});
    }
    if (verb == "message") return message(rest(in));
    if (verb == "payload") return payload(word(in), rest(in));
    if (verb == "done") {
      const auto id = static_cast<OperationId>(std::stoull(word(in)));
      return step(OperationDone{id, answer(in)});
    }
    if (verb == "pull") {
      PullProgress progress{.id = static_cast<OperationId>(std::stoull(word(in)))};
      progress.bytes_done = std::stoull(word(in));
      progress.bytes_expected = std::stoull(word(in));
      return step(progress);
    }
    if (verb == "submitted") return submitted(in);
    if (verb == "stop-all") return step(StopAllTasks{rest(in)});
    if (verb == "disk") return step(DiskSpace{word(in) == "low"});
    return event(verb, in);
  }

  void pass(const std::string& text) {
    if (text.empty()) return;
    const int64_t number = std::stoll(text.substr(1));
    if (text.ends_with("ms")) {
      now_ += base::Milliseconds(number);
    } else if (text.ends_with("m")) {
      now_ += std::chrono::minutes(number);
    } else {
      now_ += std::chrono::seconds(number);
    }
  }

  std::string event(const std::string& verb, std::istringstream& in) {
    ContainerEvent event;
    event.runtime_id = word(in);
    if (verb == "died") {
      event.kind = EventKind::Died;
      event.exit_code = std::stoi(word(in));
      died_[event.runtime_id] = now_;
    } else if (verb == "healthy" || verb == "unhealthy") {
      event.kind = EventKind::HealthChanged;
      event.health = verb == "healthy" ? HealthStatus::Healthy : HealthStatus::Unhealthy;
    } else if (verb == "oom") {
      event.kind = EventKind::OutOfMemory;
    } else if (verb == "destroyed") {
      event.kind = EventKind::Destroyed;
    } else {
      return "?? unknown input\n";
    }
    return step(event);
  }

  std::string message(const std::string& frame) {
    auto decoded = acs::decode_server_message(frame);
    if (!decoded) return decoded.error().code + ": " + decoded.error().message + "\n";
    return step(SessionMessage{std::move(*decoded)});
  }

  std::string payload(const std::string& id, const std::string& text) {
    const std::string json = text.starts_with('@') ? payloads.at(text.substr(1)) : text;
    acs::PayloadMessage made;
    made.cluster_arn = "default";
    made.container_instance_arn = instance_arn;
    made.message_id = id;
    made.seq_num = ++sequence_;
    auto value = json::parse(json);
    if (!value) return value.error().message + "\n";
    const auto add = [&](const json::Value& one) {
      auto task = api::parse<acs::Task>(one);
      CHECK(task.has_value());
      if (!task->arn.empty()) task->arn = std::string(arn_prefix) + task->arn;
      if (task->desired_status.empty()) task->desired_status = "RUNNING";
      if (task->family.empty()) task->family = "f";
      if (task->version.empty()) task->version = "1";
      made.tasks.push_back(std::move(*task));
    };
    if (value->is_array()) {
      for (const json::Value& one : value->items()) add(one);
    } else {
      add(*value);
    }
    return step(SessionMessage{std::move(made)});
  }

  // ok | image [env] | created ID | running ID [host port] | made ID | exited ID CODE [oom] |
  // left none|some|unknown, of EndProcesses; with none or some behind an ID: what the kernel says |
  // list ITEM... with ITEM as running:ID:TASK:NAME | gpu empty | gpu busy TEXT |
  // fail CAUSE CODE MESSAGE
  OperationResult answer(std::istringstream& in) {
    const std::string kind = word(in);
    if (kind == "image") {
      ImageInfo image{"sha256:img", "sha256:digest", {}};
      for (std::string entry = word(in); !entry.empty(); entry = word(in)) {
        image.environment.push_back(entry);
      }
      return image;
    }
    if (kind == "created") return CreatedContainer{word(in)};
    if (statuses().contains(kind)) return info(kind, in);
    if (kind == "list") return list(in);
    if (kind == "left") return ProcessesSeen{processes(word(in)), "nobody knows"};
    if (kind == "gpu") {
      const bool empty = word(in) == "empty";
      return GpuUse{empty, rest(in)};
    }
    if (kind == "fail") return std::unexpected(error(in));
    return Done{};
  }

  static OperationError error(std::istringstream& in) {
    static const std::map<std::string, Cause> causes{
        {"Unreachable", Cause::Unreachable}, {"NotFound", Cause::NotFound},
        {"Conflict", Cause::Conflict},       {"NoSpace", Cause::NoSpace},
        {"Timeout", Cause::Timeout},         {"BadParameter", Cause::BadParameter},
        {"Denied", Cause::Denied},           {"Other", Cause::Other}};
    const Cause cause = causes.at(word(in));
    const std::string code = word(in);
    return {cause, code, rest(in)};
  }

  static const std::map<std::string, RuntimeStatus>& statuses() {
    static const std::map<std::string, RuntimeStatus> all{
        {"made", RuntimeStatus::Created},      {"running", RuntimeStatus::Running},
        {"paused", RuntimeStatus::Paused},     {"restarting", RuntimeStatus::Restarting},
        {"removing", RuntimeStatus::Removing}, {"exited", RuntimeStatus::Exited},
        {"dead", RuntimeStatus::Dead}};
    return all;
  }

  static Processes processes(const std::string& text) {
    return text == "none" ? Processes::None : text == "some" ? Processes::Some : Processes::Unknown;
  }

  // The labels are those of the task that knows this container, or of t1.
  ContainerInfo info(const std::string& kind, std::istringstream& in) {
    ContainerInfo made;
    made.runtime_id = word(in);
    made.status = statuses().at(kind);
    made.labels["com.amazonaws.ecs.task-arn"] = std::string(arn_prefix) + "t1";
    made.started_at = now_;
    if (kind == "exited") {
      made.exit_code = std::stoi(word(in));
      const auto died = died_.find(made.runtime_id);
      made.finished_at = died != died_.end() ? died->second : now_;
    }
    for (std::string extra = word(in); !extra.empty(); extra = word(in)) {
      if (extra == "none" || extra == "some") {
        made.processes = processes(extra);
      } else if (extra == "oom") {
        made.oom_killed = true;
      } else if (extra == "stranger") {
        made.labels.clear();
      } else if (extra == "healthy") {
        made.health = HealthStatus::Healthy;
      } else if (extra.starts_with("ip=")) {
        made.ip_addresses.push_back(extra.substr(3));
      } else {
        const auto port = static_cast<uint16_t>(std::stoi(extra));
        made.bindings.push_back({80, "0.0.0.0", port, false});
        made.bindings.push_back({80, "::", port, false});
      }
    }
    return made;
  }

  Snapshot list(std::istringstream& in) {
    Snapshot snapshot;
    for (std::string item = word(in); !item.empty(); item = word(in)) {
      std::istringstream parts(item);
      std::string kind;
      std::string id;
      std::string task;
      std::string name;
      std::getline(parts, kind, ':');
      std::getline(parts, id, ':');
      std::getline(parts, task, ':');
      std::getline(parts, name, ':');
      std::string left;  // As in running:c1:t1:a:some
      std::getline(parts, left, ':');
      std::istringstream tail(id + (kind == "exited" ? " 0 " : " ") + left);
      ContainerInfo made = info(kind, tail);
      made.name = "somebody";
      made.labels[label_of_agent_data] = config_.agent_data;
      const auto known = core_->tasks().find(std::string(arn_prefix) + task);
      if (known != core_->tasks().end()) {
        made.labels["com.amazonaws.ecs.task-arn"] = known->first;
        for (const ContainerRecord& container : known->second.record.containers) {
          if (container.name == name) made.name = container.docker_name;
        }
      }
      snapshot.containers.push_back(std::move(made));
    }
    return snapshot;
  }

  std::string submitted(std::istringstream& in) {
    SubmitDone done;
    done.id = std::stoull(word(in));
    const std::string outcome = word(in);
    done.outcome = outcome == "accepted"  ? SubmitOutcome::Accepted
                   : outcome == "refused" ? SubmitOutcome::Refused
                                          : SubmitOutcome::Retry;
    if (outcome == "refused") done.error = {"InvalidParameterException", "bad"};
    return step(done);
  }

  std::string step(Input input) {
    Output out = core_->step(std::move(input), now_);
    std::string text;
    for (const JournalWrite& write : out.journal) {
      text += base::format("  {} {}\n", write.value ? "write" : "erase", short_arn(write.key));
      if (write.value) {
        journal_[write.key] = *write.value;
      } else {
        journal_.erase(write.key);
      }
    }
    for (const Note& note : out.notes) {
      if (note.level != Note::Level::Info) text += "  note " + short_arn(note.text) + "\n";
    }
    for (const Operation& operation : out.operations) {
      text += base::format("  op {} {}\n", operation.id, describe(operation.request));
      operations.push_back(operation);
    }
    for (const OperationId id : out.cancelled) text += base::format("  cancel {}\n", id);
    for (const acs::AgentMessage& message : out.messages) {
      text += "  " + short_arn(describe(message)) + "\n";
    }
    for (const Submit& submit : out.submits) {
      text += base::format("  submit {} {}\n", submit.id, describe(submit.request));
    }
    if (out.registration) {
      text += base::format("  register {}\n",
                           out.registration->container_instance_arn.empty() ? "anew" : "again");
    }
    for (const auto& command : out.session) text += describe(command);
    for (const CredentialsSet& set : out.credentials) {
      text += base::format("  credentials {} {} {}\n", short_arn(set.task_arn), set.role_type,
                           set.credentials.credentials_id);
    }
    for (const std::string& arn : out.forgotten_tasks) text += "  forget " + short_arn(arn) + "\n";
    return text;
  }

  static std::string describe(const acs::AgentSession::Command& command) {
    if (const auto* connect = std::get_if<acs::AgentSession::Connect>(&command)) {
      std::string text = "  connect";
      if (connect->send_credentials) text += ", asking for credentials";
      if (connect->highest > 0) text += base::format(", having seen {}", connect->highest);
      return text + "\n";
    }
    return "  disconnect: " + std::get<acs::AgentSession::Disconnect>(command).reason + "\n";
  }

  static std::string describe(const acs::AgentMessage& message) {
    struct Visitor {
      std::string operator()(const acs::HeartbeatAckRequest& m) const {
        return "heartbeat ack " + m.message_id;
      }
      std::string operator()(const acs::AckRequest& m) const { return "ack " + m.message_id; }
      std::string operator()(const acs::NackRequest& m) const {
        return base::format("nack {}: {}", m.message_id, m.reason);
      }
      std::string operator()(const acs::IAMRoleCredentialsAckRequest& m) const {
        return base::format("credentials ack {} in {}", m.credentials_id, m.message_id);
      }
      std::string operator()(const acs::TaskStopVerificationMessage& m) const {
        std::string text = "stop candidates of " + m.message_id + ":";
        for (const acs::TaskIdentifier& task : m.stop_candidates) text += " " + task.task_arn;
        return text;
      }
    };
    return std::visit(Visitor{}, message);
  }

  static std::string without_hex(const std::string& name) {
    return name.substr(0, name.rfind('-')) + "-*";
  }

  static std::string describe(const Request& request) {
    struct Visitor {
      std::string operator()(const InspectImage& r) const { return "InspectImage " + r.image; }
      std::string operator()(const PullImage& r) const { return "PullImage " + r.image; }
      std::string operator()(const CreateContainer& r) const {
        return base::format("CreateContainer {}{}{}", without_hex(r.name),
                            r.gpus.uuids.empty() ? "" : " gpus ", base::join(r.gpus.uuids, ","));
      }
      std::string operator()(const StartContainer& r) const {
        return "StartContainer " + r.runtime_id;
      }
      std::string operator()(const StopContainer& r) const {
        return base::format("StopContainer {} within {} s", r.runtime_id, r.timeout.count() / 1000);
      }
      std::string operator()(const KillContainer& r) const {
        return "KillContainer " + r.runtime_id;
      }
      std::string operator()(const RemoveContainer& r) const {
        return "RemoveContainer " + (r.runtime_id_or_name.starts_with("ecs-")
                                         ? without_hex(r.runtime_id_or_name)
                                         : r.runtime_id_or_name);
      }
      std::string operator()(const InspectContainer& r) const {
        return "InspectContainer " + (r.runtime_id_or_name.starts_with("ecs-")
                                          ? without_hex(r.runtime_id_or_name)
                                          : r.runtime_id_or_name);
      }
      std::string operator()(const ListContainers& r) const {
        return "ListContainers " + r.agent_name;
      }
      std::string operator()(const CreateVolume& r) const {
        return base::format("CreateVolume {} {}{}", r.name, r.driver,
                            r.must_exist ? " that exists" : "");
      }
      std::string operator()(const RemoveVolume& r) const { return "RemoveVolume " + r.name; }
      std::string operator()(const ShipLogs& r) const {
        return base::format("ShipLogs {} to {} {}", r.runtime_id, r.group, r.stream);
      }
      std::string operator()(const EndProcesses& r) const { return "EndProcesses " + r.runtime_id; }
      std::string operator()(const ProbeGpu& r) const {
        std::string text = "ProbeGpu " + r.uuid;
        for (const std::string& one : r.containers) text += " without " + one;
        for (const std::string& sharer : r.sharers) text += " beside " + sharer;
        return text;
      }
    };
    return std::visit(Visitor{}, request);
  }

  static std::string describe(const api::ecs::SubmitTaskStateChangeRequest& request) {
    std::string text =
        base::format("{} {}", short_arn(request.task.value_or("")), request.status.value_or(""));
    if (request.berth_stage) text += base::format(" {}", *request.berth_stage);
    if (request.berth_pull_percent) text += base::format(" {}%", *request.berth_pull_percent);
    for (const auto& container : request.containers) {
      text += base::format(" {}={}", container.container_name.value_or(""),
                           container.status.value_or(""));
      if (container.exit_code) text += base::format("({})", *container.exit_code);
      for (const auto& binding : container.network_bindings) {
        text += base::format(" {}", binding.bind_ip.value_or(""));
        if (!binding.container_port) continue;
        text += base::format(":{}->{}", *binding.host_port, *binding.container_port);
      }
      if (container.reason) text += base::format(" [{}]", *container.reason);
    }
    if (request.reason) text += base::format(", because {}", *request.reason);
    for (const auto& release : request.gpu_release) {
      text += base::format(", {} {}", *release.gpu_id, *release.empty ? "empty" : "NOT empty");
      if (release.reason) text += base::format(" ({})", *release.reason);
    }
    return text;
  }

  Config config_;
  base::Time now_{base::Milliseconds(1'700'000'000'000)};
  std::map<std::string, base::Time> died_;  // When a container was last told to have ended.
  std::map<std::string, std::string> journal_;
  std::optional<Core> core_;
  int64_t sequence_ = 0;
};

}  // namespace agent::core::testing
