#include <algorithm>
#include <array>
#include <set>

#include "control/tasks/definition/rules.h"
#include "model/gpu_doors.h"

namespace control {
namespace {

// Source: ECS API reference, KernelCapabilities.
constexpr auto kernel_capabilities = std::to_array<std::string_view>(
    {"ALL",        "AUDIT_CONTROL",   "AUDIT_WRITE",      "BLOCK_SUSPEND",
     "CHOWN",      "DAC_OVERRIDE",    "DAC_READ_SEARCH",  "FOWNER",
     "FSETID",     "IPC_LOCK",        "IPC_OWNER",        "KILL",
     "LEASE",      "LINUX_IMMUTABLE", "MAC_ADMIN",        "MAC_OVERRIDE",
     "MKNOD",      "NET_ADMIN",       "NET_BIND_SERVICE", "NET_BROADCAST",
     "NET_RAW",    "SETFCAP",         "SETGID",           "SETPCAP",
     "SETUID",     "SYS_ADMIN",       "SYS_BOOT",         "SYS_CHROOT",
     "SYS_MODULE", "SYS_NICE",        "SYS_PACCT",        "SYS_PTRACE",
     "SYS_RAWIO",  "SYS_RESOURCE",    "SYS_TIME",         "SYS_TTY_CONFIG",
     "SYSLOG",     "WAKE_ALARM"});

// Source: ECS API reference, Tmpfs. Some take a value, "mode=1777".
constexpr auto mount_options = std::to_array<std::string_view>(
    {"defaults",   "ro",          "rw",         "suid",        "nosuid",        "dev",     "nodev",
     "exec",       "noexec",      "sync",       "async",       "dirsync",       "remount", "mand",
     "nomand",     "atime",       "noatime",    "diratime",    "nodiratime",    "bind",    "rbind",
     "unbindable", "runbindable", "private",    "rprivate",    "shared",        "rshared", "slave",
     "rslave",     "relatime",    "norelatime", "strictatime", "nostrictatime", "mode",    "uid",
     "gid",        "nr_inodes",   "nr_blocks",  "mpol"});

// Source: ECS API reference, SystemControl.
constexpr auto ipc_controls = std::to_array<std::string_view>(
    {"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.sem", "kernel.shmall",
     "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced"});

template <class Names>
bool is_one_of(std::string_view text, const Names& names) {
  return std::ranges::find(names, text) != names.end();
}

base::Result<void> check_capabilities(const Container& container,
                                      const api::List<std::string>& names) {
  for (const std::string& name : names) {
    if (is_one_of(name, kernel_capabilities)) continue;
    return invalid_setting(
        container, base::format("linuxParameters.capabilities has \"{}\", which is no Linux "
                                "capability that ECS knows: write it as NET_ADMIN, without CAP_.",
                                name.substr(0, 100)));
  }
  return {};
}

base::Result<void> check_devices(const Container& container,
                                 const api::List<api::ecs::Device>& devices) {
  for (const api::ecs::Device& device : devices) {
    const std::string host_path = device.host_path.value_or("");
    if (!host_path.starts_with('/')) {
      return invalid_setting(container, base::format("linuxParameters.devices: hostPath \"{}\" "
                                                     "must be an absolute path.",
                                                     host_path));
    }
    if (model::holds_gpu_devices(host_path)) {
      return invalid_setting(
          container,
          base::format(
              "linuxParameters.devices takes GPUs by the path {}, past their book-keeping. "
              R"(Use "resourceRequirements": [{{"type": "GPU", "value": "1"}}] instead.)",
              host_path));
    }
    const std::string path = device.container_path.value_or(host_path);
    if (!path.starts_with('/')) {
      return invalid_setting(container, base::format("linuxParameters.devices: containerPath "
                                                     "\"{}\" must be an absolute path.",
                                                     path));
    }
  }
  return {};
}

base::Result<void> check_tmpfs(const Container& container,
                               const api::List<api::ecs::Tmpfs>& mounts) {
  for (const api::ecs::Tmpfs& mount : mounts) {
    const std::string path = mount.container_path.value_or("");
    if (!path.starts_with('/')) {
      return invalid_setting(
          container,
          base::format("linuxParameters.tmpfs: containerPath \"{}\" must be an absolute path.",
                       path));
    }
    if (mount.size.value_or(0) < 1) {
      return invalid_setting(
          container,
          base::format("linuxParameters.tmpfs: size of {} must be 1 MiB or more.", path));
    }
    for (const std::string& option : mount.mount_options) {
      const std::string_view name = std::string_view(option).substr(0, option.find('='));
      if (is_one_of(name, mount_options)) continue;
      return invalid_setting(container, base::format("linuxParameters.tmpfs: \"{}\" is no mount "
                                                     "option that ECS knows.",
                                                     option.substr(0, 100)));
    }
  }
  return {};
}

// Source: ECS API reference, LinuxParameters.
base::Result<void> check_linux_parameters(const Container& container) {
  if (!container.linux_parameters) return {};
  const api::ecs::LinuxParameters& parameters = *container.linux_parameters;
  if (parameters.capabilities) {
    TRY_VOID(check_capabilities(container, parameters.capabilities->add));
    TRY_VOID(check_capabilities(container, parameters.capabilities->drop));
  }
  TRY_VOID(check_devices(container, parameters.devices));
  TRY_VOID(check_tmpfs(container, parameters.tmpfs));
  if (parameters.shared_memory_size && *parameters.shared_memory_size < 1) {
    return invalid_setting(container, "linuxParameters.sharedMemorySize must be 1 MiB or more.");
  }
  const int32_t max_swap = parameters.max_swap.value_or(0);
  if (max_swap < 0) {
    return invalid_setting(container, "linuxParameters.maxSwap must be 0 or more MiB.");
  }
  if (parameters.max_swap && container.memory.value_or(0) == 0) {
    return invalid_setting(
        container,
        "linuxParameters.maxSwap is counted on top of the container's memory: give memory, too.");
  }
  const int32_t swappiness = parameters.swappiness.value_or(0);
  if (swappiness < 0 || swappiness > 100) {
    return invalid_setting(container, base::format("linuxParameters.swappiness is {}; it must be "
                                                   "between 0 and 100.",
                                                   swappiness));
  }
  return {};
}

base::Result<void> check_ulimits(const Container& container) {
  std::set<api::ecs::UlimitName> names;
  for (const api::ecs::Ulimit& limit : container.ulimits) {
    if (!limit.name || !limit.soft_limit || !limit.hard_limit) {
      return invalid_setting(container, "A ulimit needs name, softLimit and hardLimit.");
    }
    const std::string_view name = api::to_string(*limit.name);
    if (!names.insert(*limit.name).second) {
      return invalid_setting(container, base::format("The ulimit {} is given twice.", name));
    }
    // -1 is no limit.
    const bool within = *limit.hard_limit == -1 ||
                        (*limit.soft_limit != -1 && *limit.soft_limit <= *limit.hard_limit);
    if (!within || *limit.hard_limit < -1 || *limit.soft_limit < -1) {
      return invalid_setting(
          container, base::format("The ulimit {} has softLimit {} and hardLimit {}; the soft limit "
                                  "must not be greater than the hard one.",
                                  name, *limit.soft_limit, *limit.hard_limit));
    }
  }
  return {};
}

// Source: ECS API reference, SystemControl; ECS Developer Guide, "System controls".
base::Result<void> check_system_controls(const Registration& request, const Container& container) {
  std::set<std::string> names;
  for (const api::ecs::SystemControl& control : container.system_controls) {
    const std::string name = control.namespace_.value_or("");
    const bool net = name.starts_with("net.");
    const bool ipc = name.starts_with("fs.mqueue.") || is_one_of(name, ipc_controls);
    if (!net && !ipc) {
      return invalid_setting(
          container,
          base::format("systemControls has the namespace \"{}\"; it must be one of {}, or begin "
                       "with fs.mqueue. or net.",
                       name.substr(0, 255), base::join(ipc_controls, ", ")));
    }
    if (control.value.value_or("").empty()) {
      return invalid_setting(container, base::format("systemControls: {} needs a value.", name));
    }
    if (!names.insert(name).second) {
      return invalid_setting(container, base::format("systemControls has {} twice.", name));
    }
    if (net && request.network_mode == api::ecs::NetworkMode::Host) {
      return invalid_setting(container, base::format("systemControls: {} cannot be set with the "
                                                     "network mode host.",
                                                     name));
    }
    if (ipc && request.ipc_mode == api::ecs::IpcMode::Host) {
      return invalid_setting(
          container, base::format("systemControls: {} cannot be set with the ipcMode host.", name));
    }
  }
  return {};
}

// Source: ECS API reference, ContainerDefinition, dockerSecurityOptions.
base::Result<void> check_security_options(const Container& container) {
  for (const std::string& option : container.docker_security_options) {
    const bool known = option.starts_with("no-new-privileges") || option.starts_with("apparmor") ||
                       option.starts_with("label");
    if (known) continue;
    return invalid_setting(container,
                           base::format("dockerSecurityOptions has \"{}\"; an option begins with "
                                        "no-new-privileges, apparmor: or label:.",
                                        option.substr(0, 100)));
  }
  return {};
}

}  // namespace

base::Result<void> check_linux(const Registration& request, const Container& container) {
  TRY_VOID(check_linux_parameters(container));
  TRY_VOID(check_ulimits(container));
  TRY_VOID(check_system_controls(request, container));
  return check_security_options(container);
}

}  // namespace control
