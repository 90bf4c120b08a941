#include "agent/core/bounds_check.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "agent/core/container_network.h"
#include "agent/core/container_volumes.h"
#include "base/format.h"
#include "model/task_bounds.h"

namespace agent::core {
namespace {

// Members that are of the container alone. Source: Docker Engine API, ContainerCreate.
constexpr auto harmless_of_body = std::to_array<std::string_view>(
    {"Image",        "Cmd",          "Entrypoint",  "Env",
     "Hostname",     "Domainname",   "User",        "WorkingDir",
     "Labels",       "Tty",          "OpenStdin",   "StdinOnce",
     "Shell",        "StopSignal",   "Healthcheck", "Volumes",
     "ExposedPorts", "StopTimeout",  "MacAddress",  "HostConfig",
     "AttachStdout", "AttachStderr", "AttachStdin", "NetworkDisabled"});
constexpr auto harmless_of_host = std::to_array<std::string_view>({"PortBindings",
                                                                   "CpuShares",
                                                                   "CpuPeriod",
                                                                   "CpuQuota",
                                                                   "CpusetCpus",
                                                                   "Memory",
                                                                   "MemoryReservation",
                                                                   "MemorySwap",
                                                                   "MemorySwappiness",
                                                                   "PidsLimit",
                                                                   "LogConfig",
                                                                   "ShmSize",
                                                                   "Tmpfs",
                                                                   "Init",
                                                                   "Ulimits",
                                                                   "Sysctls",
                                                                   "ReadonlyRootfs",
                                                                   "Dns",
                                                                   "DnsSearch",
                                                                   "DnsOptions",
                                                                   "ExtraHosts",
                                                                   "CapDrop",
                                                                   "NanoCpus"});

bool says_nothing(const json::Value& value) {
  if (value.is_null()) return true;
  if (value.is_object()) return value.fields().empty();
  if (value.is_array()) return value.items().empty();
  if (const auto flag = value.as_bool()) return !*flag;
  if (const auto number = value.as_int64()) return *number == 0;
  return value.text_or("x").empty();
}

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// "/data" of "/data:/x:ro".
std::string source_of(const std::string& bind) {
  return bind.substr(0, bind.find(':'));
}

class Check {
 public:
  Check(const Config& config, const Task& task) : bounds_(config.bounds) {
    for (const ContainerRecord& container : task.record.containers) {
      own_containers_.insert(container.docker_name);
    }
    for (const VolumeWork& volume : volumes_to_make(task.payload)) {
      if (may_make(config, task.payload, volume)) {
        own_volumes_.insert(volume.docker_name);
      }
    }
  }

  base::Result<void> body(const json::Value& body) {
    for (const json::Field& field : body.fields()) {
      if (is_among(harmless_of_body, field.name) || says_nothing(field.value)) {
        continue;
      }
      return refuse(base::format("Docker's setting {} is not allowed", field.name));
    }
    return {};
  }

  base::Result<void> host(const json::Value& host) {
    for (const json::Field& field : host.fields()) {
      if (!is_among(harmless_of_host, field.name) && !says_nothing(field.value)) {
        TRY_VOID(member(field.name, field.value));
      }
    }
    return {};
  }

 private:
  base::Result<void> member(const std::string& name, const json::Value& value) {
    if (name == "NetworkMode") {
      const std::string mode = value.text_or("host");
      const bool own_network = mode == "bridge" || mode == "default" || mode == "none" ||
                               mode == task_network || is_own(mode);
      return own_network ? base::Result<void>() : need(model::needs::host_network);
    }
    if (name == "PidMode" || name == "IpcMode") {
      const std::string mode = value.text_or("host");
      if (mode == "none" || mode == "private" || mode == "shareable" || is_own(mode)) return {};
      return need(name == "PidMode" ? model::needs::host_pid : model::needs::host_ipc);
    }
    if (name == "Privileged") return need(model::needs::privileged);
    if (name == "Devices") return need(model::needs::devices);
    if (name == "Binds") return each(value, [this](const std::string& one) { return bind(one); });
    if (name == "VolumesFrom" || name == "Links") {
      return each(value, [this](const std::string& one) {
        return own_containers_.contains(source_of(one)) ? base::Result<void>()
                                                        : need(model::needs::docker_volumes);
      });
    }
    if (name == "CapAdd") {
      return each(value,
                  [this](const std::string& one) { return need(model::need_of_capability(one)); });
    }
    if (name == "SecurityOpt") {
      return each(value, [this](const std::string& one) {
        return model::needs_security_option(one) ? need(model::needs::security_options)
                                                 : base::Result<void>();
      });
    }
    return refuse(base::format("Docker's setting HostConfig.{} is not allowed", name));
  }

  template <class One>
  base::Result<void> each(const json::Value& list, One one) {
    if (!list.is_array()) return refuse("a setting of Docker that is no list is not allowed");
    for (const json::Value& item : list.items()) TRY_VOID(one(item.text_or("")));
    return {};
  }

  base::Result<void> bind(const std::string& bind) {
    const std::string source = source_of(bind);
    if (!source.starts_with('/')) {
      return own_volumes_.contains(source) ? base::Result<void>()
                                           : need(model::needs::docker_volumes);
    }
    for (const std::string& one : model::needs_of_host_path(source, model::sockets_of_runtimes())) {
      TRY_VOID(need(one));
    }
    return {};
  }

  // "container:<name>" of another container of the task.
  bool is_own(const std::string& mode) const {
    constexpr std::string_view prefix = "container:";
    return mode.starts_with(prefix) && own_containers_.contains(mode.substr(prefix.size()));
  }

  base::Result<void> need(std::string_view what) const {
    if (model::permits(bounds_, what)) return {};
    return refuse(base::format("{}", model::not_allowed(what)),
                  base::format(" ({})", model::allowed_by(what)));
  }

  std::unexpected<base::Error> refuse(const std::string& what, const std::string& fix = "") const {
    return base::fail(std::string(not_allowed_error),
                      base::format("{} on this container instance{}.", what, fix));
  }

  const model::TaskBounds& bounds_;
  std::set<std::string> own_containers_;
  std::set<std::string> own_volumes_;
};

}  // namespace

base::Result<void> check_bounds(const Config& config, const Task& task, const json::Value& body,
                                const json::Value& host) {
  if (!config.bounds.bounded) return {};
  Check check(config, task);
  TRY_VOID(check.body(body));
  return check.host(host);
}

std::vector<std::string> mounted_host_paths(const json::Value& host) {
  std::vector<std::string> paths;
  for (const json::Value& bind : host["Binds"].items()) {
    const std::string source = source_of(bind.text_or(""));
    if (source.starts_with('/')) paths.push_back(source);
  }
  return paths;
}

bool may_make(const Config& config, const acs::Task& task, const VolumeWork& volume) {
  const CreateVolume request = create_volume_request(task, volume);
  const bool plain =
      volume.of_the_task && request.driver == "local" && request.driver_options.empty();
  return plain || model::permits(config.bounds, model::needs::docker_volumes);
}

}  // namespace agent::core
