#include "model/ids.h"

#include "base/format.h"

namespace model {

std::string root_user_arn(const Account& account) {
  return base::format("arn:aws:iam::{}:root", account.id);
}

std::string cluster_arn(const Account& account, const ClusterName& cluster) {
  return base::format("arn:aws:ecs:{}:{}:cluster/{}", account.region, account.id, cluster.str());
}

InstanceArn instance_arn(const Account& account, const ClusterName& cluster, std::string_view id) {
  return InstanceArn(base::format("arn:aws:ecs:{}:{}:container-instance/{}/{}", account.region,
                                  account.id, cluster.str(), id));
}

TaskArn task_arn(const Account& account, const ClusterName& cluster, std::string_view id) {
  return TaskArn(
      base::format("arn:aws:ecs:{}:{}:task/{}/{}", account.region, account.id, cluster.str(), id));
}

std::string container_arn(const Account& account, const ClusterName& cluster,
                          std::string_view task_id, std::string_view id) {
  return base::format("arn:aws:ecs:{}:{}:container/{}/{}/{}", account.region, account.id,
                      cluster.str(), task_id, id);
}

TaskDefinitionArn task_definition_arn(const Account& account, std::string_view family,
                                      int32_t revision) {
  return TaskDefinitionArn(base::format("arn:aws:ecs:{}:{}:task-definition/{}:{}", account.region,
                                        account.id, family, revision));
}

ServiceArn service_arn(const Account& account, const ClusterName& cluster, std::string_view name) {
  return ServiceArn(base::format("arn:aws:ecs:{}:{}:service/{}/{}", account.region, account.id,
                                 cluster.str(), name));
}

namespace {

// "arn:...:service/c/s" to "arn:...:<type>/c/s/<id>".
std::string beneath(const ServiceArn& service, std::string_view type, std::string_view id) {
  const std::string_view arn = service.str();
  const size_t slash = arn.find('/');
  const size_t colon = arn.rfind(':', slash);
  return base::format("{}{}{}/{}", arn.substr(0, colon + 1), type, arn.substr(slash), id);
}

}  // namespace

ServiceRevisionArn service_revision_arn(const ServiceArn& service, std::string_view id) {
  return ServiceRevisionArn(beneath(service, "service-revision", id));
}

ServiceDeploymentArn service_deployment_arn(const ServiceArn& service, std::string_view id) {
  return ServiceDeploymentArn(beneath(service, "service-deployment", id));
}

std::string task_set_arn(const ServiceArn& service, std::string_view id) {
  return beneath(service, "task-set", id);
}

std::string capacity_provider_arn(const Account& account, std::string_view name) {
  return base::format("arn:aws:ecs:{}:{}:capacity-provider/{}", account.region, account.id, name);
}

std::string auto_scaling_group_arn(const Account& account, std::string_view id,
                                   std::string_view name) {
  return base::format("arn:aws:autoscaling:{}:{}:autoScalingGroup:{}:autoScalingGroupName/{}",
                      account.region, account.id, id, name);
}

std::string launch_configuration_arn(const Account& account, std::string_view id,
                                     std::string_view name) {
  return base::format("arn:aws:autoscaling:{}:{}:launchConfiguration:{}:launchConfigurationName/{}",
                      account.region, account.id, id, name);
}

std::string_view short_id(std::string_view arn) {
  const size_t slash = arn.rfind('/');
  return slash == std::string_view::npos ? arn : arn.substr(slash + 1);
}

}  // namespace model
