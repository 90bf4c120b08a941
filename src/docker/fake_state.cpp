#include "docker/fake_state.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "base/units.h"
#include "docker/wire.h"

namespace docker {
namespace {

constexpr int32_t killed = 137;
constexpr int32_t terminated = 143;

// The bindings that HostConfig.PortBindings asks for; host port 0 where the runtime chooses.
std::vector<Binding> wanted_bindings(const json::Value& body) {
  std::vector<Binding> result;
  const json::Value& host_config = body["HostConfig"];
  if (host_config["NetworkMode"].text_or("") == "host") return result;
  const auto number = [](std::string_view text) {
    return base::parse_number<uint16_t>(text).value_or(0);
  };
  for (const json::Field& field : host_config["PortBindings"].fields()) {
    const size_t slash = field.name.find('/');
    for (const json::Value& binding : field.value.items()) {
      const std::string host_ip = binding["HostIp"].text_or("");
      result.push_back({number(std::string_view(field.name).substr(0, slash)),
                        host_ip.empty() ? "0.0.0.0" : host_ip,
                        number(binding["HostPort"].text_or("")), field.name.ends_with("/udp")});
    }
  }
  return result;
}

bool same_port(const Binding& left, const Binding& right) {
  return left.host_port == right.host_port && left.udp == right.udp;
}

}  // namespace

std::string full_image_name(const std::string& image) {
  const ImageName name = split_image(image);
  return base::format("{}{}{}", name.repository,
                      name.tag.find(':') == std::string::npos ? ":" : "@", name.tag);
}

FakeContainer* FakeRuntime::State::find(const std::string& id) {
  if (const auto found = containers.find(id); found != containers.end()) return &found->second;
  const auto named = std::ranges::find_if(
      containers, [&id](const auto& entry) { return entry.second.state.name == id; });
  return named == containers.end() ? nullptr : &named->second;
}

std::optional<FakeFailure> FakeRuntime::State::count_call(Operation operation,
                                                          const std::string& subject) {
  const FakeContainer* container = find(subject);
  call_log.push_back(base::format("{} {}", operation_name(operation),
                                  container == nullptr ? subject : container->state.name));
  ++calls;
  const uint64_t nth = ++calls_of.at(static_cast<size_t>(operation));
  const auto due = std::ranges::find_if(failures, [&](const FakeFailure& failure) {
    return failure.operation ? *failure.operation == operation && failure.at_call == nth
                             : failure.at_call == calls;
  });
  if (due != failures.end()) {
    FakeFailure failure = std::move(*due);
    failures.erase(due);
    return failure;
  }
  if (reachable) return std::nullopt;
  return FakeFailure{operation, nth, unreachable_error(operation, "fake://", "Connection refused"),
                     Effect::None};
}

int64_t FakeRuntime::State::next_time_ns() {
  last_time_ns = std::max(last_time_ns + 1, now.time_since_epoch().count() * base::ns_per_ms);
  return last_time_ns;
}

int64_t FakeRuntime::State::log_time_ns(const FakeContainer& container) const {
  const int64_t now_ms = now.time_since_epoch().count();
  const int64_t last_ns = container.log.empty() ? -1 : container.log.back().time_ns;
  return last_ns / base::ns_per_ms == now_ms && last_ns >= 0 ? last_ns + 1
                                                             : now_ms * base::ns_per_ms;
}

Result<CreatedContainer> FakeRuntime::State::create(const std::string& name,
                                                    const json::Value& body) {
  const std::string image = body["Image"].text_or("");
  if (!images.contains(full_image_name(image))) {
    return std::unexpected(
        daemon_error(Operation::Create, 404, base::format("No such image: {}", image)));
  }
  if (const FakeContainer* taken = find(name); taken != nullptr) {
    return std::unexpected(daemon_error(
        Operation::Create, 409,
        base::format("Conflict. The container name \"/{}\" is already in use by container \"{}\".",
                     name, taken->state.runtime_id)));
  }
  FakeContainer container;
  container.state.runtime_id = base::format("{:064x}", ++containers_made);
  container.state.name = name.empty() ? container.state.runtime_id.substr(52) : name;
  container.state.image = image;
  container.state.image_id = "sha256:" + full_image_name(image);
  for (const json::Field& label : body["Labels"].fields()) {
    container.state.labels[label.name] = label.value.text_or("");
  }
  for (const json::Field& option : body["HostConfig"]["LogConfig"]["Config"].fields()) {
    container.state.log_options[option.name] = option.value.text_or("");
  }
  container.state.tty = body["Tty"].as_bool().value_or(false);
  if (body["Healthcheck"].is_object()) container.state.health = HealthStatus::Starting;
  container.state.created_at = now;
  container.body = body;
  const std::string id = container.state.runtime_id;
  const auto placed = containers.emplace(id, std::move(container)).first;
  publish(emit(EventKind::Created, "create", placed->second));
  return CreatedContainer{id};
}

Result<void> FakeRuntime::State::start(FakeContainer& container) {
  if (container.running()) return {};
  std::vector<Binding> bindings = wanted_bindings(container.body);
  const auto taken = [this](const Binding& wanted) {
    return std::ranges::any_of(containers, [&wanted](const auto& entry) {
      return std::ranges::any_of(entry.second.state.bindings, [&wanted](const Binding& held) {
        return same_port(held, wanted);
      });
    });
  };
  for (Binding& binding : bindings) {
    if (binding.host_port != 0 && taken(binding)) {
      return std::unexpected(daemon_error(
          Operation::Start, 500,
          base::format("driver failed programming external connectivity: Bind for {}:{} failed: "
                       "port is already allocated",
                       binding.host_ip, binding.host_port)));
    }
    while (binding.host_port == 0 || taken(binding)) binding.host_port = next_port++;
  }
  ContainerState& state = container.state;
  state.bindings = std::move(bindings);
  state.status = RuntimeStatus::Running;
  state.exit_code = 0;
  state.oom_killed = false;
  state.pid = 1000 + static_cast<int64_t>(containers_made);
  state.started_at = now;
  state.finished_at = std::nullopt;
  if (container.body["HostConfig"]["NetworkMode"].text_or("") != "host") {
    state.ip_addresses = {base::format("172.17.0.{}", 2 + (containers_made % 250))};
  }
  publish(emit(EventKind::Started, "start", container));
  return {};
}

void FakeRuntime::State::signal(FakeContainer& container, const std::string& name) {
  container.signals.push_back(name);
  if (name == "SIGKILL") {
    finish(container, killed, ExitKind::Normal);
  } else if (name == "SIGTERM" && !container.ignores_sigterm) {
    finish(container, terminated, ExitKind::Normal);
  }
}

void FakeRuntime::State::finish(FakeContainer& container, int32_t exit_code, ExitKind kind) {
  ContainerState& state = container.state;
  CHECK(container.running());
  state.status = RuntimeStatus::Exited;
  state.exit_code = exit_code;
  state.oom_killed = kind == ExitKind::OutOfMemory;
  state.pid = 0;
  state.finished_at = now;
  state.bindings.clear();
  state.ip_addresses.clear();
  if (state.oom_killed) publish(emit(EventKind::OutOfMemory, "oom", container));
  ContainerEvent& died = emit(EventKind::Died, "die", container);
  died.exit_code = exit_code;
  publish(died);
  for (const auto& follower : container.followers) follower->close();
  container.followers.clear();
}

void FakeRuntime::State::remove(FakeContainer& container) {
  if (container.running()) signal(container, "SIGKILL");
  publish(emit(EventKind::Destroyed, "destroy", container));
  const std::string id = container.state.runtime_id;  // The erased container cannot name itself.
  containers.erase(id);
}

void FakeRuntime::State::write_log(FakeContainer& container, OutputStream stream,
                                   std::string line) {
  container.log.push_back({stream, log_time_ns(container), std::move(line)});
  for (const auto& follower : container.followers) {
    // A follower that has gone closed its queue; any other has room.
    CHECK(follower->try_push(LogLine(container.log.back())) || follower->closed());
  }
}

ContainerEvent& FakeRuntime::State::emit(EventKind kind, std::string action,
                                         const FakeContainer& container) {
  ContainerEvent& event = events.emplace_back();
  event.kind = kind;
  event.runtime_id = container.state.runtime_id;
  event.action = std::move(action);
  event.labels = container.state.labels;
  event.time_ns = next_time_ns();
  return event;
}

void FakeRuntime::State::publish(const ContainerEvent& event) {
  for (const auto& listener : listeners) {
    // A listener that has gone closed its queue; any other has room.
    CHECK(listener->try_push(ContainerEvent(event)) || listener->closed());
  }
}

void FakeRuntime::State::end_streams() {
  for (const auto& listener : listeners) listener->close();
  listeners.clear();
  for (auto& [id, container] : containers) {
    for (const auto& follower : container.followers) follower->close();
    container.followers.clear();
  }
}

}  // namespace docker
