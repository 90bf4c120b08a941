#include "control/placement_policies.h"

#include "control/request/tags.h"

namespace control {
namespace {

// The cluster whose tags the change sets; nullptr when it sets none's.
const model::ClusterName* tagged_cluster(const model::Change& change) {
  if (const auto* const created = std::get_if<model::ClusterPut>(&change)) {
    return &created->cluster.name;
  }
  const auto* const set = std::get_if<model::TagsSet>(&change);
  return set == nullptr ? nullptr : std::get_if<model::ClusterName>(&set->resource);
}

// A value that is no policy, which only a record written by another version can hold, counts as
// none.
void follow_policy(const model::ClusterState& state, const model::ClusterName& cluster,
                   placement::Engine& engine) {
  const model::Cluster* const found = model::find_cluster(state, cluster);
  CHECK(found != nullptr);
  const auto policy = placement_policy_of(found->tags);
  engine.set_policy(state, cluster, policy ? *policy : placement::Policy::Berth);
}

}  // namespace

PlacementPolicies::PlacementPolicies(const model::ClusterState& state, placement::Engine& engine) {
  for (const auto& [name, cluster] : state.clusters) {
    if (!cluster.tags.empty()) follow_policy(state, name, engine);
  }
}

void PlacementPolicies::observe(Step& step, const model::Change& change) {
  const model::ClusterName* const cluster = tagged_cluster(change);
  if (cluster != nullptr) follow_policy(step.state(), *cluster, step.engine);
}

}  // namespace control
