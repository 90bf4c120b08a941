// The container runtime of a machine, as the agent sees it: three small interfaces, implemented by
// the Docker Engine API (client.h) and by an in-memory fake (fake.h).
//
// Every call blocks until the runtime has answered and may be made from several threads at once.
// Source of all shapes: Docker Engine API reference, v1.24 to v1.43.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "container/error.h"
#include "container/facts.h"
#include "json/value.h"

namespace docker {

using container::Binding;
using container::Cause;
using container::ContainerInfo;
using container::CreatedContainer;
using container::Error;
using container::EventKind;
using container::fail;
using container::HealthStatus;
using container::ImageInfo;
using container::Result;
using container::RuntimeStatus;

using Labels = std::map<std::string, std::string>;

struct RuntimeInfo {
  std::string id{};         // Of this installation of the daemon.
  std::string version;      // "20.10.24"
  std::string api_version;  // As negotiated: "1.41".
  std::string root_dir;     // Where images and volumes lie: "/var/lib/docker".
  std::string operating_system;
  std::string kernel_version;
  std::string architecture;              // "x86_64"
  std::string cgroup_driver;             // "systemd" or "cgroupfs"
  std::string cgroup_version;            // "1" or "2"
  std::string default_runtime;           // "runc"
  std::vector<std::string> runtimes;     // Sorted: "nvidia", "runc".
  std::vector<std::string> log_drivers;  // Sorted.
  std::string default_log_driver{};      // Of containers that name none: "json-file".
  bool live_restore = false;             // Containers survive a restart of the daemon.
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
};

struct RegistryAuth {
  std::string username;
  std::string password;
  std::string server;  // "registry.example.com"; may be empty.
};

struct PullRequest {
  std::string image;  // "busybox", "host:5000/a/b:tag", "a@sha256:..."; no tag means ":latest".
  std::optional<RegistryAuth> auth{};
  std::stop_token stop{};
  // Gives up with Cause::Timeout when the daemon reports nothing for so long.
  base::Milliseconds inactivity_timeout = std::chrono::minutes(1);
};

// Sums over the layers that the daemon has named so far.
struct PullProgress {
  uint32_t layers = 0;
  uint32_t layers_done = 0;
  uint64_t bytes_done = 0;
  uint64_t bytes_total = 0;  // Grows as layers become known.
  // bytes_total and, for each layer whose size is not known yet, as much as the others have on
  // average; 0 when no size is known.
  uint64_t bytes_expected = 0;
  std::string status;  // The daemon's latest line: "Pulling fs layer".
};
using OnPullProgress = std::function<void(const PullProgress&)>;

// What the agent alone looks at, behind what every runtime tells.
struct ContainerState : ContainerInfo {
  std::string image;  // As given at creation.
  bool tty = false;
  Labels log_options;  // Of its log driver.
};

// One entry of list(): what the daemon tells without an inspect of each.
struct ContainerSummary {
  std::string id;
  std::string name;
  std::string image;
  Labels labels;
  RuntimeStatus status = RuntimeStatus::Created;
};

struct ListFilter {
  Labels labels{};  // All must match; an empty value matches any value of that label.
};

struct RemoveOptions {
  bool force = false;    // Kills it first if it runs.
  bool volumes = false;  // Removes its anonymous volumes too.
};

class ContainerRuntime {
 public:
  virtual ~ContainerRuntime() = default;

  // Also the ping: succeeds only when the daemon answers and speaks a version that is understood.
  // Errors: CannotGetDockerClientError.
  virtual Result<RuntimeInfo> info() = 0;
  // Errors: CannotPullContainerError, DockerTimeoutError. `on_progress` runs on the calling thread
  // and may be null.
  virtual Result<void> pull(const PullRequest& request, const OnPullProgress& on_progress) = 0;
  // Errors: CannotInspectImageError; Cause::NotFound when the image is not on this machine.
  virtual Result<ImageInfo> inspect_image(const std::string& image) = 0;
  // `body` has the shape of POST /containers/create: {Image, Cmd, Env, HostConfig: {..}, ..}.
  // A port of HostConfig.PortBindings is published only when ExposedPorts names it too.
  // Errors: CannotCreateContainerError; Conflict when the name is taken, NotFound when the image is
  // not on this machine.
  virtual Result<CreatedContainer> create(const std::string& name, const json::Value& body) = 0;
  // Succeeds when it runs already. Errors: CannotStartContainerError; Conflict when a host port is
  // taken.
  virtual Result<void> start(const std::string& id) = 0;
  // Sends the image's STOPSIGNAL (or SIGTERM), waits `timeout` (whole seconds), then SIGKILL, and
  // returns when it has stopped; success when it was not running. Errors: CannotStopContainerError.
  virtual Result<void> stop(const std::string& id, base::Milliseconds timeout) = 0;
  // `signal` is a name: "SIGKILL". Errors: CannotStopContainerError; Conflict when it is not
  // running.
  virtual Result<void> kill(const std::string& id, const std::string& signal) = 0;
  // Succeeds when it is gone already. Errors: CannotRemoveContainerError; Conflict when it runs and
  // `force` is not set.
  virtual Result<void> remove(const std::string& id, RemoveOptions options) = 0;
  // `id` may be a name. Errors: CannotInspectContainerError.
  virtual Result<ContainerState> inspect(const std::string& id) = 0;
  // All containers, stopped ones included. Errors: CannotListContainersError.
  virtual Result<std::vector<ContainerSummary>> list(const ListFilter& filter) = 0;
  // All of the above on an id that no longer exists: ContainerVanishedError with Cause::NotFound.
};

struct ContainerEvent : container::ContainerEvent {
  std::string action;  // As the daemon says it: "start", "health_status: healthy".
  Labels labels;
  int64_t time_ns = 0;  // Since 1970.
};
// Runs on the calling thread; false ends the stream.
using OnEvent = std::function<bool(const ContainerEvent&)>;

struct EventsRequest {
  // Nanoseconds since 1970, inclusive: events that happened from then on are told first, so a
  // caller that lost the stream asks again with the last time_ns and sees that event twice. Without
  // it, what happens before the daemon has taken up the request is missed. The daemon remembers
  // its last 256 events (until it restarts), so after a longer gap list() tells the truth.
  std::optional<int64_t> since_ns{};
  Labels labels{};
  std::stop_token stop{};
};

enum class OutputStream { Stdout, Stderr };

struct LogLine {
  OutputStream stream = OutputStream::Stdout;
  int64_t time_ns = 0;  // When the daemon read its first byte; since 1970.
  std::string bytes;    // Without the newline. Not necessarily UTF-8.
  // False for every piece but the last of a line longer than max_log_line_bytes.
  bool complete = true;
};
// Runs on the calling thread; false ends the stream.
using OnLogLine = std::function<bool(LogLine&&)>;

// The longest event that PutLogEvents took for years: 262144 bytes less 26 of overhead.
inline constexpr size_t max_log_line_bytes = 262'118;

struct LogsRequest {
  std::string id;
  // Only the last so many pieces of what is kept: a line longer than 16 KiB is several of them, and
  // the first one told may be the end of such a line. All that is kept without it.
  std::optional<int64_t> tail{};
  // Goes on until the container has stopped. Docker 20.10 may end it early where the reader is
  // slow: what is not told yet is had by asking again.
  bool follow = false;
  std::stop_token stop{};
};

struct ContainerStats {
  base::Time read_at{};
  uint64_t cpu_total_ns = 0;   // Of all its processes, since its start.
  uint64_t system_cpu_ns = 0;  // Of the machine, all cpus; 0 when the daemon does not tell.
  uint32_t online_cpus = 0;
  uint64_t memory_usage_bytes = 0;  // Without the reclaimable page cache, as `docker stats` shows.
  uint64_t memory_limit_bytes = 0;
  uint64_t network_rx_bytes = 0;
  uint64_t network_tx_bytes = 0;
  uint64_t block_read_bytes = 0;
  uint64_t block_write_bytes = 0;
  uint64_t pids = 0;
  json::Value raw{};  // The daemon's own document, as the task metadata endpoint hands it out.
};

class ContainerStreams {
 public:
  virtual ~ContainerStreams() = default;

  // Events of containers, until the stop_token fires or on_event says false (success) or the daemon
  // goes away (Cause::Unreachable; the caller asks again with since_ns).
  virtual Result<void> events(const EventsRequest& request, const OnEvent& on_event) = 0;
  // Lines in the daemon's order. Success: all told, or the caller ended it. The container's log
  // driver must be one that can be read ("json-file", "local", "journald").
  virtual Result<void> logs(const LogsRequest& request, const OnLogLine& on_line) = 0;
  // One sample. Errors: CannotGetStatsError; Conflict when it is not running.
  virtual Result<ContainerStats> stats(const std::string& id) = 0;
};

struct VolumeRequest {
  std::string name;
  std::string driver = "local";
  Labels driver_options{};
  Labels labels{};
};

struct VolumeInfo {
  std::string name;
  std::string driver;
  std::string mount_point;
  Labels labels;
};

struct ImageImport {
  std::string name;                      // "berth/pause:1"
  std::string archive;                   // A tar of its root.
  std::vector<std::string> entry_point;  // The image's own.
};

// One entry of list_images().
struct ImageSummary {
  std::string id;                  // "sha256:..."
  std::vector<std::string> names;  // Sorted: "busybox:latest", "busybox@sha256:...".
  base::Time created_at{};
  uint64_t size_bytes = 0;
};

struct NetworkRequest {
  std::string name;
  std::string driver = "bridge";
  Labels labels{};
};

class ContainerResources {
 public:
  virtual ~ContainerResources() = default;

  // Succeeds with the existing one when it has the same driver and options, as Docker does.
  // Errors: CannotCreateVolumeError.
  virtual Result<VolumeInfo> create_volume(const VolumeRequest& request) = 0;
  // Errors: CannotInspectVolumeError; NotFound.
  virtual Result<VolumeInfo> inspect_volume(const std::string& name) = 0;
  // Succeeds when it is gone already. Errors: CannotRemoveVolumeError; Conflict when in use.
  virtual Result<void> remove_volume(const std::string& name) = 0;

  // Errors: CannotImportImageError.
  virtual Result<void> import_image(const ImageImport& image) = 0;
  // Those with a name. Errors: CannotListImagesError.
  virtual Result<std::vector<ImageSummary>> list_images() = 0;
  // By name or id; success when it is gone already. Errors: CannotRemoveImageError; Conflict when a
  // container has it.
  virtual Result<void> remove_image(const std::string& image) = 0;

  // Afterwards there is one of that name and no second. Errors: CannotCreateNetworkError.
  virtual Result<void> create_network(const NetworkRequest& request) = 0;
};

}  // namespace docker
