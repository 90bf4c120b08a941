#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::DiscoverPollEndpointResponse> discover_poll_endpoint(
    Step& step, const api::ecs::DiscoverPollEndpointRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  const model::ContainerInstance* const instance =
      TRY(require_instance(step, cluster->name, request.container_instance.value_or("")));
  TRY_VOID(allow(step, "DiscoverPollEndpoint", cluster->name, instance->arn.str()));
  api::ecs::DiscoverPollEndpointResponse response;
  response.endpoint = step.settings.poll_endpoint + "/acs";
  response.telemetry_endpoint = step.settings.poll_endpoint + "/tcs";
  return response;
}

}  // namespace control::ecs
