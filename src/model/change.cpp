#include "model/change.h"

#include <algorithm>

#include "base/format.h"
#include "model/apply.h"

namespace model {

Change::Change(AnyChange&& any) : AnyChange(std::move(any)) {}

template <OneChange One>
[[gnu::used]] Change Change::of(One one) {
  return Change(AnyChange(std::in_place_type<One>, std::move(one)));
}

// Has the compiler write `of` for each of them; never called.
template <class... All>
void make_each(const std::variant<All...>* /*these*/) {
  (static_cast<void>(Change(All())), ...);
}
template void make_each(const AnyChange*);

Change::Change(const Change& other) = default;
Change::Change(Change&& other) noexcept = default;
Change& Change::operator=(const Change& other) = default;
Change& Change::operator=(Change&& other) noexcept = default;
Change::~Change() = default;

ContainerInstance& instance_of(ClusterState& state, const InstanceArn& arn) {
  const auto found = state.instances.find(arn);
  CHECK(found != state.instances.end());
  return found->second;
}

Task& task_of(ClusterState& state, const TaskArn& arn) {
  const auto found = state.tasks.find(arn);
  CHECK(found != state.tasks.end());
  return found->second;
}

GpuSlot& gpu_of(ContainerInstance& instance, std::string_view uuid) {
  auto* const slot = const_cast<GpuSlot*>(find_gpu(instance, uuid));
  CHECK(slot != nullptr);
  return *slot;
}

namespace {

void apply_one(ClusterState& state, const ClusterPut& change) {
  state.clusters[change.cluster.name] = change.cluster;
}

void apply_one(ClusterState& state, const ClusterDeleted& change) {
  const auto found = state.clusters.find(change.cluster);
  CHECK(found != state.clusters.end());
  found->second.status = ClusterStatus::Inactive;
}

void apply_one(ClusterState& state, const TaskDefinitionRegistered& change) {
  const TaskDefinition& made = change.task_definition;
  CHECK(state.task_definitions[made.family].emplace(made.revision, made).second);
}

void apply_one(ClusterState& state, const TaskDefinitionDeregistered& change) {
  auto* const found = const_cast<TaskDefinition*>(find_task_definition(state, change.arn));
  CHECK(found != nullptr);
  found->definition.status = api::ecs::TaskDefinitionStatus::Inactive;
  found->definition.deregistered_at = change.at;
}

void apply_one(ClusterState& state, const TaskDefinitionDeleteRequested& change) {
  auto* const found = const_cast<TaskDefinition*>(find_task_definition(state, change.arn));
  CHECK(found != nullptr);
  found->definition.status = api::ecs::TaskDefinitionStatus::DeleteInProgress;
  found->definition.delete_requested_at = change.at;
}

void apply_one(ClusterState& state, const TaskDefinitionDeleted& change) {
  const TaskDefinition* const found = find_task_definition(state, change.arn);
  CHECK(found != nullptr);
  const std::string family = found->family;
  const int32_t revision = found->revision;
  auto& revisions = state.task_definitions.at(family);
  if (revisions.rbegin()->first == revision) {
    int32_t& newest = state.deleted_revisions[family];
    newest = std::max(newest, revision);
  }
  revisions.erase(revision);
  if (revisions.empty()) state.task_definitions.erase(family);
}

// The tags of any resource that has some.
struct TagsOf {
  ClusterState& state;

  api::List<api::ecs::Tag>& operator()(const ClusterName& name) const {
    const auto found = state.clusters.find(name);
    CHECK(found != state.clusters.end());
    return found->second.tags;
  }
  api::List<api::ecs::Tag>& operator()(const InstanceArn& arn) const {
    return instance_of(state, arn).tags;
  }
  api::List<api::ecs::Tag>& operator()(const TaskDefinitionArn& arn) const {
    auto* const found = const_cast<TaskDefinition*>(find_task_definition(state, arn));
    CHECK(found != nullptr);
    return found->tags;
  }
  api::List<api::ecs::Tag>& operator()(const TaskArn& arn) const {
    return task_of(state, arn).tags;
  }
  api::List<api::ecs::Tag>& operator()(const ServiceArn& arn) const {
    const auto found = state.services.find(arn);
    CHECK(found != state.services.end());
    return found->second.tags;
  }
  api::List<api::ecs::Tag>& operator()(const CapacityProviderName& name) const {
    const auto found = state.capacity_providers.find(name.str());
    CHECK(found != state.capacity_providers.end());
    return found->second.tags;
  }
};

void apply_one(ClusterState& state, const TagsSet& change) {
  std::visit(TagsOf{state}, change.resource) = change.tags;
}

void apply_one(ClusterState& state, const ClientTokenUsed& change) {
  state.client_tokens[{change.token.cluster, change.token.token}] = change.token;
}

void apply_one(ClusterState& state, const ClientTokenExpired& change) {
  state.client_tokens.erase({change.cluster, change.token});
}

void apply_one(ClusterState& state, const AgentKeyPut& change) {
  state.agent_keys[change.key.id] = change.key;
}

void apply_one(ClusterState& state, const AgentKeyRemoved& change) {
  state.agent_keys.erase(change.id);
}

void apply_one(ClusterState& state, const JoinTokenPut& change) {
  state.join_tokens[change.token.id] = change.token;
}

void apply_one(ClusterState& state, const AccountSettingPut& change) {
  state.account_settings[change.name] = change.value;
}

void apply_one(ClusterState& state, const AccountSettingRemoved& change) {
  state.account_settings.erase(change.name);
}

void apply_one(ClusterState& state, const JoinTokenRemoved& change) {
  state.join_tokens.erase(change.id);
}

void apply_one(ClusterState& state, const SequenceNumbersReserved& change) {
  CHECK(change.until > state.sequence_numbers_reserved);
  state.sequence_numbers_reserved = change.until;
}

}  // namespace

void apply(ClusterState& state, const Change& change) {
  std::visit([&](const auto& one) { apply_one(state, one); }, change);
}

bool gives_capacity(const Change& change) {
  return std::holds_alternative<InstanceRegistered>(change) ||
         std::holds_alternative<InstanceStatusChanged>(change) ||
         std::holds_alternative<InstanceDeregistered>(change) ||
         std::holds_alternative<AgentConnectionChanged>(change) ||
         std::holds_alternative<AttributesPut>(change) ||
         std::holds_alternative<AttributesDeleted>(change) ||
         std::holds_alternative<GpuCleared>(change) || std::holds_alternative<GpuProven>(change);
}

void touched_instances(const ClusterState& state, const Change& change,
                       std::vector<InstanceArn>& touched) {
  const auto of_task = [&](const TaskArn& arn) {
    const Task* const task = find_task(state, arn);
    if (task != nullptr && !task->waiting) touched.push_back(task->instance);
  };
  std::visit(
      [&](const auto& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, TaskPlaced>) {
          touched.push_back(one.task.instance);
        } else if constexpr (std::is_same_v<T, TaskStopRequested> ||
                             std::is_same_v<T, TaskReported>) {
          of_task(one.arn);
        } else if constexpr (std::is_same_v<T, InstanceObserved>) {
          // Nothing that a placement looks at.
        } else if constexpr (std::is_same_v<T, InstanceRegistered>) {
          touched.push_back(one.instance.arn);
        } else if constexpr (requires {
                               { one.arn } -> std::convertible_to<InstanceArn>;
                             }) {
          touched.push_back(one.arn);
        }
      },
      change);
}

}  // namespace model
