#include "sim/world.h"

#include <algorithm>
#include <utility>

#include "sim/checkers/checkers.h"
#include "sim/checkers/queue_view.h"
#include "sim/world_faults.h"

namespace sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// From the end of the faults until all calls are answered, and again until all is at rest. Longer
// than every pause of an agent or a client, one after the other.
constexpr base::Milliseconds settle_limit = minutes(15);
constexpr base::Milliseconds look_every = seconds(5);

// As long, and the longest back-off of a service before that.
constexpr base::Milliseconds services_limit = minutes(45);

// In which a unit of the queue ends and the next one starts, beside its life: images are pulled,
// containers stopped, GPUs proven empty and cleared.
constexpr base::Milliseconds unit_overhead = minutes(4);

control::Settings settings_of(base::Random& random, Mutant& mutant, const WorkPlan& plan) {
  control::Settings settings;
  settings.reconciler = [&mutant](const reconcile::Input& input, base::Random& own) {
    return mutant.decide(input, own);
  };
  settings.queue_policy = [&mutant](const auto& environment, const auto& tasks, base::Time now,
                                    const auto& options) {
    return mutant.decide_queue(environment, tasks, now, options);
  };
  settings.group_policy = [&mutant](const auto& input) { return mutant.decide_group(input); };
  // In some worlds what runs on a machine that stays away is soon replaced.
  if (random.chance(50)) settings.instance_lost_after = minutes(1 + random.below(2));
  // Some worlds live long enough to see stopped tasks forgotten.
  if (random.chance(30)) settings.stopped_task_kept = minutes(5);
  // In most worlds the queue loses patience within a run.
  if (random.chance(70)) settings.queue.patience = seconds(20 + random.below(100));
  // As long as a run can wait for, instead of the hours of real machines.
  settings.machines.join_within = minutes(3);
  settings.machines.scaling_interval = seconds(20);
  if (random.chance(50)) settings.machines.drain_within = minutes(1 + random.below(4));
  if (random.chance(50)) settings.provisioning_limit = minutes(4);
  // In some worlds the keys of roles are renewed, or expire behind a partition, within a run.
  if (!plan.secret_calls.empty() && random.chance(50)) {
    settings.credentials_lifetime = minutes(3);
    settings.credentials_renewal = minutes(1);
  }
  return settings;
}

}  // namespace

World::World(uint64_t seed, const Workload& workload, Mutant& mutant, Trace::OnLine on_line)
    : environment_(seed, std::move(on_line)), mutant_(mutant) {
  environment_.rates = draw_rates(environment_.random);
  workload.prepare(environment_.random, environment_.rates, plan_);
  for (const Family& family : plan_.families) expectations_.families[family.name] = family;
  const auto each = [this](auto what) {
    for (const auto& checker : checkers_) {
      if (!environment_.failure) what(*checker);
    }
  };
  provider_ = std::make_unique<MachineProvider>(
      environment_,
      MachineProvider::Hands{
          .make = [this](const std::string& type) { return "i-" + add_agent(type).name(); },
          .boot = [this](const std::string& id) { agent_on(id)->start(); },
          .end = [this](const std::string& id) { agent_on(id)->end(); }},
      !plan_.groups.empty());
  secrets_ = std::make_unique<SecretStore>(environment_);
  server_ = std::make_unique<Server>(
      environment_, mutant_, *provider_, *secrets_,
      settings_of(environment_.random, mutant_, plan_),
      Server::Watcher{
          .turned = [each](const Turn& turn) { each([&](Checker& one) { one.turned(turn); }); },
          .called = [each](const SeenCall& call) { each([&](Checker& one) { one.called(call); }); },
          .loaded =
              [each](const model::ClusterState& state) {
                each([&](Checker& one) { one.loaded(state); });
              }});
  caller_ = std::make_unique<Caller>(environment_, *server_);
  clients_ = std::make_unique<Clients>(environment_, mutant_, *server_, expectations_, *caller_);
  owners_ = std::make_unique<ServiceClients>(environment_, *server_, expectations_, *caller_,
                                             plan_.services);
  task_set_clients_ = std::make_unique<TaskSetClients>(environment_, *caller_);
  secret_clients_ = std::make_unique<SecretClients>(environment_, *caller_);
  group_clients_ = std::make_unique<GroupClients>(environment_, *server_, *caller_, plan_.groups);
  for (const std::string& type : plan_.machines) add_agent(type);
  operator_ = std::make_unique<Operator>(environment_, *server_, *clients_, agents_);
  checkers_ = make_checkers(*this);
  if (plan_.secret_calls.empty()) return;
  environment_.on_written = [this](std::string_view where, std::string_view text) {
    for (const auto& checker : checkers_) checker->written(where, text);
  };
}

World::~World() = default;

Agent& World::add_agent(const std::string& type) {
  const model::InstanceType* const found = model::find_instance_type(type);
  CHECK(found != nullptr);
  const std::string name = base::format("m{}", agents_.size() + 1);
  machines_.push_back(std::make_unique<Machine>(
      environment_, name, *found, fates_,
      Machine::Watcher{.started = [this](const Machine& machine, const SimContainer& container) {
        for (const auto& checker : checkers_) {
          if (!environment_.failure) checker->container_started(machine, container);
        }
      }}));
  links_.push_back(std::make_unique<Link>(environment_, name));
  agents_.push_back(std::make_unique<Agent>(environment_, mutant_, *machines_.back(),
                                            *links_.back(), *server_, expectations_));
  return *agents_.back();
}

Agent* World::agent_on(const std::string& machine_id) const {
  const auto found = std::ranges::find_if(
      agents_, [&](const auto& agent) { return "i-" + agent->name() == machine_id; });
  return found == agents_.end() ? nullptr : found->get();
}

const Machine* World::machine_of(const model::ContainerInstance& instance) const {
  const auto found = std::ranges::find_if(machines_, [&](const auto& machine) {
    return "i-" + machine->name() == instance.ec2_instance_id;
  });
  return found == machines_.end() ? nullptr : found->get();
}

void World::run() {
  environment_.tell("world", "{} machines, {} calls, faults for {} s", agents_.size(),
                    plan_.calls.size(), plan_.faults_for.count() / 1000);
  server_->start();
  for (const auto& agent : agents_) agent->start();
  clients_->provide();
  owners_->provide();
  group_clients_->provide();
  for (const PlannedCall& call : plan_.calls) {
    environment_.events.after(call.at, [this, &call] { clients_->act(call); });
  }
  for (const PlannedServiceCall& call : plan_.service_calls) {
    environment_.events.after(call.at, [this, &call] { owners_->act(call); });
  }
  for (const PlannedTaskSetCall& call : plan_.task_set_calls) {
    environment_.events.after(call.at, [this, &call] { task_set_clients_->act(call); });
  }
  for (const PlannedSecretCall& call : plan_.secret_calls) {
    environment_.events.after(call.at, [this, &call] { secret_clients_->act(call); });
  }
  for (const PlannedGroupCall& call : plan_.group_calls) {
    environment_.events.after(call.at, [this, &call] { group_clients_->act(call); });
  }
  operator_->start();
  strike_faults({.environment = environment_,
                 .server = *server_,
                 .clients = *clients_,
                 .agents = agents_,
                 .server_disk_lost = [this] {
                   ++expectations_.server_disks_lost;
                   for (const auto& checker : checkers_) checker->server_disk_lost();
                 }});
  run_until(environment_.events.now() + plan_.faults_for);
  stop_faults();
  settle();
  environment_.trace.mix(environment_.random.next());
}

void World::run_until(base::Time end) {
  while (!environment_.failure && environment_.events.run_next(end)) {
  }
}

void World::stop_faults() {
  if (environment_.failure) return;
  environment_.faults_on = false;
  environment_.tell("world", "faults stop; everything comes back");
  caller_->link().stop_faults();
  for (const auto& link : links_) link->stop_faults();
  server_->apply_rates();
  server_->start();
  for (const auto& agent : agents_) {
    agent->docker_starts();
    agent->machine().break_off_pulls();
    agent->start();
  }
  owners_->calm_down();
}

void World::settle() {
  await_answers();
  await_services();
  if (environment_.failure) return;
  owners_->delete_all();
  await_queue();
  group_clients_->delete_all();
  await_rest();
  for (const auto& checker : checkers_) {
    if (!environment_.failure) checker->at_rest();
  }
  if (!environment_.failure) environment_.tell("world", "all is at rest");
}

void World::await_answers() {
  const base::Time limit = environment_.events.now() + settle_limit;
  while (!environment_.failure && caller_->waiting() > 0) {
    if (environment_.events.now() >= limit) {
      return environment_.fail("liveness",
                               base::format("{} call(s) of clients are not answered {} s "
                                            "after the faults have stopped",
                                            caller_->waiting(), settle_limit.count() / 1000));
    }
    run_until(environment_.events.now() + look_every);
  }
}

void World::await_services() {
  if ((plan_.services.empty() && plan_.groups.empty()) || environment_.failure) return;
  environment_.tell("world",
                    "every call is answered; services and groups become as they are wanted");
  const base::Time limit = environment_.events.now() + services_limit;
  while (!environment_.failure) {
    run_until(environment_.events.now() + look_every);
    const auto waits = std::ranges::find_if(
        checkers_, [](const auto& checker) { return !checker->awaits().empty(); });
    if (waits == checkers_.end()) return;
    if (environment_.events.now() < limit) continue;
    environment_.fail((*waits)->name(),
                      base::format("{} s after the faults have stopped {}",
                                   services_limit.count() / 1000, (*waits)->awaits()));
  }
}

// Whoever waits starts; then those are stopped for whom there will never be room.
void World::await_queue() {
  const auto waits = [this] {
    return std::ranges::find_if(checkers_,
                                [](const auto& checker) { return !checker->awaits_end().empty(); });
  };
  if (server_->state() == nullptr) run_until(environment_.events.now() + look_every);
  const model::ClusterState* const state = server_->state();
  const size_t waiting = state == nullptr ? 0 : waiting_units(*state, expectations_).size();
  const base::Milliseconds allowed =
      server_->settings().provisioning_limit +
      (environment_.rates.longest_life + unit_overhead) * static_cast<int64_t>(waiting + 1);
  const base::Time limit = environment_.events.now() + allowed;
  while (!environment_.failure && waits() != checkers_.end()) {
    if (environment_.events.now() >= limit) {
      const Checker& one = **waits();
      return environment_.fail(
          one.name(), base::format("{} s after the faults have stopped {}", allowed.count() / 1000,
                                   (*waits())->awaits_end()));
    }
    run_until(environment_.events.now() + look_every);
  }
  clients_->give_up_waiting();
}

void World::await_rest() {
  environment_.tell("world", "the tasks come to their ends");
  const base::Time rest = environment_.events.now() + settle_limit;
  while (!environment_.failure) {
    run_until(environment_.events.now() + look_every);
    const std::string why = unrest();
    if (why.empty()) break;
    if (environment_.events.now() < rest) continue;
    return environment_.fail("liveness", base::format("{} s after the faults have stopped {}",
                                                      settle_limit.count() / 1000, why));
  }
}

std::string World::task_unrest(const model::ClusterState& state) const {
  for (const auto& [arn, task] : state.tasks) {
    if (task.last_status == model::TaskStatus::Stopped) continue;
    const auto* const instance = model::find_instance(state, task.instance);
    const Machine* const machine = instance == nullptr ? nullptr : machine_of(*instance);
    std::string text =
        base::format("task {} on {} is {}, desired {}", short_name(arn.str()),
                     machine == nullptr ? "?" : machine->name(), model::to_string(task.last_status),
                     model::to_string(task.desired_status));
    for (const auto& agent : agents_) {
      if (agent->core() == nullptr) continue;
      const auto known = agent->core()->tasks().find(arn.str());
      if (known == agent->core()->tasks().end()) continue;
      text += base::format("; for the agent of {} it is {}", agent->name(),
                           known->second.all_stopped() ? "stopped" : "alive");
    }
    return text;
  }
  return {};
}

std::string World::agent_unrest(const Agent& agent, const model::ClusterState& state) const {
  if (agent.core() == nullptr) return base::format("the agent of {} is down", agent.name());
  const auto* const instance =
      model::find_instance(state, model::InstanceArn(agent.core()->container_instance_arn()));
  if (instance == nullptr || !instance->agent_connected) {
    return base::format("the agent of {} is not connected", agent.name());
  }
  for (const model::GpuSlot& slot : instance->gpus) {
    const PhysicalGpu* const gpu = agent.machine().gpus().find(slot.device.uuid);
    if (slot.unproven_tasks.empty() || gpu == nullptr || !gpu->on_bus) continue;
    return base::format("{} waits to be proven empty", slot.device.uuid);
  }
  for (const auto& [arn, task] : agent.core()->tasks()) {
    if (task.settled()) continue;
    return base::format("the agent of {} has not brought task {} to an end", agent.name(),
                        short_name(arn));
  }
  for (const auto& [id, container] : agent.machine().containers()) {
    if (container.status != agent::core::RuntimeStatus::Running) continue;
    return base::format("container {} of task {} still runs on {}", container.container_name,
                        short_name(container.task_arn), agent.name());
  }
  return {};
}

std::string World::group_unrest(const model::ClusterState& state) const {
  for (const ProvidedMachine& machine : provider_->machines()) {
    if (machine.has_ended) continue;
    return base::format("machine {} of {} is still there", machine.id, machine.group);
  }
  if (state.auto_scaling_groups.empty()) return {};
  return base::format("{} is still there", state.auto_scaling_groups.begin()->first);
}

std::string World::unrest() const {
  const model::ClusterState* const state = server_->state();
  if (state == nullptr) return "the server does not serve";
  if (caller_->waiting() > 0) return base::format("{} call(s) wait", caller_->waiting());
  if (std::string why = task_unrest(*state); !why.empty()) return why;
  if (std::string why = group_unrest(*state); !why.empty()) return why;
  for (const auto& agent : agents_) {
    if (agent->has_ended()) continue;
    if (std::string why = agent_unrest(*agent, *state); !why.empty()) return why;
  }
  return {};
}

}  // namespace sim
