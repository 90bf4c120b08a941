// The operations of the public API and of agents that the control plane answers: one file each.
// An operation first validates, then changes the state through Step::change, then answers.
// Each one's contract is its page of the ECS API reference.
#pragma once

#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step.h"

namespace control {

template <class T>
using Answer = base::Result<T>;

// Clusters
Answer<api::ecs::CreateClusterResponse> create_cluster(Step&, const api::ecs::CreateClusterRequest&);
Answer<api::ecs::DeleteClusterResponse> delete_cluster(Step&, const api::ecs::DeleteClusterRequest&);
Answer<api::ecs::DescribeClustersResponse> describe_clusters(
    Step&, const api::ecs::DescribeClustersRequest&);
Answer<api::ecs::ListClustersResponse> list_clusters(Step&, const api::ecs::ListClustersRequest&);

// Task definitions
Answer<api::ecs::RegisterTaskDefinitionResponse> register_task_definition(
    Step&, const api::ecs::RegisterTaskDefinitionRequest&);
Answer<api::ecs::DeregisterTaskDefinitionResponse> deregister_task_definition(
    Step&, const api::ecs::DeregisterTaskDefinitionRequest&);
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

// Attributes
Answer<api::ecs::PutAttributesResponse> put_attributes(Step&, const api::ecs::PutAttributesRequest&);
Answer<api::ecs::DeleteAttributesResponse> delete_attributes(
    Step&, const api::ecs::DeleteAttributesRequest&);
Answer<api::ecs::ListAttributesResponse> list_attributes(Step&,
                                                         const api::ecs::ListAttributesRequest&);

// Tasks
Answer<api::ecs::RunTaskResponse> run_task(Step&, const api::ecs::RunTaskRequest&);
Answer<api::ecs::StartTaskResponse> start_task(Step&, const api::ecs::StartTaskRequest&);
Answer<api::ecs::StopTaskResponse> stop_task(Step&, const api::ecs::StopTaskRequest&);
Answer<api::ecs::DescribeTasksResponse> describe_tasks(Step&, const api::ecs::DescribeTasksRequest&);
Answer<api::ecs::ListTasksResponse> list_tasks(Step&, const api::ecs::ListTasksRequest&);
Answer<api::ecs::SubmitTaskStateChangeResponse> submit_task_state_change(
    Step&, const api::ecs::SubmitTaskStateChangeRequest&);
Answer<api::ecs::SubmitContainerStateChangeResponse> submit_container_state_change(
    Step&, const api::ecs::SubmitContainerStateChangeRequest&);

// One row of the table of contents.
struct Action {
  std::string_view operation;
  base::Result<api::Any> (*call)(Step&, const api::Any& input);
};
// nullptr: Berth does not offer the operation.
const Action* find_action(std::string_view operation);
// What a caller of such an operation is told.
base::Error not_offered(std::string_view service, std::string_view operation);

}  // namespace control
