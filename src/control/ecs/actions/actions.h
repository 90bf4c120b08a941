// The operations of the public API and of agents that the control plane answers: one file each.
// An operation first validates, then changes the state through Step::change, then answers.
// Each one's contract is its page of the ECS API reference.
#pragma once

#include "api/berth.h"
#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step/action.h"
#include "control/step/step.h"

namespace control::ecs {

// Clusters
Answer<api::ecs::CreateClusterResponse> create_cluster(Step&,
                                                       const api::ecs::CreateClusterRequest&);
Answer<api::ecs::DeleteClusterResponse> delete_cluster(Step&,
                                                       const api::ecs::DeleteClusterRequest&);
Answer<api::ecs::DescribeClustersResponse> describe_clusters(
    Step&, const api::ecs::DescribeClustersRequest&);
Answer<api::ecs::ListClustersResponse> list_clusters(Step&, const api::ecs::ListClustersRequest&);
Answer<api::ecs::UpdateClusterResponse> update_cluster(Step&,
                                                       const api::ecs::UpdateClusterRequest&);
Answer<api::ecs::UpdateClusterSettingsResponse> update_cluster_settings(
    Step&, const api::ecs::UpdateClusterSettingsRequest&);

// Account settings
Answer<api::ecs::PutAccountSettingResponse> put_account_setting(
    Step&, const api::ecs::PutAccountSettingRequest&);
Answer<api::ecs::PutAccountSettingDefaultResponse> put_account_setting_default(
    Step&, const api::ecs::PutAccountSettingDefaultRequest&);
Answer<api::ecs::DeleteAccountSettingResponse> delete_account_setting(
    Step&, const api::ecs::DeleteAccountSettingRequest&);
Answer<api::ecs::ListAccountSettingsResponse> list_account_settings(
    Step&, const api::ecs::ListAccountSettingsRequest&);

// Capacity providers
Answer<api::ecs::CreateCapacityProviderResponse> create_capacity_provider(
    Step&, const api::ecs::CreateCapacityProviderRequest&);
Answer<api::ecs::UpdateCapacityProviderResponse> update_capacity_provider(
    Step&, const api::ecs::UpdateCapacityProviderRequest&);
Answer<api::ecs::DeleteCapacityProviderResponse> delete_capacity_provider(
    Step&, const api::ecs::DeleteCapacityProviderRequest&);
Answer<api::ecs::DescribeCapacityProvidersResponse> describe_capacity_providers(
    Step&, const api::ecs::DescribeCapacityProvidersRequest&);
Answer<api::ecs::PutClusterCapacityProvidersResponse> put_cluster_capacity_providers(
    Step&, const api::ecs::PutClusterCapacityProvidersRequest&);

// Task definitions
Answer<api::ecs::RegisterTaskDefinitionResponse> register_task_definition(
    Step&, const api::ecs::RegisterTaskDefinitionRequest&);
Answer<api::ecs::DeregisterTaskDefinitionResponse> deregister_task_definition(
    Step&, const api::ecs::DeregisterTaskDefinitionRequest&);
Answer<api::ecs::DeleteTaskDefinitionsResponse> delete_task_definitions(
    Step&, const api::ecs::DeleteTaskDefinitionsRequest&);
Answer<api::ecs::DescribeTaskDefinitionResponse> describe_task_definition(
    Step&, const api::ecs::DescribeTaskDefinitionRequest&);
Answer<api::ecs::ListTaskDefinitionsResponse> list_task_definitions(
    Step&, const api::ecs::ListTaskDefinitionsRequest&);
Answer<api::ecs::ListTaskDefinitionFamiliesResponse> list_task_definition_families(
    Step&, const api::ecs::ListTaskDefinitionFamiliesRequest&);

// Container instances
Answer<api::ecs::RegisterContainerInstanceResponse> register_container_instance(
    Step&, const api::ecs::RegisterContainerInstanceRequest&);
Answer<api::ecs::DeregisterContainerInstanceResponse> deregister_container_instance(
    Step&, const api::ecs::DeregisterContainerInstanceRequest&);
Answer<api::ecs::DescribeContainerInstancesResponse> describe_container_instances(
    Step&, const api::ecs::DescribeContainerInstancesRequest&);
Answer<api::ecs::ListContainerInstancesResponse> list_container_instances(
    Step&, const api::ecs::ListContainerInstancesRequest&);
Answer<api::ecs::DiscoverPollEndpointResponse> discover_poll_endpoint(
    Step&, const api::ecs::DiscoverPollEndpointRequest&);
Answer<api::ecs::UpdateContainerAgentResponse> update_container_agent(
    Step&, const api::ecs::UpdateContainerAgentRequest&);
Answer<api::ecs::UpdateContainerInstancesStateResponse> update_container_instances_state(
    Step&, const api::ecs::UpdateContainerInstancesStateRequest&);

// Attributes
Answer<api::ecs::PutAttributesResponse> put_attributes(Step&,
                                                       const api::ecs::PutAttributesRequest&);
Answer<api::ecs::DeleteAttributesResponse> delete_attributes(
    Step&, const api::ecs::DeleteAttributesRequest&);
Answer<api::ecs::ListAttributesResponse> list_attributes(Step&,
                                                         const api::ecs::ListAttributesRequest&);

// Tasks
Answer<api::ecs::RunTaskResponse> run_task(Step&, const api::ecs::RunTaskRequest&);
Answer<api::ecs::StartTaskResponse> start_task(Step&, const api::ecs::StartTaskRequest&);
Answer<api::ecs::StopTaskResponse> stop_task(Step&, const api::ecs::StopTaskRequest&);
Answer<api::ecs::DescribeTasksResponse> describe_tasks(Step&,
                                                       const api::ecs::DescribeTasksRequest&);
Answer<api::ecs::ListTasksResponse> list_tasks(Step&, const api::ecs::ListTasksRequest&);
Answer<api::ecs::SubmitTaskStateChangeResponse> submit_task_state_change(
    Step&, const api::ecs::SubmitTaskStateChangeRequest&);
Answer<api::ecs::SubmitContainerStateChangeResponse> submit_container_state_change(
    Step&, const api::ecs::SubmitContainerStateChangeRequest&);

Answer<api::ecs::SubmitAttachmentStateChangesResponse> submit_attachment_state_changes(
    Step&, const api::ecs::SubmitAttachmentStateChangesRequest&);

// Keys of agents: Berth's own, api/berth.h
Answer<api::berth::CreateAgentKeyResponse> create_agent_key(
    Step&, const api::berth::CreateAgentKeyRequest&);
Answer<api::berth::CreateJoinTokenResponse> create_join_token(
    Step&, const api::berth::CreateJoinTokenRequest&);
Answer<api::berth::DeleteAgentKeyResponse> delete_agent_key(
    Step&, const api::berth::DeleteAgentKeyRequest&);
Answer<api::berth::JoinClusterResponse> join_cluster(Step&, const api::berth::JoinClusterRequest&);
Answer<api::berth::RebindAgentKeyResponse> rebind_agent_key(
    Step&, const api::berth::RebindAgentKeyRequest&);
Answer<api::berth::ListAgentKeysResponse> list_agent_keys(Step&,
                                                          const api::berth::ListAgentKeysRequest&);

// Tags
Answer<api::ecs::TagResourceResponse> tag_resource(Step&, const api::ecs::TagResourceRequest&);
Answer<api::ecs::UntagResourceResponse> untag_resource(Step&,
                                                       const api::ecs::UntagResourceRequest&);
Answer<api::ecs::ListTagsForResourceResponse> list_tags_for_resource(
    Step&, const api::ecs::ListTagsForResourceRequest&);

// Services
Answer<api::ecs::CreateServiceResponse> create_service(Step&,
                                                       const api::ecs::CreateServiceRequest&);
Answer<api::ecs::UpdateServiceResponse> update_service(Step&,
                                                       const api::ecs::UpdateServiceRequest&);
Answer<api::ecs::DeleteServiceResponse> delete_service(Step&,
                                                       const api::ecs::DeleteServiceRequest&);
Answer<api::ecs::DescribeServicesResponse> describe_services(
    Step&, const api::ecs::DescribeServicesRequest&);
Answer<api::ecs::ListServicesResponse> list_services(Step&, const api::ecs::ListServicesRequest&);
Answer<api::ecs::ListServicesByNamespaceResponse> list_services_by_namespace(
    Step&, const api::ecs::ListServicesByNamespaceRequest&);
Answer<api::ecs::CreateTaskSetResponse> create_task_set(Step&,
                                                        const api::ecs::CreateTaskSetRequest&);
Answer<api::ecs::UpdateTaskSetResponse> update_task_set(Step&,
                                                        const api::ecs::UpdateTaskSetRequest&);
Answer<api::ecs::DeleteTaskSetResponse> delete_task_set(Step&,
                                                        const api::ecs::DeleteTaskSetRequest&);
Answer<api::ecs::DescribeTaskSetsResponse> describe_task_sets(
    Step&, const api::ecs::DescribeTaskSetsRequest&);
Answer<api::ecs::UpdateServicePrimaryTaskSetResponse> update_service_primary_task_set(
    Step&, const api::ecs::UpdateServicePrimaryTaskSetRequest&);
Answer<api::ecs::DescribeServiceDeploymentsResponse> describe_service_deployments(
    Step&, const api::ecs::DescribeServiceDeploymentsRequest&);
Answer<api::ecs::ListServiceDeploymentsResponse> list_service_deployments(
    Step&, const api::ecs::ListServiceDeploymentsRequest&);
Answer<api::ecs::StopServiceDeploymentResponse> stop_service_deployment(
    Step&, const api::ecs::StopServiceDeploymentRequest&);
Answer<api::ecs::ContinueServiceDeploymentResponse> continue_service_deployment(
    Step&, const api::ecs::ContinueServiceDeploymentRequest&);
Answer<api::ecs::DescribeServiceRevisionsResponse> describe_service_revisions(
    Step&, const api::ecs::DescribeServiceRevisionsRequest&);
Answer<api::ecs::GetTaskProtectionResponse> get_task_protection(
    Step&, const api::ecs::GetTaskProtectionRequest&);
Answer<api::ecs::UpdateTaskProtectionResponse> update_task_protection(
    Step&, const api::ecs::UpdateTaskProtectionRequest&);

// Sorted by name.
std::span<const Action> operations();

}  // namespace control::ecs
