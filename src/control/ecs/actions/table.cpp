#include <algorithm>
#include <array>

#include "control/ecs/actions/actions.h"

namespace control::ecs {
namespace {

// Sorted by name.
constexpr std::array actions{
    Action{"ContinueServiceDeployment", adapted<continue_service_deployment>},
    Action{"CreateAgentKey", adapted<create_agent_key>},
    Action{"CreateCapacityProvider", adapted<create_capacity_provider>},
    Action{"CreateCluster", adapted<create_cluster>},
    Action{"CreateJoinToken", adapted<create_join_token>},
    Action{"CreateService", adapted<create_service>},
    Action{"CreateTaskSet", adapted<create_task_set>},
    Action{"DeleteAccountSetting", adapted<delete_account_setting>},
    Action{"DeleteAgentKey", adapted<delete_agent_key>},
    Action{"DeleteAttributes", adapted<delete_attributes>},
    Action{"DeleteCapacityProvider", adapted<delete_capacity_provider>},
    Action{"DeleteCluster", adapted<delete_cluster>},
    Action{"DeleteService", adapted<delete_service>},
    Action{"DeleteTaskDefinitions", adapted<delete_task_definitions>},
    Action{"DeleteTaskSet", adapted<delete_task_set>},
    Action{"DeregisterContainerInstance", adapted<deregister_container_instance>},
    Action{"DeregisterTaskDefinition", adapted<deregister_task_definition>},
    Action{"DescribeCapacityProviders", adapted<describe_capacity_providers>},
    Action{"DescribeClusters", adapted<describe_clusters>},
    Action{"DescribeContainerInstances", adapted<describe_container_instances>},
    Action{"DescribeServiceDeployments", adapted<describe_service_deployments>},
    Action{"DescribeServiceRevisions", adapted<describe_service_revisions>},
    Action{"DescribeServices", adapted<describe_services>},
    Action{"DescribeTaskDefinition", adapted<describe_task_definition>},
    Action{"DescribeTaskSets", adapted<describe_task_sets>},
    Action{"DescribeTasks", adapted<describe_tasks>},
    Action{"DiscoverPollEndpoint", adapted<discover_poll_endpoint>},
    Action{"GetTaskProtection", adapted<get_task_protection>},
    Action{"JoinCluster", adapted<join_cluster>},
    Action{"ListAccountSettings", adapted<list_account_settings>},
    Action{"ListAgentKeys", adapted<list_agent_keys>},
    Action{"ListAttributes", adapted<list_attributes>},
    Action{"ListClusters", adapted<list_clusters>},
    Action{"ListContainerInstances", adapted<list_container_instances>},
    Action{"ListServiceDeployments", adapted<list_service_deployments>},
    Action{"ListServices", adapted<list_services>},
    Action{"ListServicesByNamespace", adapted<list_services_by_namespace>},
    Action{"ListTagsForResource", adapted<list_tags_for_resource>},
    Action{"ListTaskDefinitionFamilies", adapted<list_task_definition_families>},
    Action{"ListTaskDefinitions", adapted<list_task_definitions>},
    Action{"ListTasks", adapted<list_tasks>},
    Action{"PutAccountSetting", adapted<put_account_setting>},
    Action{"PutAccountSettingDefault", adapted<put_account_setting_default>},
    Action{"PutAttributes", adapted<put_attributes>},
    Action{"PutClusterCapacityProviders", adapted<put_cluster_capacity_providers>},
    Action{"RebindAgentKey", adapted<rebind_agent_key>},
    Action{"RegisterContainerInstance", adapted<register_container_instance>},
    Action{"RegisterTaskDefinition", adapted<register_task_definition>},
    Action{"RunTask", adapted<run_task>},
    Action{"StartTask", adapted<start_task>},
    Action{"StopServiceDeployment", adapted<stop_service_deployment>},
    Action{"StopTask", adapted<stop_task>},
    Action{"SubmitAttachmentStateChanges", adapted<submit_attachment_state_changes>},
    Action{"SubmitContainerStateChange", adapted<submit_container_state_change>},
    Action{"SubmitTaskStateChange", adapted<submit_task_state_change>},
    Action{"TagResource", adapted<tag_resource>},
    Action{"UntagResource", adapted<untag_resource>},
    Action{"UpdateCapacityProvider", adapted<update_capacity_provider>},
    Action{"UpdateCluster", adapted<update_cluster>},
    Action{"UpdateClusterSettings", adapted<update_cluster_settings>},
    Action{"UpdateContainerAgent", adapted<update_container_agent>},
    Action{"UpdateContainerInstancesState", adapted<update_container_instances_state>},
    Action{"UpdateService", adapted<update_service>},
    Action{"UpdateServicePrimaryTaskSet", adapted<update_service_primary_task_set>},
    Action{"UpdateTaskProtection", adapted<update_task_protection>},
    Action{"UpdateTaskSet", adapted<update_task_set>},
};
static_assert(std::ranges::is_sorted(actions, {}, &Action::operation));

}  // namespace

std::span<const Action> operations() {
  return actions;
}

}  // namespace control::ecs
