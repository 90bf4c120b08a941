#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/attributes.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::DeleteAttributesResponse> delete_attributes(
    Step& step, const api::ecs::DeleteAttributesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DeleteAttributes", cluster->name));
  std::map<model::InstanceArn, std::vector<std::string>> deletes;
  for (const api::ecs::Attribute& attribute : request.attributes) {
    TRY_VOID(check_custom_attribute(attribute));
    const model::ContainerInstance* const instance =
        find_instance(step, cluster->name, attribute.target_id.value_or(""));
    if (instance == nullptr) {
      return base::fail(
          "TargetNotFoundException",
          base::format("The target \"{}\" of attribute {} was not found.",
                       attribute.target_id.value_or(""), attribute.name.value_or("")));
    }
    deletes[instance->arn].push_back(attribute.name.value_or(""));
  }
  for (auto& [arn, names] : deletes) step.change(model::AttributesDeleted{arn, std::move(names)});
  api::ecs::DeleteAttributesResponse response;
  response.attributes = request.attributes;
  response.attributes.set_present();
  return response;
}

}  // namespace control::ecs
