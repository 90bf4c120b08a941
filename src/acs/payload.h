// What a control plane tells an agent about one task: the shapes inside PayloadMessage.
//
// Every member may be absent on the wire: absent texts and lists are empty, numbers whose absence
// differs from 0 are optional. Unknown members are ignored, members named `berth...` are ours and
// ignored by other agents.
// Source: amazon-ecs-agent, ecs-agent/acs/model/api/api-2.json and acs/model/ecsacs/api.go.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/shape.h"

namespace acs {

using StringMap = std::map<std::string, std::string>;

// Temporary keys of a task's role. `credentialsId` is a bearer secret.
struct IAMRoleCredentials {
  std::string credentials_id;
  std::string role_arn;
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
  std::string expiration;  // RFC 3339.
  std::string credential_scope;
  friend bool operator==(const IAMRoleCredentials&, const IAMRoleCredentials&) = default;
};
API_DESCRIBED(IAMRoleCredentials);

// Parts of Docker's create request as JSON texts in Docker's own names. They are decoded over what
// the agent computes itself: objects are merged, everything else is replaced.
struct DockerConfig {
  std::string config;
  std::string host_config;
  std::string version;  // Docker API version, "1.24".
  friend bool operator==(const DockerConfig&, const DockerConfig&) = default;
};
API_DESCRIBED(DockerConfig);

struct PortMapping {
  int32_t container_port = 0;
  int32_t host_port = 0;             // 0: any free port.
  std::string protocol;              // "tcp" (also when empty) or "udp".
  std::string container_port_range;  // "8080-8090" instead of containerPort.
  friend bool operator==(const PortMapping&, const PortMapping&) = default;
};
API_DESCRIBED(PortMapping);

struct MountPoint {
  std::string source_volume;
  std::string container_path;
  bool read_only = false;
  friend bool operator==(const MountPoint&, const MountPoint&) = default;
};
API_DESCRIBED(MountPoint);

struct VolumeFrom {
  std::string source_container;
  bool read_only = false;
  friend bool operator==(const VolumeFrom&, const VolumeFrom&) = default;
};
API_DESCRIBED(VolumeFrom);

struct ContainerDependency {
  std::string container_name;
  std::string condition;  // START, COMPLETE, SUCCESS or HEALTHY.
  friend bool operator==(const ContainerDependency&, const ContainerDependency&) = default;
};
API_DESCRIBED(ContainerDependency);

struct RestartPolicy {
  bool enabled = false;
  std::vector<int32_t> ignored_exit_codes;
  std::optional<int32_t> restart_attempt_period;  // Seconds; the default is 300.
  friend bool operator==(const RestartPolicy&, const RestartPolicy&) = default;
};
API_DESCRIBED(RestartPolicy);

struct Secret {
  std::string name;
  std::string value_from;
  std::string region;
  std::string provider;  // "ssm" or "asm".
  std::string type;      // "ENVIRONMENT_VARIABLE", "MOUNT_POINT" or "BOOTSTRAP".
  std::string target;    // "CONTAINER" or "LOG_DRIVER".
  std::string container_path;
  friend bool operator==(const Secret&, const Secret&) = default;
};
API_DESCRIBED(Secret);

struct EnvironmentFile {
  std::string type;  // "s3".
  std::string value;
  friend bool operator==(const EnvironmentFile&, const EnvironmentFile&) = default;
};
API_DESCRIBED(EnvironmentFile);

struct EcrAuthData {
  std::string region;
  std::string registry_id;
  std::string endpoint_override;
  bool use_execution_role = false;
  friend bool operator==(const EcrAuthData&, const EcrAuthData&) = default;
};
API_DESCRIBED(EcrAuthData);

struct AsmAuthData {
  std::string credentials_parameter;
  std::string region;
  friend bool operator==(const AsmAuthData&, const AsmAuthData&) = default;
};
API_DESCRIBED(AsmAuthData);

struct RegistryAuthentication {
  std::string type;  // "ecr" or "asm".
  std::optional<EcrAuthData> ecr_auth_data;
  std::optional<AsmAuthData> asm_auth_data;
  friend bool operator==(const RegistryAuthentication&, const RegistryAuthentication&) = default;
};
API_DESCRIBED(RegistryAuthentication);

// A share of one GPU through NVIDIA MPS.
struct NvidiaMps {
  int64_t memory = 0;  // MiB of pinned device memory.
  std::optional<int32_t> max_compute_percent;
  friend bool operator==(const NvidiaMps&, const NvidiaMps&) = default;
};
API_DESCRIBED(NvidiaMps);

struct SharingStrategy {
  std::optional<NvidiaMps> nvidia_mps;
  friend bool operator==(const SharingStrategy&, const SharingStrategy&) = default;
};
API_DESCRIBED(SharingStrategy);

struct ResourceRequirement {
  std::string type;  // "GPU".
  std::string value;
  std::optional<SharingStrategy> sharing_strategy;
  friend bool operator==(const ResourceRequirement&, const ResourceRequirement&) = default;
};
API_DESCRIBED(ResourceRequirement);

struct ManagedAgent {
  std::string name;  // "ExecuteCommandAgent".
  StringMap properties;
  friend bool operator==(const ManagedAgent&, const ManagedAgent&) = default;
};
API_DESCRIBED(ManagedAgent);

struct FirelensConfiguration {
  std::string type;
  StringMap options;
  friend bool operator==(const FirelensConfiguration&, const FirelensConfiguration&) = default;
};
API_DESCRIBED(FirelensConfiguration);

struct Container {
  std::string name;
  std::string image;
  std::vector<std::string> command;
  std::vector<std::string> entry_point;
  StringMap environment;  // With all overrides merged in by the control plane.
  std::vector<EnvironmentFile> environment_files;
  int32_t cpu = 0;     // Shares, 1024 = one core.
  int32_t memory = 0;  // Hard limit, MiB; 0: none.
  bool essential = false;
  std::vector<std::string> links;
  std::vector<MountPoint> mount_points;
  std::vector<VolumeFrom> volumes_from;
  std::vector<PortMapping> port_mappings;
  bool privileged = false;
  // A JSON text. Agents accept the key `command` only and refuse the task for any other.
  std::string overrides = "{}";
  std::string container_arn;
  std::optional<DockerConfig> docker_config;
  std::vector<ContainerDependency> depends_on;
  std::string
      health_check_type;  // "docker", lower case, when dockerConfig.config has a Healthcheck.
  std::optional<int32_t> start_timeout;  // Seconds.
  std::optional<int32_t> stop_timeout;   // Seconds.
  std::optional<RestartPolicy> restart_policy;
  std::vector<Secret> secrets;
  std::optional<RegistryAuthentication> registry_authentication;
  std::optional<FirelensConfiguration> firelens_configuration;
  std::string logs_auth_strategy;  // "ExecutionRole".
  std::vector<ManagedAgent> managed_agents;
  std::vector<ResourceRequirement> resource_requirements;  // Only those with a sharingStrategy.
  std::vector<std::string> network_interface_names;
  friend bool operator==(const Container&, const Container&) = default;
};
API_DESCRIBED(Container);

struct HostVolume {
  std::string source_path;  // Empty: a volume that lives as long as the task.
  friend bool operator==(const HostVolume&, const HostVolume&) = default;
};
API_DESCRIBED(HostVolume);

struct DockerVolumeConfiguration {
  bool autoprovision = false;  // Scope shared: make it when it does not exist.
  std::string driver;
  StringMap driver_opts;
  StringMap labels;
  std::string scope;  // "task" (also when empty) or "shared".
  friend bool operator==(const DockerVolumeConfiguration&,
                         const DockerVolumeConfiguration&) = default;
};
API_DESCRIBED(DockerVolumeConfiguration);

struct Volume {
  std::string name;
  std::string type;  // "host" (also when empty) or "docker"; the others need AWS.
  std::optional<HostVolume> host;
  std::optional<DockerVolumeConfiguration> docker_volume_configuration;
  friend bool operator==(const Volume&, const Volume&) = default;
};
API_DESCRIBED(Volume);

struct AssociationContent {
  std::string encoding;  // "base64"
  std::string value;
  friend bool operator==(const AssociationContent&, const AssociationContent&) = default;
};
API_DESCRIBED(AssociationContent);

// One per GPU. Several containers on one GPU are allowed only when all share it through MPS.
struct Association {
  std::string type;  // "gpu"
  std::string name;  // The GPU's UUID.
  std::vector<std::string> containers;
  std::optional<AssociationContent> content;
  friend bool operator==(const Association&, const Association&) = default;
};
API_DESCRIBED(Association);

struct ElasticNetworkInterface {
  std::string attachment_arn;
  std::string ec2_id;
  std::string mac_address;
  friend bool operator==(const ElasticNetworkInterface&, const ElasticNetworkInterface&) = default;
};
API_DESCRIBED(ElasticNetworkInterface);

struct Task {
  std::string arn;
  std::string family;
  std::string version;         // The revision, as text.
  std::string desired_status;  // "RUNNING" or "STOPPED".
  std::string task_cluster_arn;
  std::string task_definition_account_id;
  std::string overrides = "{}";
  std::optional<double> cpu;      // Task-level limit in vCPUs.
  std::optional<int32_t> memory;  // Task-level limit in MiB.
  std::string network_mode;       // "bridge" (also when empty), "host", "awsvpc" or "none".
  std::string pid_mode;           // "host", "task" or empty.
  std::string ipc_mode;           // "host", "task", "none" or empty.
  std::string launch_type;        // "EC2" or "EXTERNAL".
  std::string group;
  std::string service_name;
  std::string zone;
  std::string agent_configuration;
  std::vector<Container> containers;
  std::vector<Volume> volumes;
  std::vector<Association> associations;
  std::vector<ElasticNetworkInterface> elastic_network_interfaces;
  std::optional<IAMRoleCredentials> role_credentials;
  std::optional<IAMRoleCredentials> execution_role_credentials;
  std::optional<bool> enable_fault_injection;

  std::string berth_cpuset;       // Cores of all containers, "0-7"; empty: not pinned.
  std::string berth_stop_reason;  // With desiredStatus STOPPED: why, for the agent's own log.
  friend bool operator==(const Task&, const Task&) = default;
};
API_DESCRIBED(Task);

}  // namespace acs
