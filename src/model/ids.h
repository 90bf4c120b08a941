// The identities of the cluster's things, and how their ARNs are spelled.
#pragma once

#include <string>
#include <string_view>

#include "base/id.h"

namespace model {

using ClusterName = base::Id<struct ClusterNameTag>;
using InstanceArn = base::Id<struct InstanceArnTag>;              // Of a container instance.
using TaskArn = base::Id<struct TaskArnTag, base::StemOrder>;     // Of a task.
using TaskDefinitionArn = base::Id<struct TaskDefinitionArnTag>;  // With its revision.

using ServiceArn = base::Id<struct ServiceArnTag>;
using ServiceRevisionArn = base::Id<struct ServiceRevisionArnTag>;
using ServiceDeploymentArn = base::Id<struct ServiceDeploymentArnTag>;
using CapacityProviderName = base::Id<struct CapacityProviderNameTag>;

// Whose ARNs these are: one account in one region.
struct Account {
  std::string region = "us-east-1";
  std::string id = "123456789012";
};

// The principal that owns everything of the account.
std::string root_user_arn(const Account& account);
std::string cluster_arn(const Account& account, const ClusterName& cluster);
InstanceArn instance_arn(const Account& account, const ClusterName& cluster, std::string_view id);
TaskArn task_arn(const Account& account, const ClusterName& cluster, std::string_view id);
std::string container_arn(const Account& account, const ClusterName& cluster,
                          std::string_view task_id, std::string_view id);
TaskDefinitionArn task_definition_arn(const Account& account, std::string_view family,
                                      int32_t revision);

ServiceArn service_arn(const Account& account, const ClusterName& cluster, std::string_view name);
// Of things that belong to a service.
ServiceRevisionArn service_revision_arn(const ServiceArn& service, std::string_view id);
ServiceDeploymentArn service_deployment_arn(const ServiceArn& service, std::string_view id);
// `id` is "ecs-svc/<digits>".
std::string task_set_arn(const ServiceArn& service, std::string_view id);

std::string capacity_provider_arn(const Account& account, std::string_view name);
std::string auto_scaling_group_arn(const Account& account, std::string_view id,
                                   std::string_view name);
std::string launch_configuration_arn(const Account& account, std::string_view id,
                                     std::string_view name);

// The part of an ARN behind its last "/": the id of a task or an instance.
std::string_view short_id(std::string_view arn);

}  // namespace model
