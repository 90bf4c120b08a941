#include "model/state.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace model {

ClusterState::ClusterState() = default;
ClusterState::ClusterState(const ClusterState& other) = default;
ClusterState::ClusterState(ClusterState&& other) noexcept = default;
ClusterState& ClusterState::operator=(const ClusterState& other) = default;
ClusterState& ClusterState::operator=(ClusterState&& other) noexcept = default;
ClusterState::~ClusterState() = default;

namespace {

template <class Enum, size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<TaskStatus, 8> task_status_names{{
    {TaskStatus::Provisioning, "PROVISIONING"},
    {TaskStatus::Pending, "PENDING"},
    {TaskStatus::Activating, "ACTIVATING"},
    {TaskStatus::Running, "RUNNING"},
    {TaskStatus::Deactivating, "DEACTIVATING"},
    {TaskStatus::Stopping, "STOPPING"},
    {TaskStatus::Deprovisioning, "DEPROVISIONING"},
    {TaskStatus::Stopped, "STOPPED"},
}};

constexpr Names<InstanceStatus, 5> instance_status_names{{
    {InstanceStatus::Registering, "REGISTERING"},
    {InstanceStatus::Active, "ACTIVE"},
    {InstanceStatus::Draining, "DRAINING"},
    {InstanceStatus::Deregistering, "DEREGISTERING"},
    {InstanceStatus::Inactive, "INACTIVE"},
}};

constexpr Names<GpuState, 5> gpu_state_names{{
    {GpuState::Idle, "IDLE"},
    {GpuState::Dedicated, "DEDICATED"},
    {GpuState::NvidiaMps, "NVIDIA_MPS"},
    {GpuState::Releasing, "RELEASING"},
    {GpuState::Quarantined, "QUARANTINED"},
}};

template <class Enum, size_t N>
std::string_view name_of(const Names<Enum, N>& names, Enum value) {
  return names[static_cast<size_t>(value)].second;
}

template <class Enum, size_t N>
std::optional<Enum> value_of(const Names<Enum, N>& names, std::string_view text) {
  const auto* const found =
      std::ranges::find(names, text, &std::pair<Enum, std::string_view>::second);
  return found == names.end() ? std::nullopt : std::optional(found->first);
}

template <class Map, class Key>
auto find_or_null(const Map& map, const Key& key) -> decltype(&map.begin()->second) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

const Cluster* find_cluster(const ClusterState& state, const ClusterName& name) {
  return find_or_null(state.clusters, name);
}

const ContainerInstance* find_instance(const ClusterState& state, const InstanceArn& arn) {
  return find_or_null(state.instances, arn);
}

const Task* find_task(const ClusterState& state, const TaskArn& arn) {
  return find_or_null(state.tasks, arn);
}

const Service* find_service(const ClusterState& state, const ServiceArn& arn) {
  return find_or_null(state.services, arn);
}

const ServiceRevision* find_service_revision(const ClusterState& state,
                                             const ServiceRevisionArn& arn) {
  return find_or_null(state.service_revisions, arn);
}

const ServiceDeployment* find_service_deployment(const ClusterState& state,
                                                 const ServiceDeploymentArn& arn) {
  return find_or_null(state.service_deployments, arn);
}

std::string_view service_of(const Task& task) {
  static constexpr std::string_view prefix = "service:";
  const std::string_view group = task.group;
  return group.starts_with(prefix) ? group.substr(prefix.size()) : std::string_view();
}

const std::set<TaskArn>* tasks_of(const ClusterState& state, const Service& service) {
  return find_or_null(state.tasks_by_group, std::pair(service.cluster, "service:" + service.name));
}

const TaskDefinition* find_task_definition(const ClusterState& state,
                                           const TaskDefinitionArn& arn) {
  const std::string_view name = short_id(arn.str());
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return nullptr;
  const auto* const revisions = find_or_null(state.task_definitions, name.substr(0, colon));
  if (revisions == nullptr) return nullptr;
  const auto revision = base::parse_number<int32_t>(name.substr(colon + 1));
  return revision ? find_or_null(*revisions, *revision) : nullptr;
}

const TaskDefinition* latest_task_definition(const ClusterState& state, std::string_view family) {
  const auto* const revisions = find_or_null(state.task_definitions, family);
  if (revisions == nullptr) return nullptr;
  for (auto it = revisions->rbegin(); it != revisions->rend(); ++it) {
    if (it->second.definition.status == api::ecs::TaskDefinitionStatus::Active) return &it->second;
  }
  return nullptr;
}

const GpuSlot* find_gpu(const ContainerInstance& instance, std::string_view uuid) {
  const auto found =
      std::ranges::find(instance.gpus, uuid,
                        [](const GpuSlot& slot) -> std::string_view { return slot.device.uuid; });
  return found == instance.gpus.end() ? nullptr : &*found;
}

int64_t gpu_memory_mib_free(const GpuSlot& gpu) {
  if (!gpu.device.healthy) return 0;
  if (gpu.state != GpuState::Idle && gpu.state != GpuState::NvidiaMps) return 0;
  int64_t free = gpu.device.memory_mib;
  for (const GpuHolder& holder : gpu.holders) free -= holder.memory_mib;
  return std::max<int64_t>(free, 0);
}

std::string_view to_string(TaskStatus status) {
  return name_of(task_status_names, status);
}
std::string_view to_string(InstanceStatus status) {
  return name_of(instance_status_names, status);
}
std::string_view to_string(GpuState state) {
  return name_of(gpu_state_names, state);
}
std::string_view to_string(ClusterStatus status) {
  return status == ClusterStatus::Active ? "ACTIVE" : "INACTIVE";
}

std::optional<TaskStatus> parse_task_status(std::string_view text) {
  return value_of(task_status_names, text);
}
std::optional<InstanceStatus> parse_instance_status(std::string_view text) {
  return value_of(instance_status_names, text);
}

}  // namespace model
