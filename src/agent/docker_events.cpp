#include "agent/docker_events.h"

#include <utility>

#include "agent/workers.h"

namespace agent {
namespace {

constexpr base::Milliseconds pause_between_tries{1'000};

int64_t ns_of(base::Time time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

}  // namespace

DockerEvents::DockerEvents(DockerAccess docker, std::string agent_name, Inbox& inbox,
                           base::Clock& clock)
    : docker_(docker),
      agent_name_(std::move(agent_name)),
      inbox_(inbox),
      clock_(clock),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void DockerEvents::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DockerEvents::run(const std::stop_token& stop) {
  std::string told;  // The reason that the driver knows; empty: ready.
  const auto lost = [&](const std::string& reason) {
    if (reason != told) inbox_.push(core::Input(core::RuntimeLost{reason}));
    told = reason;
  };
  while (!stop.stop_requested()) {
    // Events from before the subscription are asked for, so that none is missed in between.
    const int64_t since_ns = ns_of(clock_.now());
    const auto info = docker_.runtime.info();
    if (!info) {
      lost(info.error().message);
      pause(stop, pause_between_tries);
      continue;
    }
    told.clear();
    inbox_.push(core::Input(core::RuntimeReady{}));
    const auto ended = docker_.streams.events(
        {.since_ns = since_ns, .labels = {{"berth.agent", agent_name_}}, .stop = stop},
        [&](const docker::ContainerEvent& event) {
          using enum core::EventKind;
          if (event.kind == Created || event.kind == Other) return true;
          return inbox_.push(core::Input(static_cast<const core::ContainerEvent&>(event)));
        });
    if (stop.stop_requested()) return;
    lost(ended ? "Docker has ended its stream of events." : ended.error().message);
    pause(stop, pause_between_tries);
  }
}

}  // namespace agent
