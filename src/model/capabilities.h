// What an agent can do, in the attribute names of the ECS agent: a task definition requires those
// of the features it uses, a container instance registers those it has.
// Source: amazon-ecs-agent, agent/app/agent_capability.go.
#pragma once

#include <array>
#include <string_view>

namespace model {

inline constexpr std::string_view capability_privileged =
    "com.amazonaws.ecs.capability.privileged-container";
inline constexpr std::string_view capability_selinux = "com.amazonaws.ecs.capability.selinux";
inline constexpr std::string_view capability_apparmor = "com.amazonaws.ecs.capability.apparmor";
inline constexpr std::string_view capability_health_check = "ecs.capability.container-health-check";
inline constexpr std::string_view capability_ordering = "ecs.capability.container-ordering";
inline constexpr std::string_view capability_restart_policy =
    "ecs.capability.container-restart-policy";
inline constexpr std::string_view capability_pid_ipc = "ecs.capability.pid-ipc-namespace-sharing";
inline constexpr std::string_view capability_gpu_sharing = "ecs.capability.gpu-sharing-mps";
inline constexpr std::string_view capability_task_network = "ecs.capability.task-eni";
inline constexpr std::string_view capability_port_range =
    "ecs.capability.network.container-port-range";
inline constexpr std::string_view capability_environment_files = "ecs.capability.env-files.s3";
inline constexpr std::string_view capability_task_role =
    "com.amazonaws.ecs.capability.task-iam-role";
// Secrets of containers and of log drivers.
inline constexpr std::string_view capability_ssm_secrets =
    "ecs.capability.secrets.ssm.environment-variables";
inline constexpr std::string_view capability_asm_secrets =
    "ecs.capability.secrets.asm.environment-variables";
inline constexpr std::string_view capability_ssm_log_secrets =
    "ecs.capability.secrets.ssm.bootstrap.log-driver";
inline constexpr std::string_view capability_asm_log_secrets =
    "ecs.capability.secrets.asm.bootstrap.log-driver";
inline constexpr std::string_view capability_private_registry =
    "ecs.capability.private-registry-authentication.secretsmanager";

// Followed by a Docker API version, a log driver's name and a volume driver's name.
inline constexpr std::string_view capability_docker_api_prefix =
    "com.amazonaws.ecs.capability.docker-remote-api.";
inline constexpr std::string_view capability_log_driver_prefix =
    "com.amazonaws.ecs.capability.logging-driver.";
inline constexpr std::string_view capability_volume_driver_prefix = "ecs.capability.docker-plugin.";

// With the value "x86_64" or "arm64".
inline constexpr std::string_view attribute_cpu_architecture = "ecs.cpu-architecture";
// With Berth's version; other agents have none.
inline constexpr std::string_view attribute_berth_agent = "berth.agent";
// With the address at which the machine's neighbours reach it: as Berth's agent knows it, else
// where the agent's session comes from.
inline constexpr std::string_view attribute_host_address = "berth.host-address";
// With the machine's name, as people know it; of an emulated machine, its host's and its own.
inline constexpr std::string_view attribute_host_name = "berth.host-name";
// Told by DescribeContainerInstances: the last claim of another machine to what this one has.
inline constexpr std::string_view attribute_refused_claim = "berth.refused-claim";
// With a digest that tells the machine from others.
inline constexpr std::string_view attribute_machine = "berth.machine";

// Names that begin so tell what an agent can do: an agent registers them, and no client sets them.
inline constexpr auto prefixes_of_agents =
    std::to_array<std::string_view>({"berth.", "ecs.", "com.amazonaws.ecs."});
constexpr bool is_of_agents(std::string_view attribute) {
  for (const std::string_view prefix : prefixes_of_agents) {
    if (attribute.starts_with(prefix)) return true;
  }
  return false;
}

// What every agent of Berth registers. Beside these, as far as its machine has them:
// capability_gpu_sharing where NVIDIA MPS can run, capability_selinux and capability_apparmor where
// Docker reports them, capability_volume_driver_prefix with each volume plugin of Docker, and
// attribute_cpu_architecture.
inline constexpr auto capabilities_of_every_agent = std::to_array<std::string_view>({
    "com.amazonaws.ecs.capability.docker-remote-api.1.17",
    "com.amazonaws.ecs.capability.docker-remote-api.1.18",
    "com.amazonaws.ecs.capability.docker-remote-api.1.19",
    "com.amazonaws.ecs.capability.docker-remote-api.1.20",
    "com.amazonaws.ecs.capability.docker-remote-api.1.21",
    "com.amazonaws.ecs.capability.docker-remote-api.1.22",
    "com.amazonaws.ecs.capability.docker-remote-api.1.23",
    "com.amazonaws.ecs.capability.docker-remote-api.1.24",
    "com.amazonaws.ecs.capability.docker-remote-api.1.25",
    "com.amazonaws.ecs.capability.docker-remote-api.1.26",
    "com.amazonaws.ecs.capability.docker-remote-api.1.27",
    "com.amazonaws.ecs.capability.docker-remote-api.1.28",
    "com.amazonaws.ecs.capability.docker-remote-api.1.29",
    "com.amazonaws.ecs.capability.logging-driver.awslogs",
    "com.amazonaws.ecs.capability.logging-driver.fluentd",
    "com.amazonaws.ecs.capability.logging-driver.gelf",
    "com.amazonaws.ecs.capability.logging-driver.journald",
    "com.amazonaws.ecs.capability.logging-driver.json-file",
    "com.amazonaws.ecs.capability.logging-driver.splunk",
    "com.amazonaws.ecs.capability.logging-driver.syslog",
    capability_privileged,
    capability_health_check,
    capability_ordering,
    capability_restart_policy,
    capability_pid_ipc,
    capability_task_network,
    capability_port_range,
    capability_environment_files,
    capability_task_role,
    capability_ssm_secrets,
    capability_asm_secrets,
    capability_ssm_log_secrets,
    capability_asm_log_secrets,
    capability_private_registry,
    "ecs.capability.docker-plugin.local",
});

}  // namespace model
