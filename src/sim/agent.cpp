#include "sim/agent.h"

#include <algorithm>
#include <utility>

#include "api/json.h"
#include "sim/secret_fetch.h"

namespace sim {
namespace {

using agent::core::Core;
using agent::core::Output;
using std::chrono::minutes;
using std::chrono::seconds;

// Shorter than an operator's, so that a run of some minutes sees all of a task's life.
agent::core::Config config_of(const std::string& name, uint64_t seed) {
  agent::core::Config config;
  config.agent_name = name;
  config.random_seed = seed;
  config.cleanup_wait = minutes(2);
  config.remember_stopped = minutes(30);
  config.snapshot_interval = minutes(2);
  config.session.inactive_instance_wait = minutes(2);
  config.session.lifetime = minutes(6);
  config.session.lifetime_jitter = minutes(2);
  return config;
}

}  // namespace

Agent::Agent(Environment& environment, Mutant& mutant, Machine& machine, Link& link, Server& server,
             Expectations& expectations)
    : environment_(environment),
      mutant_(mutant),
      machine_(machine),
      link_(link),
      server_(server),
      expectations_(expectations),
      who_("agent " + machine.name()) {
  clock_ = environment_.draw_clock();
}

void Agent::start() {
  if (core_ || ended_) return;
  if (environment_.inject(environment_.rates.clock_step)) clock_ = environment_.draw_clock();
  std::vector<agent::core::JournalRecord> records;
  for (const auto& [key, value] : journal_) records.push_back({key, value});
  mutant_.journal_read(name(), records);
  auto made = Core::create(config_of(name(), environment_.random.next()), records, local_now());
  if (!made) {
    environment_.fail("agent_journal",
                      base::format("the agent of {} cannot read its own journal: {}", name(),
                                   made.error().message));
    return;
  }
  ++life_;
  core_.emplace(std::move(*made));
  control_ =
      std::make_unique<AgentLink>(environment_, machine_, link_, server_,
                                  [this](agent::core::Input input) { take(std::move(input)); });
  core_wake_at_ = base::Time::min();
  environment_.tell(who_, "starts with {} task(s) in its journal", core_->tasks().size());
  machine_.listen([this, life = life_](const agent::core::ContainerEvent& event) {
    environment_.events.after(environment_.between(base::Milliseconds{1}, base::Milliseconds{100}),
                              [this, life, event] {
                                if (life == life_ && core_) take(event);
                              });
  });
  look_for_docker();
  take(agent::core::Tick{});
}

void Agent::die() {
  core_.reset();
  ++life_;
  execution_keys_.clear();
  inbox_.clear();
  unwritten_.clear();
  turn_scheduled_ = false;
  machine_.forget_callers();
  if (control_ != nullptr) control_->die();
  control_.reset();
}

void Agent::crash(std::string_view why) {
  if (!core_) return;
  environment_.tell(who_, "dies: {}", why);
  die();
}

void Agent::end() {
  if (ended_) return;
  environment_.tell("machine " + name(), "is given back");
  if (core_) die();
  machine_.power_cycle();
  ended_ = true;
}

void Agent::power_off(bool disk_too) {
  if (ended_) return;
  environment_.tell("machine " + name(), "is switched off{}",
                    disk_too ? "; it will come back reinstalled" : "");
  if (core_) die();
  if (disk_too) {
    machine_.reinstall();
    journal_.clear();
    ++disks_lost_;
  } else {
    machine_.power_cycle();
  }
}

void Agent::docker_stops(bool live_restore) {
  if (ended_) return;
  machine_.stop_docker(live_restore);
  if (!core_) return;
  control_->docker_is("Cannot connect to the Docker daemon.");
  take(agent::core::RuntimeLost{"Docker has ended its stream of events."});
}

void Agent::docker_starts() {
  if (ended_) return;
  machine_.start_docker();
  // The agent asks once a second.
  environment_.events.after(environment_.between(base::Milliseconds{1}, seconds(1)),
                            [this, life = life_] {
                              if (life == life_ && core_ && machine_.docker_up()) look_for_docker();
                            });
}

void Agent::look_for_docker() {
  const std::string reason =
      machine_.docker_up() ? std::string() : "Cannot connect to the Docker daemon.";
  control_->docker_is(reason);
  if (reason.empty()) {
    take(agent::core::RuntimeReady{});
  } else {
    take(agent::core::RuntimeLost{reason});
  }
}

void Agent::gpu_changed() {
  environment_.events.after(environment_.between(base::Milliseconds{100}, seconds(5)),
                            [this, life = life_] {
                              if (life == life_ && core_) control_->announce();
                            });
}

void Agent::take(agent::core::Input input) {
  if (!core_) return;
  if (!mutant_.into_agent(name(), input)) return;
  inbox_.push_back(std::move(input));
  schedule_turn();
}

void Agent::schedule_turn() {
  if (std::exchange(turn_scheduled_, true)) return;
  environment_.events.after(environment_.between(base::Milliseconds{0}, base::Milliseconds{5}),
                            [this, life = life_] {
                              if (life != life_ || !core_) return;
                              turn_scheduled_ = false;
                              turn();
                            });
}

void Agent::turn() {
  const base::Time now = local_now();
  std::vector<Output> outputs;
  for (agent::core::Input& input : std::exchange(inbox_, {})) {
    outputs.push_back(core_->step(std::move(input), now));
    mutant_.out_of_agent(name(), outputs.back());
    core_wake_at_ = outputs.back().wake_at;
  }
  if (now >= core_wake_at_) {
    outputs.push_back(core_->step(agent::core::Tick{}, now));
    mutant_.out_of_agent(name(), outputs.back());
    core_wake_at_ = outputs.back().wake_at;
  }
  if (!write(outputs)) return;
  const uint64_t life = life_;
  for (Output& output : outputs) {
    release(output);
    if (life != life_) return;
  }
  control_->advance(core_->container_instance_arn());
  wake_at(core_wake_at_);
}

bool Agent::write(std::vector<Output>& outputs) {
  std::vector<agent::core::JournalWrite> writes = std::exchange(unwritten_, {});
  const size_t before = writes.size();
  for (Output& output : outputs) {
    std::ranges::move(output.journal, std::back_inserter(writes));
  }
  if (writes.empty()) return true;
  if (environment_.on_written) {
    for (const auto& one : writes) {
      if (one.value) {
        environment_.on_written("the journal of " + name() + ", " + one.key, *one.value);
      }
    }
  }
  const bool fails = environment_.inject(environment_.rates.journal_fails);
  if (fails && environment_.random.chance(50)) {
    crash("its journal cannot be written");
  } else {
    const bool delayed = mutant_.delays_journal(name());
    for (size_t i = 0; i < writes.size(); ++i) {
      if (delayed && i >= before) {
        unwritten_.push_back(std::move(writes[i]));
      } else if (writes[i].value) {
        journal_[writes[i].key] = std::move(*writes[i].value);
      } else {
        journal_.erase(writes[i].key);
      }
    }
    if (!fails) return true;
    crash("just after it wrote its journal");
  }
  environment_.events.after(environment_.between(base::Milliseconds{100}, seconds(5)),
                            [this] { start(); });
  return false;
}

// What an operator reads of it, and what the control plane hears.
void Agent::say(const Output& output) {
  for (const agent::core::Note& note : output.notes) {
    environment_.on_written("a note of the agent of " + name(), note.text);
  }
  for (const agent::core::Submit& submit : output.submits) {
    environment_.on_written("a report of the agent of " + name(), api::print(submit.request));
  }
}

void Agent::release(Output& output) {
  if (environment_.on_written) say(output);
  for (const agent::core::CredentialsSet& given : output.credentials) {
    if (given.role_type == "TaskExecution") execution_keys_[given.task_arn] = given.credentials;
  }
  for (const agent::core::Note& note : output.notes) environment_.tell(who_, "{}", note.text);
  for (const agent::core::OperationId id : output.cancelled) machine_.cancel(id);
  for (const agent::core::Operation& operation : output.operations) begin(operation);
  control_->send(output.messages);
  for (const agent::core::Submit& submit : output.submits) {
    environment_.tell(who_, "reports task {} {}", short_name(submit.request.task.value_or("")),
                      submit.request.status.value_or(""));
    control_->submit(submit);
  }
  for (const auto& command : output.session) control_->want_session(command);
  if (output.registration) control_->want_registration(std::move(*output.registration));
}

void Agent::begin(const agent::core::Operation& operation) {
  environment_.trace.mix(operation.request.index());
  // Shared by the copies of the answer: it is given once.
  const auto answered = std::make_shared<bool>(false);
  const Machine::Answer answer = [this, life = life_, id = operation.id,
                                  answered](agent::core::OperationResult result) {
    if (std::exchange(*answered, true) || life != life_ || !core_) return;
    take(agent::core::OperationDone{id, std::move(result)});
  };
  if (auto error = mutant_.fails(name(), operation)) {
    environment_.tell(who_, "an operation fails: {}: {}", error->code, error->message);
    return environment_.events.after(base::Milliseconds{5}, [answer, error = std::move(*error)] {
      answer(std::unexpected(error));
    });
  }
  const auto* const create = std::get_if<agent::core::CreateContainer>(&operation.request);
  if (create != nullptr && !create->secrets.empty()) return fetch_and_create(operation, answer);
  machine_.begin(operation, answer);
}

void Agent::fetch_and_create(const agent::core::Operation& operation,
                             const Machine::Answer& answer) {
  const auto& create = std::get<agent::core::CreateContainer>(operation.request);
  const auto key = execution_keys_.find(create.task_arn);
  if (key == execution_keys_.end()) {
    return environment_.fail(
        "secrets_honest", base::format("the agent of {} makes a container of task {} with secrets "
                                       "before it has the key of the execution role",
                                       name(), short_name(create.task_arn)));
  }
  fetch_secrets(environment_, link_, server_, expectations_, create, key->second,
                [this, life = life_, id = operation.id, answer](CompletedRequest completed) {
                  if (life != life_ || !core_) return;
                  if (!completed) return answer(std::unexpected(completed.error()));
                  mutant_.completed(*completed);
                  machine_.begin({id, std::move(*completed)}, answer);
                });
}

void Agent::wake_at(base::Time local) {
  const uint64_t wake = ++wakes_;
  if (local == base::Time::max()) return;
  environment_.events.after(clock_.until(local, environment_.events.now()),
                            [this, life = life_, wake] {
                              if (life == life_ && core_ && wake == wakes_) turn();
                            });
}

}  // namespace sim
