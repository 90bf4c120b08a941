#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/ecs/describe_service.h"
#include "control/ecs/service_lookup.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

constexpr size_t most_services = 10;  // "You may specify up to 10 services".

}  // namespace

Answer<api::ecs::DescribeServicesResponse> describe_services(
    Step& step, const api::ecs::DescribeServicesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DescribeServices", cluster->name));
  if (request.services.empty() || request.services.size() > most_services) {
    return invalid_parameter("services must name between 1 and 10 of them.");
  }
  const bool tags =
      std::ranges::find(request.include, api::ecs::ServiceField::Tags) != request.include.end();
  api::ecs::DescribeServicesResponse response;
  response.services.set_present();
  response.failures.set_present();
  for (const std::string& text : request.services) {
    if (const model::Service* const service = find_service(step, cluster->name, text)) {
      response.services.push_back(describe_service(step, *service, tags));
      continue;
    }
    const std::string arn =
        text.starts_with("arn:")
            ? text
            : model::service_arn(step.settings.account, cluster->name, text).str();
    response.failures.push_back(failure(arn, placement::reason_missing));
  }
  return response;
}

}  // namespace control::ecs
