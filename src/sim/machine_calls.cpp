#include "sim/machine_calls.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/value.h"

namespace sim {
namespace {

using agent::core::Cause;
using agent::core::ContainerInfo;
using agent::core::OperationError;
using agent::core::OperationResult;
using agent::core::Processes;
using agent::core::RuntimeStatus;
using std::chrono::days;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int32_t terminated = 143;

OperationResult refused(Cause cause, const char* code, std::string message) {
  return std::unexpected(OperationError{cause, code, std::move(message)});
}

OperationResult no_such_container(const std::string& id) {
  return refused(Cause::NotFound, "CannotInspectContainerError", "No such container: " + id);
}

// Of a server's containers, in thousandths: how many end by themselves all the same while faults
// strike.
constexpr uint32_t servers_that_end = 200;

ContainerPlan draw_plan(Environment& environment, std::string_view image) {
  const Rates& rates = environment.rates;
  ContainerPlan plan;
  plan.life = environment.between(base::Milliseconds{200}, rates.longest_life);
  plan.exit_code =
      environment.random.chance(70) ? 0 : static_cast<int32_t>(environment.random.below(4));
  if (image.starts_with("server") && !environment.inject(servers_that_end)) plan.life = days(365);
  if (image.starts_with("crash")) {
    plan.life = environment.between(base::Milliseconds{10}, seconds(2));
    plan.exit_code = 1;
  }
  plan.fails_to_start = environment.inject(rates.fails_to_start);
  plan.ignores_term = environment.inject(rates.ignores_term);
  if (environment.inject(rates.opens_gpus_late)) {
    plan.opens_gpus_after = environment.between(seconds(1), seconds(30));
  }
  plan.dies_after = environment.inject(rates.hangs)
                        ? environment.between(seconds(5), minutes(2))
                        : environment.between(base::Milliseconds{1}, base::Milliseconds{50});
  return plan;
}

std::map<std::string, std::string> environment(const json::Value& body) {
  std::map<std::string, std::string> variables;
  for (const json::Value& variable : body["Env"].items()) {
    const std::string text = variable.text_or("");
    const size_t end = text.find('=');
    if (end != std::string::npos) variables[text.substr(0, end)] = text.substr(end + 1);
  }
  return variables;
}

std::vector<uint16_t> host_ports(const json::Value& body) {
  std::vector<uint16_t> ports;
  for (const json::Field& mapping : body["HostConfig"]["PortBindings"].fields()) {
    for (const json::Value& binding : mapping.value.items()) {
      const std::string text = binding["HostPort"].text_or("");
      const auto port = base::parse_number<uint16_t>(text);
      if (port.value_or(0) != 0) ports.push_back(*port);
    }
  }
  return ports;
}

ContainerInfo info_of(const SimContainer& container) {
  ContainerInfo info;
  info.runtime_id = container.id;
  info.name = container.name;
  info.image_id = "sha256:1";
  info.labels = container.labels;
  info.status = container.as_docker_says();
  info.processes = container.runs() ? Processes::Some : Processes::None;
  info.exit_code = container.exit_code;
  if (info.status != RuntimeStatus::Created) info.started_at = container.started_at;
  info.finished_at = container.finished_at;
  for (const uint16_t port : container.host_ports) {
    info.bindings.push_back({.container_port = port, .host_ip = "0.0.0.0", .host_port = port});
  }
  return info;
}

}  // namespace

void Machine::begin(const agent::core::Operation& operation, Answer answer) {
  // What is not asked of Docker.
  const bool probe = std::holds_alternative<agent::core::ProbeGpu>(operation.request) ||
                     std::holds_alternative<agent::core::EndProcesses>(operation.request);
  const base::Milliseconds delay =
      environment_.between(base::Milliseconds{1}, base::Milliseconds{80});
  const auto later = [this, answer](base::Milliseconds after, OperationResult result) {
    environment_.events.after(after, [answer, result = std::move(result)] { answer(result); });
  };
  if (!docker_up_ && !probe) {
    return later(delay, refused(Cause::Unreachable, "DockerClientConfigError",
                                "Cannot connect to the Docker daemon. Is it running?"));
  }
  if (!probe && environment_.inject(environment_.rates.operation_fails)) {
    return later(delay, refused(Cause::Other, "ServerError", "Docker has failed inside"));
  }
  if (!probe && environment_.inject(environment_.rates.operation_unsure)) {
    const bool done = environment_.random.chance(50);
    if (done) std::visit(MachineCalls{*this, operation.id, [](auto) {}}, operation.request);
    pulls_.erase(operation.id);
    return later(environment_.between(seconds(1), minutes(1)),
                 refused(Cause::Timeout, "DockerTimeoutError", "Docker did not answer in time"));
  }
  auto result = std::visit(MachineCalls{*this, operation.id, answer}, operation.request);
  if (result) later(delay, std::move(*result));
}

void Machine::cancel(agent::core::OperationId id) {
  const auto found = pulls_.find(id);
  if (found == pulls_.end()) return;
  environment_.events.after(base::Milliseconds{1}, [answer = found->second.answer] {
    answer(refused(Cause::Cancelled, "CannotPullContainerError", "the pull was broken off"));
  });
  pulls_.erase(found);
}

MachineCalls::Result MachineCalls::operator()(const agent::core::InspectImage& request) const {
  if (!machine.images_.contains(request.image)) {
    return refused(Cause::NotFound, "CannotInspectImageError", "No such image: " + request.image);
  }
  return agent::core::ImageInfo{.id = "sha256:1", .digest = "sha256:2", .environment = {}};
}

MachineCalls::Result MachineCalls::operator()(const agent::core::PullImage& request) const {
  Environment& environment = machine.environment_;
  if (request.image.starts_with("missing")) {
    return refused(Cause::NotFound, "CannotPullContainerError",
                   "manifest for " + request.image + " not found");
  }
  const uint64_t number = ++machine.pulls_begun_;
  machine.pulls_[id] = {number, answer};
  if (environment.inject(environment.rates.never_pull)) {
    environment.tell(machine.who_, "the pull of {} hangs", request.image);
    return std::nullopt;
  }
  const base::Milliseconds takes = environment.inject(environment.rates.slow_pull)
                                       ? environment.between(seconds(10), minutes(2))
                                       : environment.between(base::Milliseconds{50}, seconds(2));
  Machine& where = machine;
  environment.events.after(takes, [&where, pull = id, number, image = request.image] {
    const auto found = where.pulls_.find(pull);
    if (found == where.pulls_.end() || found->second.number != number) return;
    where.images_.insert(image);
    const Machine::Answer waiting = found->second.answer;
    where.pulls_.erase(found);
    waiting(agent::core::Done{});
  });
  return std::nullopt;
}

MachineCalls::Result MachineCalls::operator()(const agent::core::CreateContainer& request) const {
  if (machine.find(request.name) != nullptr) {
    return refused(Cause::Conflict, "CannotCreateContainerError",
                   "The container name " + request.name + " is already in use");
  }
  SimContainer made;
  made.id = base::format("{}-{}", machine.name_, ++machine.made_);
  made.name = request.name;
  for (const json::Field& label : request.body["Labels"].fields()) {
    made.labels[label.name] = label.value.text_or("");
  }
  made.task_arn = made.labels["com.amazonaws.ecs.task-arn"];
  made.container_name = made.labels["com.amazonaws.ecs.container-name"];
  made.environment = environment(request.body);
  made.host_ports = host_ports(request.body);
  made.gpus = request.gpus;
  made.plan = draw_plan(machine.environment_, request.body["Image"].text_or(""));
  std::string runtime_id = made.id;
  machine.containers_.emplace(runtime_id, std::move(made));
  return agent::core::CreatedContainer{std::move(runtime_id)};
}

MachineCalls::Result MachineCalls::operator()(const agent::core::StartContainer& request) const {
  SimContainer* const container = machine.find(request.runtime_id);
  if (container == nullptr) return no_such_container(request.runtime_id);
  if (container->said) {
    return refused(Cause::Conflict, "CannotStartContainerError", "task already exists");
  }
  if (container->runs()) return agent::core::Done{};
  for (const std::string& uuid : container->gpus.uuids) {
    const PhysicalGpu* const gpu = machine.gpus_.find(uuid);
    if (gpu == nullptr || !gpu->on_bus) {
      return refused(Cause::Other, "CannotStartContainerError", "no such device: " + uuid);
    }
  }
  if (container->plan.fails_to_start) {
    return refused(Cause::BadParameter, "CannotStartContainerError",
                   "exec: \"train\": executable file not found");
  }
  if (machine.environment_.inject(machine.environment_.rates.start_untrue)) {
    return start_untruly(*container);
  }
  machine.run(*container);
  return agent::core::Done{};
}

MachineCalls::Result MachineCalls::start_untruly(SimContainer& container) const {
  Environment& environment = machine.environment_;
  container.said = container.as_docker_says();
  container.plan.life += seconds(30);  // Whoever ended before anybody looked would never be known.
  Machine& where = machine;
  const auto run = [&where, container_id = container.id, boot = where.boots_] {
    SimContainer* const same = where.find(container_id);
    if (boot == where.boots_ && same != nullptr && !same->runs()) where.run(*same);
  };
  if (environment.random.chance(50)) {
    run();
  } else {
    environment.events.after(environment.between(base::Milliseconds{10}, seconds(8)), run);
  }
  return refused(environment.random.chance(50) ? Cause::Other : Cause::Timeout,
                 "CannotStartContainerError", "ttrpc: closed");
}

// As `docker stop`: answered when the container has ended.
void MachineCalls::answer_when_dead(const std::string& container,
                                    base::Milliseconds checked_every) const {
  Machine& where = machine;
  where.environment_.events.after(checked_every, [&where, container, checked_every,
                                                  waiting = answer, boot = where.boots_] {
    if (boot != where.boots_) return;
    const SimContainer* const same = where.find(container);
    if (same == nullptr || same->status != RuntimeStatus::Running) {
      return waiting(agent::core::Done{});
    }
    if (!where.docker_up_) {
      return waiting(refused(Cause::Unreachable, "DockerClientConfigError", "dockerd has gone"));
    }
    MachineCalls{where, 0, waiting}.answer_when_dead(container, checked_every);
  });
}

MachineCalls::Result MachineCalls::operator()(const agent::core::StopContainer& request) const {
  SimContainer* const container = machine.find(request.runtime_id);
  if (container == nullptr) return no_such_container(request.runtime_id);
  if (container->as_docker_says() != RuntimeStatus::Running) return agent::core::Done{};
  if (!container->runs()) {
    return refused(Cause::Other, "CannotStopContainerError",
                   "tried to kill container, but did not receive an exit event");
  }
  Environment& environment = machine.environment_;
  Machine& where = machine;
  container->stopping = true;
  if (!container->plan.ignores_term) {
    const base::Milliseconds takes = environment.between(base::Milliseconds{10}, seconds(2));
    environment.events.after(takes, [&where, container_id = container->id, boot = where.boots_] {
      if (boot != where.boots_) return;
      if (SimContainer* const same = where.find(container_id)) where.end(*same, terminated, false);
    });
  } else {
    environment.events.after(request.timeout,
                             [&where, container_id = container->id, boot = where.boots_] {
                               if (boot != where.boots_ || !where.docker_up_) return;
                               if (SimContainer* const same = where.find(container_id)) {
                                 where.signal_kill(*same);
                               }
                             });
  }
  answer_when_dead(container->id, base::Milliseconds{250});
  return std::nullopt;
}

MachineCalls::Result MachineCalls::operator()(const agent::core::KillContainer& request) const {
  SimContainer* const container = machine.find(request.runtime_id);
  if (container == nullptr) return no_such_container(request.runtime_id);
  if (container->as_docker_says() != RuntimeStatus::Running) {
    return refused(Cause::Conflict, "CannotStopContainerError", "the container is not running");
  }
  if (container->runs()) machine.signal_kill(*container);
  return agent::core::Done{};
}

MachineCalls::Result MachineCalls::operator()(const agent::core::RemoveContainer& request) const {
  SimContainer* const container = machine.find(request.runtime_id_or_name);
  if (container == nullptr) return agent::core::Done{};
  if (container->runs() && container->said) {
    return refused(Cause::Other, "CannotRemoveContainerError", "device or resource busy");
  }
  machine.end(*container, 137, false);
  machine.emit(agent::core::EventKind::Destroyed, *container);
  machine.containers_.erase(std::string(container->id));
  return agent::core::Done{};
}

MachineCalls::Result MachineCalls::operator()(const agent::core::InspectContainer& request) const {
  const SimContainer* const container = machine.find(request.runtime_id_or_name);
  if (container == nullptr) return no_such_container(request.runtime_id_or_name);
  return info_of(*container);
}

MachineCalls::Result MachineCalls::operator()(const agent::core::ListContainers&) const {
  agent::core::Snapshot snapshot;
  for (const auto& [container_id, container] : machine.containers_) {
    snapshot.containers.push_back(info_of(container));
  }
  return snapshot;
}

MachineCalls::Result MachineCalls::operator()(const agent::core::CreateVolume&) const {
  return agent::core::Done{};
}

MachineCalls::Result MachineCalls::operator()(const agent::core::RemoveVolume&) const {
  return agent::core::Done{};
}

MachineCalls::Result MachineCalls::operator()(const agent::core::ShipLogs& request) const {
  const SimContainer* const container = machine.find(request.runtime_id);
  if (container == nullptr) return no_such_container(request.runtime_id);
  if (!container->runs()) return agent::core::Done{};
  machine.log_followers_.emplace(container->id, answer);
  return std::nullopt;
}

MachineCalls::Result MachineCalls::operator()(const agent::core::ProbeGpu& request) const {
  const PhysicalGpu* const gpu = machine.gpus_.find(request.uuid);
  if (gpu == nullptr) {
    return refused(Cause::NotFound, "GpuError", "there is no GPU " + request.uuid);
  }
  if (!gpu->on_bus) return refused(Cause::Other, "GpuError", "GPU is lost");
  for (const std::string& had_it : request.containers) {
    const auto found = machine.containers_.find(had_it);
    if (found == machine.containers_.end() || !found->second.runs()) continue;
    return agent::core::GpuUse{.empty = false,
                               .detail = base::format("container {} has processes", had_it)};
  }
  const auto strangers = std::ranges::count_if(gpu->processes, [&](const auto& process) {
    return std::ranges::find(request.sharers, process.first) == request.sharers.end();
  });
  if (strangers == 0 && gpu->residue_mib == 0) {
    return agent::core::GpuUse{.empty = true, .detail = ""};
  }
  return agent::core::GpuUse{.empty = false,
                             .detail = base::format("{} process(es), {} MiB above its baseline",
                                                    strangers, gpu->residue_mib)};
}

MachineCalls::Result MachineCalls::operator()(const agent::core::EndProcesses& request) const {
  SimContainer* const container = machine.find(request.runtime_id);
  if (container == nullptr) return agent::core::ProcessesSeen{Processes::None, {}};
  if (container->runs()) machine.signal_kill(*container);
  Machine& where = machine;
  const base::Milliseconds looks = where.environment_.between(base::Milliseconds{20}, seconds(2));
  where.environment_.events.after(
      looks, [&where, waiting = answer, asked = request.runtime_id, boot = where.boots_] {
        if (boot != where.boots_) return;
        const SimContainer* const same = where.find(asked);
        const bool runs = same != nullptr && same->runs();
        waiting(agent::core::ProcessesSeen{runs ? Processes::Some : Processes::None, {}});
      });
  return std::nullopt;
}

}  // namespace sim
