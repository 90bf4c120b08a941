#include "model/records.h"

#include <utility>

#include "api/json.h"
#include "base/format.h"
#include "model/derived.h"

namespace model {
namespace {

// What an ARN has behind the kind of its resource: "<cluster>/<id>".
std::string name_in(std::string_view arn) {
  return std::string(arn.substr(arn.find('/') + 1));
}

template <class Records, class Key>
std::optional<std::string> print_one(const Records& records, const Key& key) {
  const auto found = records.find(key);
  return found == records.end() ? std::nullopt : std::optional(api::print(found->second));
}

// A member that only a newer berth knows would be lost when the record is written the next time.
template <class Record>
base::Result<Record> parse_record(std::string_view value) {
  return api::parse<Record>(value, {.refuse_unknown = true});
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
    auto record = TRY(parse_record<RecordOf<map>>(value));
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
    auto record = TRY(parse_record<RecordOf<map>>(value));
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
    ContainerInstance instance = instance_from(TRY(parse_record<InstanceRecord>(value)));
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
    auto definition = TRY(parse_record<TaskDefinition>(value));
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
    auto record = TRY(parse_record<Record>(value));
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
    auto token = TRY(parse_record<ClientToken>(value));
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
    state.sequence_numbers_reserved =
        TRY(parse_record<SequenceNumbersRecord>(value)).reserved_until;
    return std::string();
  }
  template <class Take>
  static void each(const ClusterState& state, Take take) {
    if (state.sequence_numbers_reserved != ClusterState{}.sequence_numbers_reserved) {
      take(SequenceNumbersKey{});
    }
  }
};

base::Error corrupt(std::string_view key, std::string_view why) {
  return {"StoreCorrupt",
          base::format(
              "The record {} cannot be read: {}. Restore a backup, or start the newer berth that "
              "wrote it.",
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
