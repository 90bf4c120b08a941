// Which records a change writes.
#include <string>
#include <utility>

#include "model/records.h"

namespace model {
namespace {

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

}  // namespace

void add_record_keys(const ClusterState& state, const Change& change, std::set<RecordKey>& keys) {
  std::visit(KeysOf{state, keys}, change);
}

}  // namespace model
