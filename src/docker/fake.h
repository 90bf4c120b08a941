// A container runtime in memory, for tests and the simulator. Nothing in it moves by itself:
// containers exit, log and change their health when the test says so, and its clock is set.
//
// Deterministic: ids, times and ports depend on the calls only. Thread-safe all the same (the state
// is handed from caller to caller), so that an agent with threads can be tested on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/queue.h"
#include "docker/errors.h"
#include "docker/runtime.h"

namespace docker {

enum class ExitKind { Normal, OutOfMemory };
// Of a call that is made to fail: did the daemon do it all the same, and just the answer was lost?
enum class Effect { None, Done };

class FakeRuntime final : public ContainerRuntime,
                          public ContainerStreams,
                          public ContainerResources {
 public:
  struct State;

  FakeRuntime();
  ~FakeRuntime() override;

  // The world's side. A container is named by its id or its name; an unknown one is a CHECK.

  void set_info(RuntimeInfo info);
  void set_time(base::Time now);             // What containers and events carry from now on.
  void add_image(const std::string& image);  // On the machine; "name" means "name:latest".
  void forget_image(const std::string& image);
  void add_to_registry(const std::string& image);  // So that pull() succeeds.
  // The `nth` call of that operation from now on (1 is the next) answers with this error.
  void fail_call(Operation operation, uint64_t nth, Error error, Effect effect = Effect::None);
  // The `nth` call of any operation from now on.
  void fail_any_call(uint64_t nth, Error error, Effect effect = Effect::None);
  // While false every call fails as Unreachable; turning it false ends the streams.
  void set_reachable(bool reachable);
  // The main process ends. CHECK: the container runs.
  void exit_container(const std::string& id, int32_t exit_code, ExitKind kind = ExitKind::Normal);
  // From now on it takes a SIGKILL to end it: stop() leaves exit code 137, not 143.
  void ignore_sigterm(const std::string& id);
  void set_health(const std::string& id, HealthStatus health);
  void write_log(const std::string& id, OutputStream stream, std::string line);
  // Behind the agent's back: somebody runs `docker rm -f`.
  void vanish(const std::string& id);

  // What the test looks at.

  uint64_t calls() const;  // All calls ever made.
  uint64_t calls(Operation operation) const;
  std::vector<std::string> call_log() const;  // "create ecs-web-1-app", "start ecs-web-1-app".
  std::vector<ContainerEvent> take_events();  // Those since the last take_events().
  json::Value body_of(const std::string& id) const;                  // As it was given to create().
  std::vector<std::string> container_names() const;                  // Sorted.
  std::vector<std::string> network_names() const;                    // Those made, sorted.
  std::vector<std::string> signals_of(const std::string& id) const;  // That it received, in order.
  bool runs(const std::string& id) const;  // False for one that is not there, too.

  Result<RuntimeInfo> info() override;
  // Reports progress once, as one layer that is done.
  Result<void> pull(const PullRequest& request, const OnPullProgress& on_progress) override;
  Result<ImageInfo> inspect_image(const std::string& image) override;
  Result<CreatedContainer> create(const std::string& name, const json::Value& body) override;
  Result<void> start(const std::string& id) override;
  // Does not wait: the container ends at once.
  Result<void> stop(const std::string& id, base::Milliseconds timeout) override;
  Result<void> kill(const std::string& id, const std::string& signal) override;
  Result<void> remove(const std::string& id, RemoveOptions options) override;
  Result<ContainerState> inspect(const std::string& id) override;
  Result<std::vector<ContainerSummary>> list(const ListFilter& filter) override;

  // Both tell what is there; then, where the request's stop_token can ever fire, they wait for more
  // as the real ones do, and otherwise return.
  Result<void> events(const EventsRequest& request, const OnEvent& on_event) override;
  Result<void> logs(const LogsRequest& request, const OnLogLine& on_line) override;
  // Zeros but for the time and one process.
  Result<ContainerStats> stats(const std::string& id) override;

  Result<VolumeInfo> create_volume(const VolumeRequest& request) override;
  Result<VolumeInfo> inspect_volume(const std::string& name) override;
  Result<void> remove_volume(const std::string& name) override;
  Result<void> import_image(const ImageImport& image) override;
  // All of one byte, made when they were added.
  Result<std::vector<ImageSummary>> list_images() override;
  Result<void> remove_image(const std::string& image) override;
  Result<void> create_network(const NetworkRequest& request) override;

 private:
  class Held;

  // Waits for the state's present holder; every method holds it for its own duration only.
  mutable base::Queue<std::unique_ptr<State>> state_{1};
};

}  // namespace docker
