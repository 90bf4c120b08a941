#include "docker/fake.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "docker/fake_access.h"

namespace docker {
namespace {

std::unexpected<Error> no_such_container(Operation operation, const std::string& id) {
  return std::unexpected(daemon_error(operation, 404, base::format("No such container: {}", id)));
}

bool matches(const Labels& labels, const Labels& wanted) {
  return std::ranges::all_of(wanted, [&labels](const auto& want) {
    const auto found = labels.find(want.first);
    return found != labels.end() && (want.second.empty() || found->second == want.second);
  });
}

FakeContainer& known(FakeRuntime::State& state, const std::string& id) {
  FakeContainer* container = state.find(id);
  CHECK(container != nullptr);
  return *container;
}

}  // namespace

FakeRuntime::FakeRuntime() {
  auto state = std::make_unique<State>();
  state->info = {.version = "20.10.24",
                 .api_version = "1.41",
                 .root_dir = "/var/lib/docker",
                 .operating_system = "fake",
                 .kernel_version = "6.1",
                 .architecture = "x86_64",
                 .cgroup_driver = "cgroupfs",
                 .cgroup_version = "2",
                 .default_runtime = "runc",
                 .runtimes = {"nvidia", "runc"},
                 .log_drivers = {"awslogs", "fluentd", "gelf", "journald", "json-file", "local",
                                 "splunk", "syslog"},
                 .live_restore = true,
                 .cpus = 8,
                 .memory_bytes = int64_t{64} << 30};
  CHECK(state_.try_push(std::move(state)));
}

FakeRuntime::~FakeRuntime() = default;

void FakeRuntime::set_info(RuntimeInfo info) {
  Held(*this)->info = std::move(info);
}
void FakeRuntime::set_time(base::Time now) {
  Held(*this)->now = now;
}
void FakeRuntime::add_image(const std::string& image) {
  Held(*this)->images.insert(full_image_name(image));
}
void FakeRuntime::forget_image(const std::string& image) {
  Held(*this)->images.erase(full_image_name(image));
}
void FakeRuntime::add_to_registry(const std::string& image) {
  Held(*this)->registry.insert(full_image_name(image));
}

void FakeRuntime::fail_call(Operation operation, uint64_t nth, Error error, Effect effect) {
  const Held state(*this);
  const uint64_t so_far = state->calls_of.at(static_cast<size_t>(operation));
  state->failures.push_back({operation, so_far + nth, std::move(error), effect});
}

void FakeRuntime::fail_any_call(uint64_t nth, Error error, Effect effect) {
  const Held state(*this);
  state->failures.push_back({std::nullopt, state->calls + nth, std::move(error), effect});
}

void FakeRuntime::set_reachable(bool reachable) {
  const Held state(*this);
  state->reachable = reachable;
  if (!reachable) state->end_streams();
}

void FakeRuntime::exit_container(const std::string& id, int32_t exit_code, ExitKind kind) {
  const Held state(*this);
  state->finish(known(*state, id), exit_code, kind);
}

void FakeRuntime::ignore_sigterm(const std::string& id) {
  const Held state(*this);
  known(*state, id).ignores_sigterm = true;
}

void FakeRuntime::set_health(const std::string& id, HealthStatus health) {
  const Held state(*this);
  FakeContainer& container = known(*state, id);
  container.state.health = health;
  const std::string_view word = health == HealthStatus::Healthy ? "healthy" : "unhealthy";
  ContainerEvent& event =
      state->emit(EventKind::HealthChanged, base::format("health_status: {}", word), container);
  event.health = health;
  state->publish(event);
}

void FakeRuntime::write_log(const std::string& id, OutputStream stream, std::string line) {
  const Held state(*this);
  state->write_log(known(*state, id), stream, std::move(line));
}

void FakeRuntime::vanish(const std::string& id) {
  const Held state(*this);
  state->remove(known(*state, id));
}

uint64_t FakeRuntime::calls() const {
  return Held(*this)->calls;
}
uint64_t FakeRuntime::calls(Operation operation) const {
  return Held(*this)->calls_of.at(static_cast<size_t>(operation));
}
std::vector<std::string> FakeRuntime::call_log() const {
  return Held(*this)->call_log;
}

std::vector<ContainerEvent> FakeRuntime::take_events() {
  const Held state(*this);
  const auto begin = state->events.begin() + static_cast<ptrdiff_t>(state->events_taken);
  state->events_taken = state->events.size();
  return {begin, state->events.end()};
}

json::Value FakeRuntime::body_of(const std::string& id) const {
  const Held state(*this);
  return known(*state, id).body;
}

std::vector<std::string> FakeRuntime::container_names() const {
  const Held state(*this);
  std::vector<std::string> names;
  for (const auto& [id, container] : state->containers) names.push_back(container.state.name);
  std::ranges::sort(names);
  return names;
}

bool FakeRuntime::runs(const std::string& id) const {
  const Held state(*this);
  const FakeContainer* const container = state->find(id);
  return container != nullptr && container->running();
}
std::vector<std::string> FakeRuntime::signals_of(const std::string& id) const {
  const Held state(*this);
  return known(*state, id).signals;
}

Result<RuntimeInfo> FakeRuntime::info() {
  const Held state(*this);
  return perform(*state, Operation::Info, "", [&]() -> Result<RuntimeInfo> { return state->info; });
}

Result<void> FakeRuntime::pull(const PullRequest& request, const OnPullProgress& on_progress) {
  const std::string image = full_image_name(request.image);
  {
    const Held state(*this);
    TRY_VOID(perform(*state, Operation::Pull, image, [&]() -> Result<void> {
      if (request.stop.stop_requested()) {
        return std::unexpected(cancelled_error(Operation::Pull));
      }
      if (!state->registry.contains(image)) {
        return std::unexpected(
            pull_error(image, base::format("manifest for {} not found: manifest unknown", image)));
      }
      state->images.insert(image);
      return {};
    }));
  }
  if (on_progress) {
    on_progress({.layers = 1,
                 .layers_done = 1,
                 .bytes_done = 1,
                 .bytes_total = 1,
                 .bytes_expected = 1,
                 .status = "Pull complete"});
  }
  return {};
}

Result<ImageInfo> FakeRuntime::inspect_image(const std::string& image) {
  const Held state(*this);
  const std::string name = full_image_name(image);
  return perform(*state, Operation::InspectImage, name, [&]() -> Result<ImageInfo> {
    if (!state->images.contains(name)) {
      return std::unexpected(
          daemon_error(Operation::InspectImage, 404, base::format("No such image: {}", name)));
    }
    return ImageInfo{.id = "sha256:" + name, .digest = {}, .environment = {}};
  });
}

Result<CreatedContainer> FakeRuntime::create(const std::string& name, const json::Value& body) {
  const Held state(*this);
  return perform(*state, Operation::Create, name, [&] { return state->create(name, body); });
}

Result<void> FakeRuntime::start(const std::string& id) {
  const Held state(*this);
  return perform(*state, Operation::Start, id, [&]() -> Result<void> {
    FakeContainer* container = state->find(id);
    if (container == nullptr) return no_such_container(Operation::Start, id);
    return state->start(*container);
  });
}

Result<void> FakeRuntime::stop(const std::string& id, base::Milliseconds /*timeout*/) {
  const Held state(*this);
  return perform(*state, Operation::Stop, id, [&]() -> Result<void> {
    FakeContainer* container = state->find(id);
    if (container == nullptr) return no_such_container(Operation::Stop, id);
    if (container->running()) state->signal(*container, "SIGTERM");
    if (container->running()) state->signal(*container, "SIGKILL");
    return {};
  });
}

Result<void> FakeRuntime::kill(const std::string& id, const std::string& signal) {
  const Held state(*this);
  return perform(*state, Operation::Kill, id, [&]() -> Result<void> {
    FakeContainer* container = state->find(id);
    if (container == nullptr) return no_such_container(Operation::Kill, id);
    if (!container->running()) {
      return std::unexpected(
          daemon_error(Operation::Kill, 409,
                       base::format("Cannot kill container: {}: Container is not running", id)));
    }
    state->signal(*container, signal);
    return {};
  });
}

Result<void> FakeRuntime::remove(const std::string& id, RemoveOptions options) {
  const Held state(*this);
  return perform(*state, Operation::Remove, id, [&]() -> Result<void> {
    FakeContainer* container = state->find(id);
    if (container == nullptr) return {};
    if (container->running() && !options.force) {
      return std::unexpected(daemon_error(
          Operation::Remove, 409, base::format("You cannot remove a running container {}", id)));
    }
    state->remove(*container);
    return {};
  });
}

Result<ContainerState> FakeRuntime::inspect(const std::string& id) {
  const Held state(*this);
  return perform(*state, Operation::Inspect, id, [&]() -> Result<ContainerState> {
    const FakeContainer* container = state->find(id);
    if (container == nullptr) return no_such_container(Operation::Inspect, id);
    return container->state;
  });
}

Result<std::vector<ContainerSummary>> FakeRuntime::list(const ListFilter& filter) {
  const Held state(*this);
  return perform(*state, Operation::List, "", [&]() -> Result<std::vector<ContainerSummary>> {
    std::vector<ContainerSummary> result;
    for (const auto& [id, container] : state->containers) {
      if (!matches(container.state.labels, filter.labels)) continue;
      result.push_back({id, container.state.name, container.state.image, container.state.labels,
                        container.state.status});
    }
    return result;
  });
}

Result<void> FakeRuntime::events(const EventsRequest& request, const OnEvent& on_event) {
  // Shared with the world, which pushes into it.
  const auto queue = std::make_shared<base::Queue<ContainerEvent>>(State::stream_capacity);
  std::vector<ContainerEvent> past;
  {
    const Held state(*this);
    TRY_VOID(perform(*state, Operation::Events, "", []() -> Result<void> { return {}; }));
    for (const ContainerEvent& event : state->events) {
      if (request.since_ns && event.time_ns >= *request.since_ns) past.push_back(event);
    }
    if (request.stop.stop_possible()) state->listeners.push_back(queue);
  }
  const std::stop_callback stop(request.stop, [&queue] { queue->close(); });
  if (!request.stop.stop_possible()) queue->close();
  const auto tell = [&](const ContainerEvent& event) {
    return !matches(event.labels, request.labels) || on_event(event);
  };
  bool go_on = std::ranges::all_of(past, tell);
  while (go_on) {
    const auto event = queue->pop();
    if (!event) break;
    go_on = tell(*event);
  }
  queue->close();
  const Held state(*this);
  std::erase(state->listeners, queue);
  if (go_on && !state->reachable) {
    return std::unexpected(
        unreachable_error(Operation::Events, "fake://", "it ended the stream of events"));
  }
  return {};
}

Result<void> FakeRuntime::logs(const LogsRequest& request, const OnLogLine& on_line) {
  // Shared with the world, which pushes into it.
  const auto queue = std::make_shared<base::Queue<LogLine>>(State::stream_capacity);
  std::vector<LogLine> past;
  {
    const Held state(*this);
    TRY_VOID(perform(*state, Operation::Logs, request.id, [&]() -> Result<void> {
      FakeContainer* container = state->find(request.id);
      if (container == nullptr) return no_such_container(Operation::Logs, request.id);
      const auto kept = std::ssize(container->log);
      const auto wanted = std::min<ptrdiff_t>(request.tail.value_or(kept), kept);
      past.assign(container->log.end() - wanted, container->log.end());
      if (request.follow && request.stop.stop_possible() && container->running()) {
        container->followers.push_back(queue);
      } else {
        queue->close();
      }
      return {};
    }));
  }
  const std::stop_callback stop(request.stop, [&queue] { queue->close(); });
  bool go_on = std::ranges::all_of(past, [&](LogLine& line) { return on_line(std::move(line)); });
  while (go_on) {
    auto line = queue->pop();
    if (!line) break;
    go_on = on_line(std::move(*line));
  }
  queue->close();
  const Held state(*this);
  if (FakeContainer* container = state->find(request.id)) std::erase(container->followers, queue);
  if (go_on && !state->reachable && !request.stop.stop_requested()) {
    return std::unexpected(
        unreachable_error(Operation::Logs, "fake://", "it ended the stream of logs"));
  }
  return {};
}

Result<ContainerStats> FakeRuntime::stats(const std::string& id) {
  const Held state(*this);
  return perform(*state, Operation::Stats, id, [&]() -> Result<ContainerStats> {
    const FakeContainer* container = state->find(id);
    if (container == nullptr) return no_such_container(Operation::Stats, id);
    if (!container->running()) {
      return fail(Cause::Conflict, std::string(error_code(Operation::Stats)),
                  base::format("container {} is not running", id));
    }
    ContainerStats stats{.read_at = state->now, .raw = json::Value::object()};
    stats.pids = 1;
    return stats;
  });
}

}  // namespace docker
