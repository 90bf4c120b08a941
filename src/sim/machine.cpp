#include "sim/machine.h"

#include <algorithm>
#include <utility>

namespace sim {
namespace {

constexpr int32_t killed = 137;

std::vector<model::GpuDevice> devices_of(const model::InstanceType& type, const std::string& name) {
  std::vector<model::GpuDevice> devices = model::emulated_gpus(type, name);
  // Real as far as the simulated system can tell: cores are pinned, proofs are wanted.
  for (model::GpuDevice& device : devices) device.emulated = false;
  return devices;
}

}  // namespace

Machine::Machine(Environment& environment, std::string name, const model::InstanceType& type,
                 Fates& fates, Watcher watcher)
    : environment_(environment),
      name_(std::move(name)),
      who_("machine " + name_),
      type_(type),
      gpus_(environment, who_, devices_of(type, name_)),
      fates_(fates),
      watcher_(std::move(watcher)) {}

void Machine::listen(std::function<void(const agent::core::ContainerEvent&)> listener) {
  listener_ = std::move(listener);
}

void Machine::forget_callers() {
  pulls_.clear();
  log_followers_.clear();
  listener_ = {};
}

SimContainer* Machine::find(const std::string& id_or_name) {
  const auto found = containers_.find(id_or_name);
  if (found != containers_.end()) return &found->second;
  for (auto& [id, container] : containers_) {
    if (container.name == id_or_name) return &container;
  }
  return nullptr;
}

// From Created to Running.
void Machine::run(SimContainer& container) {
  container.status = agent::core::RuntimeStatus::Running;
  container.started_at = environment_.events.now();
  ++container.starts;
  auto& fates = fates_[{container.task_arn, container.container_name}];
  fates.push_back({.machine = name_, .starts = 1, .running = true, .exit_code = {}});
  const auto open_gpus = [this](const SimContainer& opener) {
    const int64_t share = opener.gpus.sharing ? opener.gpus.sharing->memory_mib : 0;
    for (const std::string& uuid : opener.gpus.uuids) gpus_.attach(uuid, opener.id, share);
  };
  if (container.plan.opens_gpus_after.count() == 0) {
    open_gpus(container);
  } else {
    environment_.events.after(container.plan.opens_gpus_after,
                              [this, open_gpus, id = container.id, boot = boots_] {
                                const SimContainer* const same = find(id);
                                if (boot == boots_ && same != nullptr && same->runs()) {
                                  open_gpus(*same);
                                }
                              });
  }
  environment_.tell(who_, "container {} of task {} runs{}", container.container_name,
                    short_name(container.task_arn),
                    container.gpus.uuids.empty()
                        ? std::string()
                        : base::format(" on {}", base::join(container.gpus.uuids, ", ")));
  if (watcher_.started) watcher_.started(*this, container);
  emit(agent::core::EventKind::Started, container);
  environment_.events.after(container.plan.life, [this, id = container.id, boot = boots_] {
    if (boot != boots_) return;
    SimContainer* const same = find(id);
    if (same != nullptr && same->status == agent::core::RuntimeStatus::Running) {
      end(*same, same->plan.exit_code, false);
    }
  });
}

std::vector<const SimContainer*> Machine::running_with(const std::string& gpu) const {
  std::vector<const SimContainer*> found;
  for (const auto& [id, container] : containers_) {
    if (container.runs() &&
        std::ranges::find(container.gpus.uuids, gpu) != container.gpus.uuids.end()) {
      found.push_back(&container);
    }
  }
  return found;
}

void Machine::end(SimContainer& container, int32_t exit_code, bool power_cut) {
  if (!container.runs()) return;
  container.status = agent::core::RuntimeStatus::Exited;
  // Of one that Docker has lost sight of nobody is told the real one.
  if (container.said) exit_code = container.exit_code;
  container.exit_code = exit_code;
  container.finished_at = environment_.events.now();
  auto& fates = fates_[{container.task_arn, container.container_name}];
  if (!fates.empty()) {
    fates.back().running = false;
    fates.back().exit_code = exit_code;
    fates.back().power_cut = power_cut;
  }
  gpus_.detach(container.id);
  environment_.tell(who_, "container {} of task {} ended with {}", container.container_name,
                    short_name(container.task_arn), exit_code);
  emit(agent::core::EventKind::Died, container);
  const auto [first, last] = log_followers_.equal_range(container.id);
  for (auto follower = first; follower != last; ++follower) {
    environment_.events.after(environment_.between(base::Milliseconds{5}, base::Milliseconds{500}),
                              [answer = follower->second] { answer(agent::core::Done{}); });
  }
  log_followers_.erase(container.id);
}

void Machine::signal_kill(SimContainer& container) {
  environment_.events.after(container.plan.dies_after, [this, id = container.id, boot = boots_] {
    if (boot != boots_) return;
    if (SimContainer* const same = find(id)) end(*same, killed, false);
  });
}

void Machine::emit(agent::core::EventKind kind, const SimContainer& container) {
  if (!listener_ || !docker_up_ || container.said) return;
  agent::core::ContainerEvent event{.kind = kind, .runtime_id = container.id, .exit_code = {}};
  if (kind == agent::core::EventKind::Died) event.exit_code = container.exit_code;
  listener_(event);
}

void Machine::end_all(int32_t exit_code, bool power_cut) {
  for (auto& [id, container] : containers_) end(container, exit_code, power_cut);
}

void Machine::stop_docker(bool live_restore) {
  if (!docker_up_) return;
  environment_.tell(who_, "dockerd stops{}", live_restore ? "; containers live on" : "");
  docker_up_ = false;
  docker_down_since_ = environment_.events.now();
  const auto failed = [this](const Answer& answer) {
    environment_.events.after(base::Milliseconds{1}, [answer] {
      answer(std::unexpected(agent::core::OperationError{
          agent::core::Cause::Unreachable, "DockerClientConfigError", "dockerd has gone"}));
    });
  };
  for (const auto& [id, pull] : std::exchange(pulls_, {})) failed(pull.answer);
  for (const auto& [id, answer] : std::exchange(log_followers_, {})) failed(answer);
  if (!live_restore) end_all(killed, true);
}

void Machine::start_docker() {
  if (docker_up_) return;
  environment_.tell(who_, "dockerd is back");
  docker_up_ = true;
  lose_sight();
}

void Machine::lose_sight() {
  using enum agent::core::RuntimeStatus;
  for (auto& [id, container] : containers_) {
    const bool ended_meanwhile =
        container.finished_at && *container.finished_at >= docker_down_since_ && !container.runs();
    if (container.said || (!container.runs() && !ended_meanwhile)) continue;
    if (!environment_.inject(environment_.rates.docker_forgets)) continue;
    container.said = ended_meanwhile ? Running : environment_.random.chance(50) ? Exited : Created;
    environment_.tell(who_, "dockerd takes container {} of task {} for one that {}",
                      container.container_name, short_name(container.task_arn),
                      ended_meanwhile ? "runs" : "does not run");
  }
}

void Machine::break_off_pulls() {
  for (const auto& [id, pull] : std::exchange(pulls_, {})) {
    environment_.events.after(base::Milliseconds{1}, [answer = pull.answer] {
      answer(std::unexpected(agent::core::OperationError{agent::core::Cause::Other,
                                                         "CannotPullContainerError",
                                                         "connection reset by the registry"}));
    });
  }
}

void Machine::power_cycle() {
  forget_callers();
  end_all(killed, true);
  ++boots_;
  docker_up_ = true;
  gpus_.power_cycle();
}

void Machine::reinstall() {
  power_cycle();
  containers_.clear();
  images_.clear();
}

}  // namespace sim
