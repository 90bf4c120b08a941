#include "placement/place.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/format.h"
#include "placement/assign.h"
#include "placement/cluster.h"
#include "placement/explain.h"

namespace placement {

struct Engine::Cache {
  Policy default_policy = Policy::Berth;
  std::map<model::ClusterName, ClusterCache> clusters;
  // Which cluster each instance is kept in: one of `clusters`. Never iterated.
  std::unordered_map<model::InstanceArn, ClusterCache*> cluster_of;

  ClusterCache& cluster(const model::ClusterName& name) {
    const auto found = clusters.find(name);
    if (found != clusters.end()) return found->second;
    return clusters.try_emplace(name, name, default_policy).first->second;
  }
};

Engine::Engine(Policy policy) : cache_(std::make_unique<Cache>()) {
  cache_->default_policy = policy;
}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

base::Result<void> validate(const api::List<api::ecs::PlacementConstraint>& constraints,
                            const api::List<api::ecs::PlacementStrategy>& strategies) {
  (void)TRY(rules_of(constraints, strategies));
  return {};
}

void Engine::set_policy(const model::ClusterState& state, const model::ClusterName& cluster,
                        Policy policy) {
  const auto found = cache_->clusters.find(cluster);
  const bool known = found != cache_->clusters.end();
  if (known && found->second.workload_model().scale().policy == policy) return;
  if (known) found->second = ClusterCache(cluster, policy);  // In its place: it is pointed to.
  ClusterCache& made = cache_->clusters.try_emplace(cluster, cluster, policy).first->second;
  for (const auto& [arn, instance] : state.instances) {
    if (instance.cluster != cluster) continue;
    made.fleet().update(instance);
    cache_->cluster_of.insert_or_assign(arn, &made);
  }
}

void Engine::set_workload(const model::ClusterName& cluster, const std::vector<Request>& requests) {
  cache_->cluster(cluster).set_workload(requests);
}

void Engine::reset(const model::ClusterState& state) {
  for (auto& [name, cluster] : cache_->clusters) cluster.forget_instances();
  cache_->cluster_of.clear();
  for (const auto& [arn, instance] : state.instances) instance_changed(state, arn);
}

void Engine::instance_changed(const model::ClusterState& state, const model::InstanceArn& arn) {
  const model::ContainerInstance* instance = model::find_instance(state, arn);
  auto known = cache_->cluster_of.find(arn);
  if (known != cache_->cluster_of.end() &&
      (instance == nullptr || instance->cluster != known->second->name())) {
    known->second->fleet().remove(arn);
    cache_->cluster_of.erase(known);
    known = cache_->cluster_of.end();
  }
  if (instance == nullptr) return;
  if (known == cache_->cluster_of.end()) {
    known = cache_->cluster_of.emplace(arn, &cache_->cluster(instance->cluster)).first;
  }
  known->second->fleet().update(*instance);
}

std::expected<Placement, std::vector<Refusal>> Engine::place(const model::ClusterState& state,
                                                             const Request& request,
                                                             base::Random& random, size_t limit) {
  ClusterCache& cluster = cache_->cluster(request.cluster);
  const base::Result<Shape*> shape = cluster.prepare(state, request);
  if (!shape) {
    return std::unexpected(std::vector<Refusal>{{.instance = {},
                                                 .reason = std::string(reason_constraint),
                                                 .detail = shape.error().message}});
  }
  return cluster.place(state, request, **shape, random, limit);
}

std::expected<Placement, Refusal> Engine::place_on(const model::ClusterState& state,
                                                   const Request& request,
                                                   const model::InstanceArn& arn) {
  const model::ContainerInstance* instance = model::find_instance(state, arn);
  if (instance == nullptr || instance->cluster != request.cluster) {
    return std::unexpected(Refusal{
        .instance = arn,
        .reason = std::string(reason_missing),
        .detail = base::format("Cluster {} has no such container instance.", request.cluster.str()),
        .name = std::string(model::short_id(arn.str()))});
  }
  if (instance->status != model::InstanceStatus::Active) {
    return std::unexpected(
        Refusal{.instance = arn,
                .reason = std::string(reason_inactive),
                .detail = base::format("The container instance is {}, not ACTIVE.",
                                       model::to_string(instance->status)),
                .name = name_of(*instance)});
  }
  const Demand demand = demand_of(request.resources);
  const Offer offer = offer_of(*instance);
  const Objections objections = objections_of(request, demand, *instance, offer);
  if (objections.any()) {
    return std::unexpected(refusal_of(*instance, offer, demand, objections, -1));
  }
  std::optional<size_t> card;
  if (!demand.shares.empty()) card = tightest_card(offer, demand);
  PinnedCores pinned;
  const Site site{*instance, offer, pinned};
  return Placement{arn, assign(state, site, request.resources, demand, card)};
}

base::Result<std::vector<model::InstanceArn>> Engine::filter(const model::ClusterState& state,
                                                             const model::ClusterName& cluster,
                                                             std::string_view expression) {
  ClusterCache& cache = cache_->cluster(cluster);
  const uint32_t filter = TRY(cache.expression(state, expression));
  std::vector<model::InstanceArn> matching;
  for (uint32_t i = 0; i < cache.fleet().size(); ++i) {
    if (cache.fleet()[i].known && cache.filters().passes(filter, i)) {
      matching.push_back(cache.fleet()[i].arn);
    }
  }
  std::ranges::sort(matching);
  return matching;
}

base::Result<Explanation> Engine::explain(const model::ClusterState& state,
                                          const Request& request) {
  return cache_->cluster(request.cluster).explain(state, request);
}

size_t Engine::instances(const model::ClusterName& cluster) const {
  const auto found = cache_->clusters.find(cluster);
  return found == cache_->clusters.end() ? 0 : found->second.fleet().size();
}

double Engine::fragments(const model::ClusterState& state, const model::ClusterName& cluster) {
  ClusterCache& cache = cache_->cluster(cluster);
  cache.workload_model().sync(state, cache.fleet(), cache.filters());
  return cache.workload_model().fragments(cache.fleet());
}

}  // namespace placement
