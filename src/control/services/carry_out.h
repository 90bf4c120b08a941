// One pass of a service: what src/reconcile decides becomes changes and placed tasks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "control/services/effort.h"
#include "control/step/settings.h"
#include "control/step/step.h"
#include "reconcile/plan.h"
#include "reconcile/reconcile.h"

namespace control {

reconcile::Options reconcile_options(const Settings& settings);

struct PassResult {
  bool waiting = false;  // A task found no place.
  bool again = false;    // There is more to do at once.
  base::Time wake = base::Time::max();
};
// What passes at the same time share.
struct Surroundings {
  std::map<model::ClusterName, std::vector<std::string>> zones;
  Effort effort_left = most_effort_at_once;  // What is started and stopped is taken from it.
};
// A service that is gone or INACTIVE has nothing to do. Once no effort is left, the pass starts no
// further task, and there is more to do.
PassResult run_service_pass(Step& step, const model::ServiceArn& service, Surroundings& shared);

// Makes durable what was decided about the service itself: its record, revisions and rollouts, its
// events. The oldest rollouts beyond model::most_service_deployments are forgotten.
void keep_decisions(Step& step, const model::ServiceArn& service,
                    const reconcile::Decisions& decisions);

void add_service_event(Step& step, const model::ServiceArn& service, std::string message);
// With all that belongs to it.
void forget_service(Step& step, const model::ServiceArn& service);

}  // namespace control
