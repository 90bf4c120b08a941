#include "acs/payload.h"

#include "api/describe.h"

namespace acs {

API_DESCRIBE(IAMRoleCredentials, API_MEMBER(credentials_id, "credentialsId"),
             API_MEMBER(role_arn, "roleArn"), API_MEMBER(access_key_id, "accessKeyId"),
             API_MEMBER(secret_access_key, "secretAccessKey"),
             API_MEMBER(session_token, "sessionToken"), API_MEMBER(expiration, "expiration"),
             API_MEMBER(credential_scope, "credentialScope"));
API_DESCRIBE(DockerConfig, API_MEMBER(config, "config"), API_MEMBER(host_config, "hostConfig"),
             API_MEMBER(version, "version"));
API_DESCRIBE(PortMapping, API_MEMBER(container_port, "containerPort"),
             API_MEMBER(host_port, "hostPort"), API_MEMBER(protocol, "protocol"),
             API_MEMBER(container_port_range, "containerPortRange"));
API_DESCRIBE(MountPoint, API_MEMBER(source_volume, "sourceVolume"),
             API_MEMBER(container_path, "containerPath"), API_MEMBER(read_only, "readOnly"));
API_DESCRIBE(VolumeFrom, API_MEMBER(source_container, "sourceContainer"),
             API_MEMBER(read_only, "readOnly"));
API_DESCRIBE(ContainerDependency, API_MEMBER(container_name, "containerName"),
             API_MEMBER(condition, "condition"));
API_DESCRIBE(RestartPolicy, API_MEMBER(enabled, "enabled"),
             API_MEMBER(ignored_exit_codes, "ignoredExitCodes"),
             API_MEMBER(restart_attempt_period, "restartAttemptPeriod"));
API_DESCRIBE(Secret, API_MEMBER(name, "name"), API_MEMBER(value_from, "valueFrom"),
             API_MEMBER(region, "region"), API_MEMBER(provider, "provider"),
             API_MEMBER(type, "type"), API_MEMBER(target, "target"),
             API_MEMBER(container_path, "containerPath"));
API_DESCRIBE(EnvironmentFile, API_MEMBER(type, "type"), API_MEMBER(value, "value"));
API_DESCRIBE(EcrAuthData, API_MEMBER(region, "region"), API_MEMBER(registry_id, "registryId"),
             API_MEMBER(endpoint_override, "endpointOverride"),
             API_MEMBER(use_execution_role, "useExecutionRole"));
API_DESCRIBE(AsmAuthData, API_MEMBER(credentials_parameter, "credentialsParameter"),
             API_MEMBER(region, "region"));
API_DESCRIBE(RegistryAuthentication, API_MEMBER(type, "type"),
             API_MEMBER(ecr_auth_data, "ecrAuthData"), API_MEMBER(asm_auth_data, "asmAuthData"));
API_DESCRIBE(NvidiaMps, API_MEMBER(memory, "memory"),
             API_MEMBER(max_compute_percent, "maxComputePercent"));
API_DESCRIBE(SharingStrategy, API_MEMBER(nvidia_mps, "nvidiaMps"));
API_DESCRIBE(ResourceRequirement, API_MEMBER(type, "type"), API_MEMBER(value, "value"),
             API_MEMBER(sharing_strategy, "sharingStrategy"));
API_DESCRIBE(ManagedAgent, API_MEMBER(name, "name"), API_MEMBER(properties, "properties"));
API_DESCRIBE(FirelensConfiguration, API_MEMBER(type, "type"), API_MEMBER(options, "options"));
API_DESCRIBE(Container, API_MEMBER(name, "name"), API_MEMBER(image, "image"),
             API_MEMBER(command, "command"), API_MEMBER(entry_point, "entryPoint"),
             API_MEMBER(environment, "environment"),
             API_MEMBER(environment_files, "environmentFiles"), API_MEMBER(cpu, "cpu"),
             API_MEMBER(memory, "memory"), API_MEMBER(essential, "essential"),
             API_MEMBER(links, "links"), API_MEMBER(mount_points, "mountPoints"),
             API_MEMBER(volumes_from, "volumesFrom"), API_MEMBER(port_mappings, "portMappings"),
             API_MEMBER(privileged, "privileged"), API_MEMBER(overrides, "overrides"),
             API_MEMBER(container_arn, "containerArn"), API_MEMBER(docker_config, "dockerConfig"),
             API_MEMBER(depends_on, "dependsOn"), API_MEMBER(health_check_type, "healthCheckType"),
             API_MEMBER(start_timeout, "startTimeout"), API_MEMBER(stop_timeout, "stopTimeout"),
             API_MEMBER(restart_policy, "restartPolicy"), API_MEMBER(secrets, "secrets"),
             API_MEMBER(registry_authentication, "registryAuthentication"),
             API_MEMBER(firelens_configuration, "firelensConfiguration"),
             API_MEMBER(logs_auth_strategy, "logsAuthStrategy"),
             API_MEMBER(managed_agents, "managedAgents"),
             API_MEMBER(resource_requirements, "resourceRequirements"),
             API_MEMBER(network_interface_names, "networkInterfaceNames"));
API_DESCRIBE(HostVolume, API_MEMBER(source_path, "sourcePath"));
API_DESCRIBE(DockerVolumeConfiguration, API_MEMBER(autoprovision, "autoprovision"),
             API_MEMBER(driver, "driver"), API_MEMBER(driver_opts, "driverOpts"),
             API_MEMBER(labels, "labels"), API_MEMBER(scope, "scope"));
API_DESCRIBE(Volume, API_MEMBER(name, "name"), API_MEMBER(type, "type"), API_MEMBER(host, "host"),
             API_MEMBER(docker_volume_configuration, "dockerVolumeConfiguration"));
API_DESCRIBE(AssociationContent, API_MEMBER(encoding, "encoding"), API_MEMBER(value, "value"));
API_DESCRIBE(Association, API_MEMBER(type, "type"), API_MEMBER(name, "name"),
             API_MEMBER(containers, "containers"), API_MEMBER(content, "content"));
API_DESCRIBE(ElasticNetworkInterface, API_MEMBER(attachment_arn, "attachmentArn"),
             API_MEMBER(ec2_id, "ec2Id"), API_MEMBER(mac_address, "macAddress"));
API_DESCRIBE(
    Task, API_MEMBER(arn, "arn"), API_MEMBER(family, "family"), API_MEMBER(version, "version"),
    API_MEMBER(desired_status, "desiredStatus"), API_MEMBER(task_cluster_arn, "taskClusterArn"),
    API_MEMBER(task_definition_account_id, "taskDefinitionAccountId"),
    API_MEMBER(overrides, "overrides"), API_MEMBER(cpu, "cpu"), API_MEMBER(memory, "memory"),
    API_MEMBER(network_mode, "networkMode"), API_MEMBER(pid_mode, "pidMode"),
    API_MEMBER(ipc_mode, "ipcMode"), API_MEMBER(launch_type, "launchType"),
    API_MEMBER(group, "group"), API_MEMBER(service_name, "serviceName"), API_MEMBER(zone, "zone"),
    API_MEMBER(agent_configuration, "agentConfiguration"), API_MEMBER(containers, "containers"),
    API_MEMBER(volumes, "volumes"), API_MEMBER(associations, "associations"),
    API_MEMBER(elastic_network_interfaces, "elasticNetworkInterfaces"),
    API_MEMBER(role_credentials, "roleCredentials"),
    API_MEMBER(execution_role_credentials, "executionRoleCredentials"),
    API_MEMBER(enable_fault_injection, "enableFaultInjection"),
    API_MEMBER(berth_cpuset, "berthCpuset"), API_MEMBER(berth_stop_reason, "berthStopReason"));

}  // namespace acs
