#include "model/records.h"

#include <utility>

#include "api/json.h"
#include "base/format.h"
#include "model/derived.h"

namespace model {
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

// What an ARN has behind the kind of its resource: "<cluster>/<id>".
std::string name_in(std::string_view arn) {
  return std::string(arn.substr(arn.find('/') + 1));
}

template <class Records, class Key>
std::optional<std::string> print_one(const Records& records, const Key& key) {
  const auto found = records.find(key);
  return found == records.end() ? std::nullopt : std::optional(api::print(found->second));
}

// ---- One row a kind of record: the beginning of its keys, what they go on with (nothing where
// there is one such record), its JSON, how it is loaded, which answers with what its key goes on
// with, and the keys of all that a state has.

template <class Key>
struct Row;

template <auto map>
using RecordOf = std::remove_cvref_t<decltype(std::declval<ClusterState>().*map)>::mapped_type;

// Kept in a map of the state under its ARN, which is one of its members.
template <class Key, auto map, auto arn>
struct ByArn {
  static std::string name(const Key& key) { return name_in(key.str()); }
  static std::optional<std::string> encode(const ClusterState& state, const Key& key) {
    return print_one(state.*map, key);
  }
  static base::Result<std::string> load(ClusterState& state, std::string_view value) {
    auto record = TRY(api::parse<RecordOf<map>>(value));
    Key key = record.*arn;
    std::string loaded = name(key);
    (state.*map).emplace(std::move(key), std::move(record));
    return loaded;
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    for (const auto& [key, record] : state.*map) take(key);
  }
};

const std::string& text_of(const std::string& name) {
  return name;
}
template <class Id>
const std::string& text_of(const Id& id) {
  return id.str();
}

// Kept in a map of the state under a text, which is one of its members.
template <class Key, auto map, auto member>
struct ByName {
  static std::string name(const Key& key) {
    if constexpr (requires { key.name; }) {
      return key.name;
    } else {
      return key.str();
    }
  }
  static std::optional<std::string> encode(const ClusterState& state, const Key& key) {
    return print_one(state.*map, in_map(name(key)));
  }
  static base::Result<std::string> load(ClusterState& state, std::string_view value) {
    auto record = TRY(api::parse<RecordOf<map>>(value));
    std::string loaded = text_of(record.*member);
    (state.*map).emplace(in_map(loaded), std::move(record));
    return loaded;
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    for (const auto& [key, record] : state.*map) take(Key(text_of(key)));
  }

 private:
  static auto in_map(const std::string& name) {
    using Kept = std::remove_cvref_t<decltype(std::declval<ClusterState>().*map)>::key_type;
    return Kept(name);
  }
};

template <>
struct Row<ClusterName> : ByName<ClusterName, &ClusterState::clusters, &Cluster::name> {
  static constexpr std::string_view prefix = "cluster/";
};
template <>
struct Row<CapacityProviderName>
    : ByName<CapacityProviderName, &ClusterState::capacity_providers, &CapacityProvider::name> {
  static constexpr std::string_view prefix = "capacity-provider/";
};
template <>
struct Row<Named<AutoScalingGroup>>
    : ByName<Named<AutoScalingGroup>, &ClusterState::auto_scaling_groups, &AutoScalingGroup::name> {
  static constexpr std::string_view prefix = "auto-scaling-group/";
};
template <>
struct Row<Named<ScalingActivities>>
    : ByName<Named<ScalingActivities>, &ClusterState::scaling_activities,
             &ScalingActivities::group> {
  static constexpr std::string_view prefix = "scaling-activities/";
};
template <>
struct Row<Named<LaunchConfiguration>>
    : ByName<Named<LaunchConfiguration>, &ClusterState::launch_configurations,
             &LaunchConfiguration::name> {
  static constexpr std::string_view prefix = "launch-configuration/";
};
template <>
struct Row<Named<LaunchTemplate>>
    : ByName<Named<LaunchTemplate>, &ClusterState::launch_templates, &LaunchTemplate::id> {
  static constexpr std::string_view prefix = "launch-template/";
};
template <>
struct Row<Named<AgentKey>> : ByName<Named<AgentKey>, &ClusterState::agent_keys, &AgentKey::id> {
  static constexpr std::string_view prefix = "agent-key/";
};
template <>
struct Row<Named<JoinToken>>
    : ByName<Named<JoinToken>, &ClusterState::join_tokens, &JoinToken::id> {
  static constexpr std::string_view prefix = "join-token/";
};
template <>
struct Row<TaskArn> : ByArn<TaskArn, &ClusterState::tasks, &Task::arn> {
  static constexpr std::string_view prefix = "task/";
};
template <>
struct Row<ServiceArn> : ByArn<ServiceArn, &ClusterState::services, &Service::arn> {
  static constexpr std::string_view prefix = "service/";
};
template <>
struct Row<ServiceRevisionArn>
    : ByArn<ServiceRevisionArn, &ClusterState::service_revisions, &ServiceRevision::arn> {
  static constexpr std::string_view prefix = "service-revision/";
};
template <>
struct Row<ServiceDeploymentArn>
    : ByArn<ServiceDeploymentArn, &ClusterState::service_deployments, &ServiceDeployment::arn> {
  static constexpr std::string_view prefix = "service-deployment/";
};

template <>
struct Row<ServiceEventsKey> {
  using Events = ByArn<ServiceArn, &ClusterState::service_events, &ServiceEvents::service>;
  static constexpr std::string_view prefix = "service-events/";
  static std::string name(const ServiceEventsKey& key) { return Events::name(key.service); }
  static std::optional<std::string> encode(const ClusterState& state, const ServiceEventsKey& key) {
    return Events::encode(state, key.service);
  }
  static base::Result<std::string> load(ClusterState& state, std::string_view value) {
    return Events::load(state, value);
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    for (const auto& [service, events] : state.service_events) take(ServiceEventsKey{service});
  }
};

template <>
struct Row<InstanceArn> {
  static constexpr std::string_view prefix = "instance/";
  static std::string name(const InstanceArn& key) { return name_in(key.str()); }
  static std::optional<std::string> encode(const ClusterState& state, const InstanceArn& key) {
    const ContainerInstance* const instance = find_instance(state, key);
    if (instance == nullptr) return std::nullopt;
    return api::print(record_of(*instance));
  }
  static base::Result<std::string> load(ClusterState& state, std::string_view value) {
    ContainerInstance instance = instance_from(TRY(api::parse<InstanceRecord>(value)));
    InstanceArn arn = instance.arn;
    std::string loaded = name(arn);
    state.instances.emplace(std::move(arn), std::move(instance));
    return loaded;
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    for (const auto& [arn, instance] : state.instances) take(arn);
  }
};

// "task-definition/<family>/<revision>".
template <>
struct Row<TaskDefinitionArn> {
  static constexpr std::string_view prefix = "task-definition/";
  static std::string name(const TaskDefinitionArn& key) {
    std::string name(short_id(key.str()));
    name[name.rfind(':')] = '/';
    return name;
  }
  static std::optional<std::string> encode(const ClusterState& state,
                                           const TaskDefinitionArn& key) {
    const TaskDefinition* const definition = find_task_definition(state, key);
    if (definition == nullptr) return std::nullopt;
    return api::print(*definition);
  }
  static base::Result<std::string> load(ClusterState& state, std::string_view value) {
    auto definition = TRY(api::parse<TaskDefinition>(value));
    const int32_t revision = definition.revision;
    const std::string& family = definition.family;
    const std::string arn = definition.definition.task_definition_arn.value_or("");
    if (short_id(arn) != base::format("{}:{}", family, revision)) {
      return base::fail("", "its taskDefinitionArn is another one's");
    }
    std::string loaded = base::format("{}/{}", family, revision);
    state.task_definitions[family].emplace(revision, std::move(definition));
    return loaded;
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    for (const auto& [family, revisions] : state.task_definitions) {
      for (const auto& [revision, definition] : revisions) {
        take(TaskDefinitionArn(definition.definition.task_definition_arn.value_or("")));
      }
    }
  }
};

// Where the state keeps one value under a name, not a record of its own.
template <class Record, auto map, auto name_member, auto value_member>
struct ByNameAndValue {
  using Key = Named<Record>;
  static std::string name(const Key& key) { return key.name; }
  static std::optional<std::string> encode(const ClusterState& state, const Key& key) {
    const auto found = (state.*map).find(key.name);
    if (found == (state.*map).end()) return std::nullopt;
    return api::print(Record{found->first, found->second});
  }
  static base::Result<std::string> load(ClusterState& state, std::string_view value) {
    auto record = TRY(api::parse<Record>(value));
    (state.*map)[record.*name_member] = std::move(record.*value_member);
    return std::move(record.*name_member);
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    for (const auto& [name, value] : state.*map) take(Key{name});
  }
};
template <>
struct Row<Named<DeletedRevisionsRecord>>
    : ByNameAndValue<DeletedRevisionsRecord, &ClusterState::deleted_revisions,
                     &DeletedRevisionsRecord::family, &DeletedRevisionsRecord::newest> {
  static constexpr std::string_view prefix = "deleted-revisions/";
};
template <>
struct Row<Named<AccountSettingRecord>>
    : ByNameAndValue<AccountSettingRecord, &ClusterState::account_settings,
                     &AccountSettingRecord::name, &AccountSettingRecord::value> {
  static constexpr std::string_view prefix = "account-setting/";
};

// "client-token/<cluster>/<token>".
template <>
struct Row<ClientTokenKey> {
  static constexpr std::string_view prefix = "client-token/";
  static std::string name(const ClientTokenKey& key) {
    return base::format("{}/{}", key.cluster.str(), key.token);
  }
  static std::optional<std::string> encode(const ClusterState& state, const ClientTokenKey& key) {
    return print_one(state.client_tokens, std::pair(key.cluster, key.token));
  }
  static base::Result<std::string> load(ClusterState& state, std::string_view value) {
    auto token = TRY(api::parse<ClientToken>(value));
    std::string loaded = name({token.cluster, token.token});
    state.client_tokens.emplace(std::pair(token.cluster, token.token), std::move(token));
    return loaded;
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    for (const auto& [key, token] : state.client_tokens) {
      take(ClientTokenKey{key.first, key.second});
    }
  }
};

template <>
struct Row<SequenceNumbersKey> {
  static constexpr std::string_view prefix = "sequence-numbers";
  static std::string name(const SequenceNumbersKey&) { return {}; }
  static std::optional<std::string> encode(const ClusterState& state, const SequenceNumbersKey&) {
    return api::print(SequenceNumbersRecord{state.sequence_numbers_reserved});
  }
  static base::Result<std::string> load(ClusterState& state, std::string_view value) {
    state.sequence_numbers_reserved = TRY(api::parse<SequenceNumbersRecord>(value)).reserved_until;
    return std::string();
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    if (state.sequence_numbers_reserved != ClusterState{}.sequence_numbers_reserved) {
      take(SequenceNumbersKey{});
    }
  }
};

// ---- What each change writes.

struct KeysOf {
  const ClusterState& state;
  std::set<RecordKey>& keys;

  void operator()(const ClusterPut& change) const { keys.insert(change.cluster.name); }
  void operator()(const ClusterDeleted& change) const { keys.insert(change.cluster); }
  void operator()(const TaskDefinitionRegistered& change) const {
    keys.insert(
        TaskDefinitionArn(change.task_definition.definition.task_definition_arn.value_or("")));
  }
  void operator()(const TaskDefinitionDeleted& change) const {
    keys.insert(change.arn);
    const std::string_view name = short_id(change.arn.str());
    keys.insert(Named<DeletedRevisionsRecord>(std::string(name.substr(0, name.rfind(':')))));
  }
  void operator()(const InstanceRegistered& change) const { keys.insert(change.instance.arn); }
  void operator()(const TaskQueued& change) const { keys.insert(change.task.arn); }
  void operator()(const TaskWaits&) const {}
  void operator()(const TaskPlaced& change) const { keys.insert(change.task.arn); }
  void operator()(const TaskReported& change) const {
    keys.insert(change.arn);
    const Task* const task = find_task(state, change.arn);
    if (!change.gpu_releases.empty() && task != nullptr) keys.insert(task->instance);
  }
  void operator()(const TaskAcknowledged&) const {}
  void operator()(const TagsSet& change) const {
    std::visit([this](const auto& resource) { keys.insert(resource); }, change.resource);
  }
  void operator()(const ServicePut& change) const { keys.insert(change.service.arn); }
  void operator()(const ServiceEventAdded& change) const {
    keys.insert(ServiceEventsKey{change.arn});
  }
  void operator()(const ServiceRevisionPut& change) const { keys.insert(change.revision.arn); }
  void operator()(const ServiceDeploymentPut& change) const { keys.insert(change.deployment.arn); }
  void operator()(const ServiceForgotten& change) const {
    keys.insert(change.arn);
    keys.insert(ServiceEventsKey{change.arn});
  }
  void operator()(const InstanceObserved&) const {}
  void operator()(const CapacityProviderPut& change) const {
    keys.insert(CapacityProviderName(change.provider.name));
  }
  void operator()(const CapacityProviderForgotten& change) const {
    keys.insert(CapacityProviderName(change.name));
  }
  void operator()(const AutoScalingGroupPut& change) const {
    keys.insert(Named<AutoScalingGroup>(change.group.name));
  }
  void operator()(const AutoScalingGroupForgotten& change) const {
    keys.insert(Named<AutoScalingGroup>(change.name));
    keys.insert(Named<ScalingActivities>(change.name));
  }
  void operator()(const ScalingActivityPut& change) const {
    keys.insert(Named<ScalingActivities>(change.activity.group));
  }
  void operator()(const LaunchConfigurationPut& change) const {
    keys.insert(Named<LaunchConfiguration>(change.configuration.name));
  }
  void operator()(const LaunchConfigurationForgotten& change) const {
    keys.insert(Named<LaunchConfiguration>(change.name));
  }
  void operator()(const LaunchTemplatePut& change) const {
    keys.insert(Named<LaunchTemplate>(change.launch_template.id));
  }
  void operator()(const LaunchTemplateForgotten& change) const {
    keys.insert(Named<LaunchTemplate>(change.id));
  }
  void operator()(const AgentKeyPut& change) const { keys.insert(Named<AgentKey>(change.key.id)); }
  void operator()(const AgentKeyRemoved& change) const { keys.insert(Named<AgentKey>(change.id)); }
  void operator()(const JoinTokenPut& change) const {
    keys.insert(Named<JoinToken>(change.token.id));
  }
  void operator()(const JoinTokenRemoved& change) const {
    keys.insert(Named<JoinToken>(change.id));
  }
  void operator()(const AccountSettingPut& change) const {
    keys.insert(Named<AccountSettingRecord>(change.name));
  }
  void operator()(const AccountSettingRemoved& change) const {
    keys.insert(Named<AccountSettingRecord>(change.name));
  }
  void operator()(const SequenceNumbersReserved&) const { keys.insert(SequenceNumbersKey{}); }
  void operator()(const ClientTokenUsed& change) const {
    keys.insert(ClientTokenKey{change.token.cluster, change.token.token});
  }
  void operator()(const ClientTokenExpired& change) const {
    keys.insert(ClientTokenKey{change.cluster, change.token});
  }
  // The rest alters the one thing that its ARN names.
  template <class OneThing>
  void operator()(const OneThing& change) const {
    keys.insert(change.arn);
  }
};

base::Error corrupt(std::string_view key, std::string_view why) {
  return {"StoreCorrupt",
          base::format("The record {} cannot be read: {}. Restore a backup, or repair the record.",
                       key, why)};
}

template <class Key>
base::Result<void> load_as(ClusterState& state, std::string_view key, std::string_view value) {
  const std::string loaded = TRY(Row<Key>::load(state, value));
  if (key.substr(Row<Key>::prefix.size()) == loaded) return {};
  return base::fail("", base::format("what it holds belongs to {}{}", Row<Key>::prefix, loaded));
}

template <class... Keys>
base::Result<void> load_any(const std::variant<Keys...>* /*these*/, ClusterState& state,
                            std::string_view key, std::string_view value) {
  base::Result<void> loaded = base::fail("", "no kind of record has such a key");
  ((key.starts_with(Row<Keys>::prefix) && (loaded = load_as<Keys>(state, key, value), true)) ||
   ...);
  return loaded;
}

template <class... Keys>
void add_all(const std::variant<Keys...>* /*these*/, const ClusterState& state,
             std::vector<RecordKey>& keys) {
  const auto take = [&](auto key) { keys.emplace_back(std::move(key)); };
  (Row<Keys>::each(state, take), ...);
}

}  // namespace

std::string print(const RecordKey& key) {
  return std::visit(
      []<class Key>(const Key& one) { return std::string(Row<Key>::prefix) + Row<Key>::name(one); },
      key);
}

void add_record_keys(const ClusterState& state, const Change& change, std::set<RecordKey>& keys) {
  std::visit(KeysOf{state, keys}, change);
}

std::optional<std::string> encode_record(const ClusterState& state, const RecordKey& key) {
  return std::visit([&]<class Key>(const Key& one) { return Row<Key>::encode(state, one); }, key);
}

std::vector<RecordKey> record_keys(const ClusterState& state) {
  std::vector<RecordKey> keys;
  add_all(static_cast<const RecordKey*>(nullptr), state, keys);
  return keys;
}

base::Result<void> load_record(ClusterState& state, std::string_view key, std::string_view value) {
  const auto loaded = load_any(static_cast<const RecordKey*>(nullptr), state, key, value);
  if (!loaded) return base::fail(corrupt(key, loaded.error().message));
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
    if (!hold(state, task)) {
      return base::fail(corrupt(arn.str(),
                                "it holds what its container instance does not have, or has given "
                                "to another task"));
    }
  }
  return {};
}

}  // namespace model
