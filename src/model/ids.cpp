#include "model/ids.h"

#include "base/format.h"

namespace model {

std::string cluster_arn(const Account& account, const ClusterName& cluster) {
  return base::format("arn:aws:ecs:{}:{}:cluster/{}", account.region, account.id, cluster.str());
}

InstanceArn instance_arn(const Account& account, const ClusterName& cluster, std::string_view id) {
  return InstanceArn(base::format("arn:aws:ecs:{}:{}:container-instance/{}/{}", account.region,
                                  account.id, cluster.str(), id));
}

TaskArn task_arn(const Account& account, const ClusterName& cluster, std::string_view id) {
  return TaskArn(base::format("arn:aws:ecs:{}:{}:task/{}/{}", account.region, account.id,
                              cluster.str(), id));
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

std::string_view short_id(std::string_view arn) {
  const size_t slash = arn.rfind('/');
  return slash == std::string_view::npos ? arn : arn.substr(slash + 1);
}

}  // namespace model
