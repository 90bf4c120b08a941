#include "model/records.h"

#include "api/describe.h"
#include "api/json.h"
#include "base/format.h"
#include "model/derived.h"
#include "model/print_record.h"
#include "model/record_types.h"
#include "model/records_capacity.h"
#include "model/records_services.h"

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
             API_MEMBER(status_reason, "statusReason"),
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

namespace {

InstanceRecord record_of(const ContainerInstance& instance) {
  InstanceRecord record{
      .arn = instance.arn,
      .cluster = instance.cluster,
      .ec2_instance_id = instance.ec2_instance_id,
      .status = instance.status,
      .version = instance.version,
      .registered_at = instance.registered_at,
      .agent_version = instance.agent_version,
      .agent_hash = instance.agent_hash,
      .docker_version = instance.docker_version,
      .external = instance.external,
      .emulated_instance_type = instance.emulated_instance_type,
      .gpu_driver_version = instance.gpu_driver_version,
      .cpu_units = instance.cpu_units,
      .memory_mib = instance.memory_mib,
      .reserved_ports = {instance.reserved_ports.begin(), instance.reserved_ports.end()},
      .attributes = instance.attributes,
      .gpus = {},
      .tags = instance.tags,
      .agent_connected = instance.agent_connected,
      .status_reason = instance.status_reason,
      .connected_changed_at = instance.connected_changed_at,
      .capacity_provider = instance.capacity_provider};
  for (const GpuSlot& gpu : instance.gpus) {
    const bool quarantined = gpu.state == GpuState::Quarantined;
    record.gpus.push_back({gpu.device,
                           quarantined ? gpu.reason : std::string(),
                           {gpu.unproven_tasks.begin(), gpu.unproven_tasks.end()},
                           gpu.released_unproven});
  }
  return record;
}

ContainerInstance instance_from(InstanceRecord record) {
  ContainerInstance instance;
  instance.arn = std::move(record.arn);
  instance.cluster = std::move(record.cluster);
  instance.ec2_instance_id = std::move(record.ec2_instance_id);
  instance.status = record.status;
  instance.version = record.version;
  instance.registered_at = record.registered_at;
  instance.agent_version = std::move(record.agent_version);
  instance.agent_hash = std::move(record.agent_hash);
  instance.docker_version = std::move(record.docker_version);
  instance.external = record.external;
  instance.emulated_instance_type = std::move(record.emulated_instance_type);
  instance.gpu_driver_version = std::move(record.gpu_driver_version);
  instance.cpu_units = record.cpu_units;
  instance.memory_mib = record.memory_mib;
  instance.reserved_ports = {record.reserved_ports.begin(), record.reserved_ports.end()};
  instance.attributes = std::move(record.attributes);
  for (GpuRecord& gpu : record.gpus) {
    const bool quarantined = !gpu.quarantined.empty();
    instance.gpus.push_back(
        {.device = std::move(gpu.device),
         .state = quarantined ? GpuState::Quarantined : GpuState::Idle,
         .reason = std::move(gpu.quarantined),
         .unproven_tasks = {gpu.unproven_tasks.begin(), gpu.unproven_tasks.end()},
         .released_unproven = gpu.released_unproven,
         .holders = {}});
  }
  instance.tags = std::move(record.tags);
  instance.agent_connected = record.agent_connected;
  instance.status_reason = std::move(record.status_reason);
  instance.connected_changed_at = record.connected_changed_at;
  instance.capacity_provider = std::move(record.capacity_provider);
  return instance;
}

constexpr std::string_view cluster_prefix = "cluster/";
constexpr std::string_view definition_prefix = "task-definition/";
constexpr std::string_view deleted_revisions_prefix = "deleted-revisions/";
constexpr std::string_view instance_prefix = "instance/";
constexpr std::string_view task_prefix = "task/";
constexpr std::string_view token_prefix = "client-token/";
constexpr std::string_view agent_key_prefix = "agent-key/";
constexpr std::string_view join_token_prefix = "join-token/";
constexpr std::string_view account_setting_prefix = "account-setting/";
constexpr std::string_view sequence_numbers_key = "sequence-numbers";

std::string key_of(const InstanceArn& arn) {
  std::string_view resource = behind_account(arn.str());
  resource.remove_prefix(resource.find('/') + 1);
  return std::string(instance_prefix) + std::string(resource);
}
std::string key_of(const TaskArn& arn) {
  return std::string(behind_account(arn.str()));
}
std::string key_of(const CapacityProviderName& name) {
  return capacity_key_of(name);
}
std::string key_of(const ClusterName& name) {
  return std::string(cluster_prefix) + name.str();
}
std::string key_of(const TaskDefinitionArn& arn) {
  const std::string_view name = short_id(arn.str());
  const size_t colon = name.rfind(':');
  return base::format("{}{}/{}", definition_prefix, name.substr(0, colon), name.substr(colon + 1));
}
std::string key_of(const ClusterName& cluster, std::string_view token) {
  return base::format("{}{}/{}", token_prefix, cluster.str(), token);
}

struct KeysOf {
  const ClusterState& state;
  std::set<std::string>& keys;

  void operator()(const ClusterPut& change) const { keys.insert(key_of(change.cluster.name)); }
  void operator()(const ClusterDeleted& change) const { keys.insert(key_of(change.cluster)); }
  void operator()(const TaskDefinitionRegistered& change) const {
    keys.insert(key_of(
        TaskDefinitionArn(change.task_definition.definition.task_definition_arn.value_or(""))));
  }
  void operator()(const TaskDefinitionDeregistered& change) const {
    keys.insert(key_of(change.arn));
  }
  void operator()(const TaskDefinitionDeleted& change) const {
    keys.insert(key_of(change.arn));
    const std::string_view name = short_id(change.arn.str());
    keys.insert(base::format("{}{}", deleted_revisions_prefix, name.substr(0, name.rfind(':'))));
  }
  void operator()(const InstanceRegistered& change) const {
    keys.insert(key_of(change.instance.arn));
  }
  void operator()(const TaskQueued& change) const { keys.insert(key_of(change.task.arn)); }
  void operator()(const TaskWaits&) const {}
  void operator()(const TaskPlaced& change) const { keys.insert(key_of(change.task.arn)); }
  void operator()(const TaskReported& change) const {
    keys.insert(key_of(change.arn));
    const Task* const task = find_task(state, change.arn);
    if (!change.gpu_releases.empty() && task != nullptr) keys.insert(key_of(task->instance));
  }
  void operator()(const TaskAcknowledged&) const {}
  void operator()(const TagsSet& change) const {
    std::visit([this](const auto& resource) { keys.insert(key_of(resource)); }, change.resource);
  }
  void operator()(const AutoScalingGroupForgotten& change) const {
    keys.insert(capacity_key_of(change));
    keys.insert(scaling_activities_key(change.name));
  }
  void operator()(const ServicePut& change) const { keys.insert(key_of(change.service.arn)); }
  void operator()(const ServiceEventAdded& change) const { keys.insert(events_key_of(change.arn)); }
  void operator()(const ServiceRevisionPut& change) const {
    keys.insert(key_of(change.revision.arn));
  }
  void operator()(const ServiceDeploymentPut& change) const {
    keys.insert(key_of(change.deployment.arn));
  }
  void operator()(const ServiceForgotten& change) const {
    keys.insert(key_of(change.arn));
    keys.insert(events_key_of(change.arn));
  }
  void operator()(const InstanceObserved&) const {}
  void operator()(const AgentKeyPut& change) const {
    keys.insert(std::string(agent_key_prefix) + change.key.id);
  }
  void operator()(const AgentKeyRemoved& change) const {
    keys.insert(std::string(agent_key_prefix) + change.id);
  }
  void operator()(const JoinTokenPut& change) const {
    keys.insert(std::string(join_token_prefix) + change.token.id);
  }
  void operator()(const JoinTokenRemoved& change) const {
    keys.insert(std::string(join_token_prefix) + change.id);
  }
  void operator()(const AccountSettingPut& change) const {
    keys.insert(std::string(account_setting_prefix) + change.name);
  }
  void operator()(const AccountSettingRemoved& change) const {
    keys.insert(std::string(account_setting_prefix) + change.name);
  }
  void operator()(const SequenceNumbersReserved&) const {
    keys.insert(std::string(sequence_numbers_key));
  }
  void operator()(const ClientTokenUsed& change) const {
    keys.insert(key_of(change.token.cluster, change.token.token));
  }
  void operator()(const ClientTokenExpired& change) const {
    keys.insert(key_of(change.cluster, change.token));
  }
  // The rest alters the one thing that its ARN names, or is of capacity.
  template <class OneThing>
  void operator()(const OneThing& change) const {
    if constexpr (requires { capacity_key_of(change); }) {
      keys.insert(capacity_key_of(change));
    } else {
      keys.insert(key_of(change.arn));
    }
  }
};

// What stands behind `prefix`; nullopt when the key has another one.
std::optional<std::string_view> behind(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return std::nullopt;
  return key.substr(prefix.size());
}

base::Error corrupt(std::string_view key, std::string_view why) {
  return {"StoreCorrupt",
          base::format("The record {} cannot be read: {}. Restore a backup, or repair the record.",
                       key, why)};
}

template <class Record>
base::Result<Record> read(std::string_view key, std::string_view value) {
  auto record = api::parse<Record>(value);
  if (!record) return base::fail(corrupt(key, record.error().message));
  return std::move(*record);
}

}  // namespace

void add_record_keys(const ClusterState& state, const Change& change, std::set<std::string>& keys) {
  std::visit(KeysOf{state, keys}, change);
}

RecordEncoder::RecordEncoder(const ClusterState& state, const Account& account)
    : state_(state), account_(account) {}

std::optional<std::string> RecordEncoder::encode(std::string_view key) const {
  if (const auto id = behind(key, task_prefix)) {
    const size_t slash = id->find('/');
    const Task* const task = find_task(
        state_, task_arn(account_, ClusterName(id->substr(0, slash)), id->substr(slash + 1)));
    return task == nullptr ? std::nullopt : std::optional(api::print(*task));
  }
  if (const auto id = behind(key, instance_prefix)) {
    const size_t slash = id->find('/');
    const ContainerInstance* const instance = find_instance(
        state_, instance_arn(account_, ClusterName(id->substr(0, slash)), id->substr(slash + 1)));
    return instance == nullptr ? std::nullopt : std::optional(api::print(record_of(*instance)));
  }
  if (const auto name = behind(key, cluster_prefix)) {
    const Cluster* const cluster = find_cluster(state_, ClusterName(*name));
    return cluster == nullptr ? std::nullopt : std::optional(api::print(*cluster));
  }
  if (const auto name = behind(key, definition_prefix)) {
    const size_t slash = name->find('/');
    const TaskDefinition* const definition = find_task_definition(
        state_,
        TaskDefinitionArn(base::format("{}:{}", name->substr(0, slash), name->substr(slash + 1))));
    return definition == nullptr ? std::nullopt : std::optional(api::print(*definition));
  }
  if (const auto family = behind(key, deleted_revisions_prefix)) {
    const auto found = state_.deleted_revisions.find(*family);
    if (found == state_.deleted_revisions.end()) return std::nullopt;
    return api::print(DeletedRevisionsRecord{found->first, found->second});
  }
  if (const auto name = behind(key, account_setting_prefix)) {
    const auto found = state_.account_settings.find(*name);
    if (found == state_.account_settings.end()) return std::nullopt;
    return api::print(AccountSettingRecord{found->first, found->second});
  }
  if (auto record = encode_of_service(state_, account_, key)) return std::move(*record);
  if (auto record = encode_of_capacity(state_, key)) return std::move(*record);
  if (const auto id = behind(key, agent_key_prefix)) return print_record(state_.agent_keys, *id);
  if (const auto id = behind(key, join_token_prefix)) return print_record(state_.join_tokens, *id);
  if (key == sequence_numbers_key) {
    return api::print(SequenceNumbersRecord{state_.sequence_numbers_reserved});
  }
  const auto token = behind(key, token_prefix);
  CHECK(token.has_value());
  const size_t slash = token->find('/');
  const auto found = state_.client_tokens.find(
      {ClusterName(token->substr(0, slash)), std::string(token->substr(slash + 1))});
  return found == state_.client_tokens.end() ? std::nullopt
                                             : std::optional(api::print(found->second));
}

base::Result<void> load_record(ClusterState& state, std::string_view key, std::string_view value) {
  if (key.starts_with(task_prefix)) {
    Task task = TRY(read<Task>(key, value));
    const TaskArn arn = task.arn;
    state.tasks.emplace(arn, std::move(task));
  } else if (key.starts_with(instance_prefix)) {
    ContainerInstance instance = instance_from(TRY(read<InstanceRecord>(key, value)));
    const InstanceArn arn = instance.arn;
    state.instances.emplace(arn, std::move(instance));
  } else if (key.starts_with(cluster_prefix)) {
    Cluster cluster = TRY(read<Cluster>(key, value));
    const ClusterName name = cluster.name;
    state.clusters.emplace(name, std::move(cluster));
  } else if (key.starts_with(definition_prefix)) {
    TaskDefinition definition = TRY(read<TaskDefinition>(key, value));
    const int32_t revision = definition.revision;
    state.task_definitions[definition.family].emplace(revision, std::move(definition));
  } else if (key.starts_with(deleted_revisions_prefix)) {
    DeletedRevisionsRecord record = TRY(read<DeletedRevisionsRecord>(key, value));
    state.deleted_revisions[std::move(record.family)] = record.newest;
  } else if (key.starts_with(token_prefix)) {
    ClientToken token = TRY(read<ClientToken>(key, value));
    state.client_tokens.emplace(std::pair(token.cluster, token.token), std::move(token));
  } else if (key.starts_with(agent_key_prefix)) {
    AgentKey agent_key = TRY(read<AgentKey>(key, value));
    std::string id = agent_key.id;
    state.agent_keys.emplace(std::move(id), std::move(agent_key));
  } else if (key.starts_with(join_token_prefix)) {
    JoinToken join_token = TRY(read<JoinToken>(key, value));
    std::string id = join_token.id;
    state.join_tokens.emplace(std::move(id), std::move(join_token));
  } else if (key.starts_with(account_setting_prefix)) {
    AccountSettingRecord record = TRY(read<AccountSettingRecord>(key, value));
    state.account_settings[std::move(record.name)] = std::move(record.value);
  } else if (key == sequence_numbers_key) {
    state.sequence_numbers_reserved = TRY(read<SequenceNumbersRecord>(key, value)).reserved_until;
  } else {
    auto loaded = load_of_service(state, key, value);
    if (loaded && !*loaded) loaded = load_of_capacity(state, key, value);
    if (!loaded) return base::fail(corrupt(key, loaded.error().message));
    if (!*loaded) return base::fail(corrupt(key, "no kind of record has such a key"));
  }
  return {};
}

base::Result<void> finish_load(ClusterState& state) {
  for (const auto& [arn, task] : state.tasks) {
    if (task.last_status == TaskStatus::Stopped) {
      if (!task.stopped_at) return base::fail(corrupt(arn.str(), "it is STOPPED without a time"));
      state.stopped_tasks.emplace(*task.stopped_at, arn);
      continue;
    }
    if (find_task_definition(state, task.definition) == nullptr) {
      return base::fail(corrupt(arn.str(), "its task definition has no record"));
    }
    if (task.waiting && task.instance.str().empty()) {
      wait(state, task);
      continue;
    }
    if (task.waiting || find_instance(state, task.instance) == nullptr) {
      return base::fail(corrupt(arn.str(), "its container instance has no record"));
    }
    hold(state, task);
  }
  return {};
}

}  // namespace model
