// Which tasks of a service stop when fewer are wanted.
// Source: ECS Developer Guide, "Use strategies to define Amazon ECS task placement": of binpack,
// "The container instance that has the most available resources left after task termination has
// that task terminated"; of spread over Availability Zones, a task "that maintains a balance across
// Availability Zones. Within an Availability Zone, tasks are selected at random."; and "Amazon ECS
// services": without a strategy, the zone with the most tasks, then the instance with the most.
#pragma once

#include <cstddef>
#include <vector>

#include "api/generated/ecs.h"
#include "base/random.h"
#include "base/result.h"
#include "model/state.h"

namespace placement {

struct ScaleIn {
  std::vector<model::TaskArn> candidates;  // May be stopped.
  std::vector<model::TaskArn> staying;     // Count for the balance, but may not: protected ones.
  api::List<api::ecs::PlacementStrategy> strategies;  // The service's, in order.
};

// The tasks to stop, `count` at most, in the order in which they are picked: each as if those
// before it were gone. Each strategy refines what the one before it left; what is equal then is
// picked at random. Tasks that the state does not know are left out.
// Pure. Cost: O(count * tasks * strategies) plain numbers. Errors: InvalidParameterException from
// strategies.
base::Result<std::vector<model::TaskArn>> pick_scale_in(const model::ClusterState& state,
                                                        const ScaleIn& service, size_t count,
                                                        base::Random& random);

}  // namespace placement
