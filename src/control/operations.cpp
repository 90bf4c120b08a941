#include "control/operations.h"

#include <span>

#include "api/berth.h"
#include "api/service.h"
#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/ec2/actions/actions.h"
#include "control/ecs/actions/actions.h"

namespace control {
namespace {

struct Front {
  const api::Service& (*service)();
  std::span<const Action> (*operations)();
};
constexpr Front fronts[] = {
    {api::ecs_service, ecs::operations},
    {api::berth_service, ecs::operations},
    {api::autoscaling_service, autoscaling::operations},
    {api::ec2_service, ec2::operations},
};

}  // namespace

const Action* find_action(std::string_view service, std::string_view operation) {
  for (const Front& front : fronts) {
    if (front.service().name == service) return find_in(front.operations(), operation);
  }
  return nullptr;
}

base::Error not_offered(std::string_view service, std::string_view operation) {
  return {"UnsupportedFeatureException",
          base::format("This version of Berth does not offer the operation {} of the service {}.",
                       operation, service)};
}

}  // namespace control
