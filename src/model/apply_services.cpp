#include "model/apply.h"

namespace model {

void apply_one(ClusterState& state, const ServicePut& change) {
  state.services[change.service.arn] = change.service;
}

void apply_one(ClusterState& state, const ServiceEventAdded& change) {
  CHECK(state.services.contains(change.arn));
  ServiceEvents& kept = state.service_events[change.arn];
  kept.service = change.arn;
  kept.events.push_back(change.event);
  if (kept.events.size() > most_service_events) kept.events.erase(kept.events.begin());
}

void apply_one(ClusterState& state, const ServiceRevisionPut& change) {
  state.service_revisions[change.revision.arn] = change.revision;
}

void apply_one(ClusterState& state, const ServiceDeploymentPut& change) {
  state.service_deployments[change.deployment.arn] = change.deployment;
}

void apply_one(ClusterState& state, const ServiceDeploymentForgotten& change) {
  state.service_deployments.erase(change.arn);
}

void apply_one(ClusterState& state, const ServiceRevisionForgotten& change) {
  state.service_revisions.erase(change.arn);
}

void apply_one(ClusterState& state, const ServiceForgotten& change) {
  state.services.erase(change.arn);
  state.service_events.erase(change.arn);
}

}  // namespace model
