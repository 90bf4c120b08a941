#include "control/step.h"

#include "control/tags.h"

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

}  // namespace

void Step::change(model::Change change) {
  std::vector<model::InstanceArn> touched;
  model::touched_instances(state_, change, touched);
  model::apply(state_, change);
  for (const model::InstanceArn& arn : touched) engine.instance_changed(state_, arn);
  if (const model::ClusterName* const cluster = tagged_cluster(change)) {
    follow_placement_policy(state_, *cluster, engine);
  }
  output_.changes.push_back(std::move(change));
}

}  // namespace control
