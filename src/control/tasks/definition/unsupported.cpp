#include <algorithm>

#include "control/tasks/definition/rules.h"

namespace control {
namespace {

using api::ecs::Compatibility;

// One member that Berth does not honour.
struct Refusal {
  bool given = false;
  std::string_view member;
  std::string_view instead;  // What to do: the end of a sentence.
};

base::Result<void> refuse_first(std::string_view prefix, std::initializer_list<Refusal> refusals) {
  for (const Refusal& refusal : refusals) {
    if (!refusal.given) continue;
    return client_error(base::format("{}{} is not offered by this version of Berth: {}.", prefix,
                                     refusal.member, refusal.instead));
  }
  return {};
}

constexpr std::string_view leave_it_out = "leave it out";

base::Result<void> refuse_in_task(const Registration& request) {
  return refuse_first(
      "", {{request.proxy_configuration.has_value(), "proxyConfiguration", leave_it_out},
           {!request.inference_accelerators.empty(), "inferenceAccelerators",
            R"(ask for GPUs with "resourceRequirements": [{"type": "GPU", "value": "1"}])"},
           {request.ephemeral_storage.has_value(), "ephemeralStorage",
            "leave it out: a container has the free space of its instance's disk"},
           {request.enable_fault_injection.value_or(false), "enableFaultInjection true",
            leave_it_out}});
}

base::Result<void> refuse_platform(const Registration& request) {
  const auto& needs = request.requires_compatibilities;
  const bool runs_here = std::ranges::any_of(needs, [](Compatibility one) {
    return one == Compatibility::Ec2 || one == Compatibility::External;
  });
  if (!needs.empty() && !runs_here) {
    return client_error(
        base::format("requiresCompatibilities is {}, and Berth runs tasks on container instances "
                     "of its own: put "
                     "EC2 or EXTERNAL there, or leave it out.",
                     api::to_string(needs.front())));
  }
  const auto& platform = request.runtime_platform;
  const auto system = platform ? platform->operating_system_family : std::nullopt;
  if (system && *system != api::ecs::OSFamily::Linux) {
    return client_error(base::format(
        "runtimePlatform.operatingSystemFamily {} is not offered by Berth: its container instances "
        "run LINUX.",
        api::to_string(*system)));
  }
  return {};
}

base::Result<void> refuse_in_container(const Container& container) {
  const auto& log = container.log_configuration;
  const bool firelens = log && log->log_driver == api::ecs::LogDriver::Awsfirelens;
  const bool credential_spec = std::ranges::any_of(
      container.docker_security_options,
      [](const std::string& option) { return option.starts_with("credentialspec"); });
  return refuse_first(base::format("containerDefinitions[{}].", container.name.value_or("")),
                      {{container.firelens_configuration.has_value(), "firelensConfiguration",
                        "use logConfiguration with another log driver"},
                       {firelens, "logConfiguration.logDriver awsfirelens",
                        "use awslogs, fluentd, gelf, journald, json-file, splunk or syslog"},
                       {!container.credential_specs.empty(), "credentialSpecs", leave_it_out},
                       {credential_spec, "dockerSecurityOptions credentialspec", leave_it_out}});
}

base::Result<void> refuse_in_volume(const api::ecs::Volume& volume) {
  constexpr std::string_view instead = "use host or dockerVolumeConfiguration";
  return refuse_first(
      base::format("volumes[{}].", volume.name.value_or("")),
      {{volume.efs_volume_configuration.has_value(), "efsVolumeConfiguration",
        "mount the file system on the instances and use host, or use dockerVolumeConfiguration"},
       {volume.s3files_volume_configuration.has_value(), "s3filesVolumeConfiguration", instead},
       {volume.fsx_windows_file_server_volume_configuration.has_value(),
        "fsxWindowsFileServerVolumeConfiguration", instead},
       {volume.configured_at_launch.value_or(false), "configuredAtLaunch true", instead}});
}

}  // namespace

base::Result<void> refuse_unsupported(const Registration& request) {
  TRY_VOID(refuse_platform(request));
  TRY_VOID(refuse_in_task(request));
  for (const Container& container : request.container_definitions) {
    TRY_VOID(refuse_in_container(container));
  }
  for (const api::ecs::Volume& volume : request.volumes) TRY_VOID(refuse_in_volume(volume));
  return {};
}

}  // namespace control
