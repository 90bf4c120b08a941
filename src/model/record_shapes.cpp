// The members of the records of clusters, instances and tasks, and what they are called in JSON.
#include "api/describe.h"
#include "model/record_types.h"

namespace model {

API_DESCRIBE_ENUM(TaskStatus, {TaskStatus::Provisioning, "PROVISIONING"},
                  {TaskStatus::Pending, "PENDING"}, {TaskStatus::Activating, "ACTIVATING"},
                  {TaskStatus::Running, "RUNNING"}, {TaskStatus::Deactivating, "DEACTIVATING"},
                  {TaskStatus::Stopping, "STOPPING"},
                  {TaskStatus::Deprovisioning, "DEPROVISIONING"}, {TaskStatus::Stopped, "STOPPED"});
API_DESCRIBE_ENUM(ClusterStatus, {ClusterStatus::Active, "ACTIVE"},
                  {ClusterStatus::Inactive, "INACTIVE"});
API_DESCRIBE_ENUM(InstanceStatus, {InstanceStatus::Registering, "REGISTERING"},
                  {InstanceStatus::Active, "ACTIVE"}, {InstanceStatus::Draining, "DRAINING"},
                  {InstanceStatus::Deregistering, "DEREGISTERING"},
                  {InstanceStatus::Inactive, "INACTIVE"});

API_DESCRIBE(Cluster, API_MEMBER(name, "name"), API_MEMBER(status, "status"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(tags, "tags"),
             API_MEMBER(settings, "settings"), API_MEMBER(configuration, "configuration"),
             API_MEMBER(service_connect_namespace, "serviceConnectNamespace"),
             API_MEMBER(capacity_providers, "capacityProviders"),
             API_MEMBER(default_capacity_provider_strategy, "defaultCapacityProviderStrategy"));

API_DESCRIBE(TaskDefinition, API_MEMBER(family, "family"), API_MEMBER(revision, "revision"),
             API_MEMBER(definition, "definition"), API_MEMBER(tags, "tags"));

API_DESCRIBE(NvLink, API_MEMBER(peer, "peer"), API_MEMBER(lanes, "lanes"));
API_DESCRIBE(GpuDevice, API_MEMBER(uuid, "uuid"), API_MEMBER(model, "model"),
             API_MEMBER(architecture, "architecture"), API_MEMBER(memory_mib, "memoryMiB"),
             API_MEMBER(pci_bus_id, "pciBusId"), API_MEMBER(pcie_switch, "pcieSwitch"),
             API_MEMBER(numa_node, "numaNode"), API_MEMBER(cpu_list, "cpuList"),
             API_MEMBER(nvlinks, "nvLinks"), API_MEMBER(nics, "nics"),
             API_MEMBER(mig_profile, "migProfile"), API_MEMBER(mig_parent, "migParent"),
             API_MEMBER(mps_capable, "mpsCapable"), API_MEMBER(emulated, "emulated"),
             API_MEMBER(healthy, "healthy"), API_MEMBER(health_reason, "healthReason"));
API_DESCRIBE(GpuRecord, API_MEMBER(device, "device"), API_MEMBER(quarantined, "quarantined"),
             API_MEMBER(unproven_tasks, "unprovenTasks"),
             API_MEMBER(released_unproven, "releasedUnproven"));

API_DESCRIBE(HostPort, API_MEMBER(port, "port"), API_MEMBER(udp, "udp"));
API_DESCRIBE(InstanceRecord, API_MEMBER(arn, "arn"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(ec2_instance_id, "ec2InstanceId"), API_MEMBER(status, "status"),
             API_MEMBER(version, "version"), API_MEMBER(registered_at, "registeredAt"),
             API_MEMBER(agent_version, "agentVersion"), API_MEMBER(agent_hash, "agentHash"),
             API_MEMBER(docker_version, "dockerVersion"), API_MEMBER(external, "external"),
             API_MEMBER(emulated_instance_type, "emulatedInstanceType"),
             API_MEMBER(gpu_driver_version, "gpuDriverVersion"), API_MEMBER(cpu_units, "cpuUnits"),
             API_MEMBER(memory_mib, "memoryMiB"), API_MEMBER(reserved_ports, "reservedPorts"),
             API_MEMBER(attributes, "attributes"), API_MEMBER(gpus, "gpus"),
             API_MEMBER(tags, "tags"), API_MEMBER(agent_connected, "agentConnected"),
             API_MEMBER(agent_silent, "agentSilent"), API_MEMBER(status_reason, "statusReason"),
             API_MEMBER(connected_changed_at, "connectedChangedAt"),
             API_MEMBER(capacity_provider, "capacityProvider"));

API_DESCRIBE(GpuAssignment, API_MEMBER(container, "container"), API_MEMBER(gpu, "gpu"),
             API_MEMBER(shared, "shared"), API_MEMBER(memory_mib, "memoryMiB"),
             API_MEMBER(milli, "milli"), API_MEMBER(max_compute_percent, "maxComputePercent"));
API_DESCRIBE(HeldResources, API_MEMBER(cpu_units, "cpuUnits"), API_MEMBER(memory_mib, "memoryMiB"),
             API_MEMBER(host_ports, "hostPorts"), API_MEMBER(gpus, "gpus"),
             API_MEMBER(cpuset, "cpuset"));
API_DESCRIBE(TaskContainer, API_MEMBER(name, "name"), API_MEMBER(arn, "arn"),
             API_MEMBER(image, "image"), API_MEMBER(image_digest, "imageDigest"),
             API_MEMBER(runtime_id, "runtimeId"), API_MEMBER(last_status, "lastStatus"),
             API_MEMBER(exit_code, "exitCode"), API_MEMBER(reason, "reason"),
             API_MEMBER(network_bindings, "networkBindings"),
             API_MEMBER(health_status, "healthStatus"));
API_DESCRIBE(Task, API_MEMBER(arn, "arn"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(instance, "instance"), API_MEMBER(definition, "definition"),
             API_MEMBER(last_status, "lastStatus"), API_MEMBER(desired_status, "desiredStatus"),
             API_MEMBER(version, "version"), API_MEMBER(group, "group"),
             API_MEMBER(started_by, "startedBy"), API_MEMBER(launch_type, "launchType"),
             API_MEMBER(overrides, "overrides"), API_MEMBER(tags, "tags"),
             API_MEMBER(enable_execute_command, "enableExecuteCommand"), API_MEMBER(held, "held"),
             API_MEMBER(containers, "containers"), API_MEMBER(stop_code, "stopCode"),
             API_MEMBER(stopped_reason, "stoppedReason"), API_MEMBER(created_at, "createdAt"),
             API_MEMBER(started_at, "startedAt"), API_MEMBER(stopping_at, "stoppingAt"),
             API_MEMBER(stopped_at, "stoppedAt"), API_MEMBER(pull_started_at, "pullStartedAt"),
             API_MEMBER(pull_stopped_at, "pullStoppedAt"),
             API_MEMBER(execution_stopped_at, "executionStoppedAt"), API_MEMBER(stage, "stage"),
             API_MEMBER(pull_percent, "pullPercent"), API_MEMBER(subnet, "subnet"),
             API_MEMBER(protected_until, "protectedUntil"),
             API_MEMBER(capacity_provider, "capacityProvider"), API_MEMBER(waiting, "waiting"),
             API_MEMBER(gang_environment, "gangEnvironment"));
API_DESCRIBE(ClientToken, API_MEMBER(cluster, "cluster"), API_MEMBER(token, "token"),
             API_MEMBER(operation, "operation"), API_MEMBER(request_hash, "requestHash"),
             API_MEMBER(tasks, "tasks"), API_MEMBER(failures, "failures"),
             API_MEMBER(used_at, "usedAt"));
API_DESCRIBE(AgentKey, API_MEMBER(id, "id"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(instance, "instance"), API_MEMBER(created_at, "createdAt"),
             API_MEMBER(join_token, "joinToken"));
API_DESCRIBE(JoinToken, API_MEMBER(id, "id"), API_MEMBER(cluster, "cluster"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(expires_at, "expiresAt"),
             API_MEMBER(uses, "uses"), API_MEMBER(joined, "joined"),
             API_MEMBER(instance, "instance"));
API_DESCRIBE(SequenceNumbersRecord, API_MEMBER(reserved_until, "reservedUntil"));
API_DESCRIBE(AccountSettingRecord, API_MEMBER(name, "name"), API_MEMBER(value, "value"));
API_DESCRIBE(DeletedRevisionsRecord, API_MEMBER(family, "family"), API_MEMBER(newest, "newest"));

}  // namespace model
