#include "base/format.h"
#include "control/agents/agent_bounds.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/attributes.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::PutAttributesResponse> put_attributes(
    Step& step, const api::ecs::PutAttributesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "PutAttributes", cluster->name));
  if (request.attributes.size() > 10) {
    return invalid_parameter("At most 10 attributes can be put in one call.");
  }
  std::map<model::InstanceArn, std::map<std::string, std::string>> puts;
  for (const api::ecs::Attribute& attribute : request.attributes) {
    TRY_VOID(check_attribute(attribute));
    TRY_VOID(check_custom_attribute(attribute));
    const model::ContainerInstance* const instance =
        find_instance(step, cluster->name, attribute.target_id.value_or(""));
    if (instance == nullptr) {
      return base::fail("TargetNotFoundException",
                        base::format("The target \"{}\" of attribute {} was not found.",
                                     attribute.target_id.value_or(""), *attribute.name));
    }
    puts[instance->arn][*attribute.name] = attribute.value.value_or("");
    if (instance->attributes.size() + puts[instance->arn].size() > most_instance_attributes) {
      return base::fail("AttributeLimitExceededException",
                        base::format("A container instance has at most {} attributes.",
                                     most_instance_attributes));
    }
  }
  for (auto& [arn, attributes] : puts) {
    step.change(model::AttributesPut{arn, std::move(attributes)});
  }
  api::ecs::PutAttributesResponse response;
  response.attributes = request.attributes;
  response.attributes.set_present();
  return response;
}

}  // namespace control::ecs
