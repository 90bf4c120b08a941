#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {

Answer<api::ecs::ListAttributesResponse> list_attributes(
    Step& step, const api::ecs::ListAttributesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "ListAttributes", cluster->name));
  Page page(TRY(page_request(request.next_token, request.max_results)));
  const auto wanted = [&](const std::string& name, const std::string& value) {
    return (!request.attribute_name || *request.attribute_name == name) &&
           (!request.attribute_value || *request.attribute_value == value);
  };
  api::ecs::ListAttributesResponse response;
  response.attributes.set_present();
  for (const auto& [arn, instance] : step.state().instances) {
    if (instance.cluster != cluster->name) continue;
    if (instance.status == model::InstanceStatus::Inactive) continue;
    for (const auto& [name, value] : instance.attributes) {
      const std::string key = arn.str() + " " + name;
      if (!wanted(name, value) || !page.wants(key)) continue;
      if (!page.add(key)) {
        response.next_token = page.next_token;
        return response;
      }
      api::ecs::Attribute attribute;
      attribute.name = name;
      if (!value.empty()) attribute.value = value;
      attribute.target_id = arn.str();
      attribute.target_type = api::ecs::TargetType::ContainerInstance;
      response.attributes.push_back(std::move(attribute));
    }
  }
  return response;
}

}  // namespace control::ecs
