#include "placement/cluster.h"

#include <algorithm>
#include <tuple>

#include "base/format.h"
#include "model/capabilities.h"
#include "model/task_bounds.h"
#include "placement/assign.h"

namespace placement {
namespace {

// Bounds on what is kept; all of it can be made again.
constexpr size_t most_scores = size_t{1} << 24;  // 64 MiB of scores.
constexpr size_t most_shapes = 4096;
constexpr size_t most_groups = 1024;
constexpr size_t most_columns = 64;
constexpr size_t most_filters = 2048;

}  // namespace

bool considers(const Request& request, const model::ContainerInstance& instance) {
  return request.capacity_provider.empty() || is_of_provider(instance, request.capacity_provider);
}

Objections objections_of(const Request& request, const Demand& demand,
                         const model::ContainerInstance& instance, const Offer& offer) {
  Objections objections;
  objections.blockers = blockers_of(offer, demand);
  for (const std::string& name : request.required_attributes) {
    if (instance.attributes.contains(name)) continue;
    if (name == model::attribute_berth_agent) {
      objections.kinds.emplace_back("Berth's own agent");
    } else {
      objections.attributes.push_back(name);
    }
  }
  if (!request.launch_type.empty() && !has_launch_type(instance, request.launch_type)) {
    objections.kinds.push_back(base::format("launch type {}", request.launch_type));
  }
  const model::TaskBounds bounds =
      request.needs.empty() ? model::TaskBounds() : model::bounds_of(instance.attributes);
  for (const std::string& need : request.needs) {
    if (!model::permits(bounds, need)) objections.needs.push_back(need);
  }
  if (!considers(request, instance)) {
    objections.kinds.push_back(base::format("capacity provider {}", request.capacity_provider));
  }
  return objections;
}

void ClusterCache::forget_instances() {
  fleet_ = Fleet();
  filters_.forget_instances();
  workload_model_.forget_instances();
  // The shapes stay: which of them were refused decides what counts as an arrival.
  for (const std::unique_ptr<Shape>& shape : shapes_) forget_scores(*shape);
  groups_.clear();
  columns_.clear();
}

void ClusterCache::forget_shapes() {
  const size_t most =
      std::clamp(most_scores / std::max<size_t>(fleet_.size(), 1), size_t{64}, most_shapes);
  if (shapes_.size() < most) return;
  shapes_.clear();
  shape_numbers_.clear();
}

// Filters are numbered for good, so that too many of them can only be forgotten with all else.
void ClusterCache::bound_filters(const model::ClusterState& state) {
  if (filters_.size() <= most_filters) return;
  forget_instances();
  shapes_.clear();  // They name filters by their numbers.
  shape_numbers_.clear();
  filters_ = Filters();
  workload_model_ = WorkloadModel(workload_model_.scale().policy);
  if (!workload_.empty()) fix_workload();
  for (const auto& [arn, instance] : state.instances) {
    if (instance.cluster == name_) fleet_.update(instance);
  }
}

void ClusterCache::set_workload(std::vector<Request> requests) {
  workload_ = std::move(requests);
  fix_workload();
}

// Kinds name their filters by number, so they are made anew whenever the filters are. The workload
// has half of all filters at most: else there would be too many again at once.
void ClusterCache::fix_workload() {
  std::vector<pack::Kind> kinds;
  for (const Request& request : workload_) {
    const bool filters = !request.constraints.empty() || !request.required_attributes.empty() ||
                         !request.needs.empty() || !request.launch_type.empty() ||
                         !request.capacity_provider.empty();
    if (filters && filters_.size() >= most_filters / 2) continue;
    // A request that is not valid is no part of the workload.
    const base::Result<Shape> shape = make_shape(request, filters_);
    if (shape) kinds.push_back(shape->kind);
  }
  workload_model_.fix(kinds);
}

base::Result<uint32_t> ClusterCache::expression(const model::ClusterState& state,
                                                std::string_view text) {
  bound_filters(state);
  const uint32_t filter = TRY(filters_.intern({FilterKind::Expression, std::string(text)}));
  filters_.sync(state, fleet_, {filter});
  return filter;
}

base::Result<Shape*> ClusterCache::find_shape(const model::ClusterState& state,
                                              const Request& request) {
  bound_filters(state);
  key_.clear();
  append_shape_key(request, key_);
  auto found = shape_numbers_.find(key_);
  if (found == shape_numbers_.end()) {
    forget_shapes();
    shapes_.push_back(std::make_unique<Shape>(TRY(make_shape(request, filters_))));
    found = shape_numbers_.emplace(key_, static_cast<uint32_t>(shapes_.size() - 1)).first;
  }
  return shapes_[found->second].get();
}

void ClusterCache::sync(const model::ClusterState& state, Shape& shape) {
  workload_model_.sync(state, fleet_, filters_);
  filters_.sync(state, fleet_, shape.filters);
  sync_scores(shape, fleet_, filters_, workload_model_);
}

base::Result<Shape*> ClusterCache::prepare(const model::ClusterState& state,
                                           const Request& request) {
  Shape* shape = TRY(find_shape(state, request));
  // A refused task that is tried again and again is one arrival.
  if (!shape->refused) workload_model_.observe(shape->kind);
  sync(state, *shape);
  return shape;
}

base::Result<Shape*> ClusterCache::prepare_dry(const model::ClusterState& state,
                                               const Request& request) {
  Shape* shape = TRY(find_shape(state, request));
  sync(state, *shape);
  return shape;
}

GroupCounts& ClusterCache::group_counts(const model::ClusterState& state,
                                        const std::string& group) {
  if (groups_.size() >= most_groups && !groups_.contains(group)) groups_.clear();
  GroupCounts& counts = groups_.try_emplace(group, name_, group).first->second;
  counts.sync(state, fleet_);
  return counts;
}

Column& ClusterCache::column(const model::ClusterState& state, const std::string& attribute) {
  if (columns_.size() >= most_columns && !columns_.contains(attribute)) columns_.clear();
  Column& column = columns_.try_emplace(attribute, attribute).first->second;
  column.sync(state, fleet_);
  return column;
}

// The entry that takes the task, or none.
uint32_t ClusterCache::choose(const model::ClusterState& state, const Request& request,
                              Shape& shape, base::Random& random) {
  const bool ranked = shape.rules.strategies.empty() && !shape.rules.distinct_instance &&
                      workload_model_.scale().policy != Policy::Random;
  if (ranked) {
    const uint32_t best = best_entry(shape);
    return best == Fleet::none || shape.scores[best] < 0 ? Fleet::none : best;
  }
  std::vector<uint32_t> candidates;
  for (uint32_t i = 0; i < fleet_.size(); ++i) {
    if (shape.scores[i] >= 0) candidates.push_back(i);
  }
  if (shape.rules.distinct_instance) {
    const GroupCounts& counts = group_counts(state, request.group);
    std::erase_if(candidates, [&](uint32_t index) { return counts[index] > 0; });
  }
  if (candidates.empty()) return Fleet::none;
  const auto silent = [&](uint32_t index) { return fleet_[index].offer.silent; };
  if (!std::ranges::all_of(candidates, silent)) std::erase_if(candidates, silent);
  for (const Strategy& strategy : shape.rules.strategies) {
    const bool by_attribute = strategy.kind == StrategyKind::SpreadAttribute;
    refine(strategy, fleet_, group_counts(state, request.group),
           by_attribute ? column(state, strategy.attribute) : no_column_, random, candidates);
  }
  if (workload_model_.scale().policy == Policy::Random) {
    return candidates[random.below(candidates.size())];
  }
  return *std::ranges::max_element(candidates, {},
                                   [&](uint32_t index) { return shape.scores[index]; });
}

std::optional<size_t> ClusterCache::share_card(Shape& shape, uint32_t index, base::Random& random) {
  const Offer& offer = fleet_[index].offer;
  if (shape.demand.shares.empty()) return std::nullopt;
  if (workload_model_.scale().policy == Policy::Random) {
    std::vector<size_t> cards;
    for (size_t i = 0; i < offer.cards.size(); ++i) {
      if (card_fits_shares(offer, i, shape.demand)) cards.push_back(i);
    }
    return cards[random.below(cards.size())];
  }
  const int32_t card = score_entry(shape, fleet_, index, filters_, workload_model_).card;
  return card >= 0 ? static_cast<size_t>(card) : tightest_card(offer, shape.demand);
}

std::expected<Placement, std::vector<Refusal>> ClusterCache::place(const model::ClusterState& state,
                                                                   const Request& request,
                                                                   Shape& shape,
                                                                   base::Random& random,
                                                                   size_t limit) {
  const uint32_t index = choose(state, request, shape, random);
  if (index == Fleet::none) {
    shape.refused = true;
    return std::unexpected(refusals(state, request, shape, limit));
  }
  shape.refused = false;
  const model::ContainerInstance* instance = model::find_instance(state, fleet_[index].arn);
  CHECK(instance != nullptr);
  Entry& entry = fleet_.entry(index);
  const std::optional<size_t> card = share_card(shape, index, random);
  const Site site{*instance, entry.offer, entry.pinned};
  return Placement{entry.arn, assign(state, site, request.resources, shape.demand, card)};
}

Objections ClusterCache::objections_of(const model::ClusterState& state, const Request& request,
                                       const Shape& shape, uint32_t index) {
  const model::ContainerInstance* instance = model::find_instance(state, fleet_[index].arn);
  CHECK(instance != nullptr);
  Objections objections =
      placement::objections_of(request, shape.demand, *instance, fleet_[index].offer);
  for (const uint32_t filter : shape.filters) {
    const FilterKey& key = filters_.key(filter);
    if (key.kind != FilterKind::Expression || filters_.passes(filter, index)) continue;
    objections.expressions.push_back(key.text);
  }
  objections.distinct =
      shape.rules.distinct_instance && group_counts(state, request.group)[index] > 0;
  return objections;
}

std::vector<uint32_t> ClusterCache::nearest(const model::ClusterState& state,
                                            const Request& request, const Shape& shape,
                                            size_t limit) {
  if (limit == 1 && !shape.rules.distinct_instance) {
    const uint32_t best = best_entry(shape);
    if (best == Fleet::none) return {};
    return {best};
  }
  const GroupCounts* counts =
      shape.rules.distinct_instance ? &group_counts(state, request.group) : nullptr;
  std::vector<std::pair<int32_t, uint32_t>> ranked;
  for (uint32_t i = 0; i < fleet_.size(); ++i) {
    if (shape.scores[i] == never_considered) continue;
    int32_t distance = shape.scores[i] < 0 ? -1 - shape.scores[i] : 0;
    if (counts != nullptr && (*counts)[i] > 0) distance += 1 << 20;
    ranked.emplace_back(distance, i);
  }
  const size_t kept = std::min(limit, ranked.size());
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(kept));
  std::vector<uint32_t> indices;
  for (size_t i = 0; i < kept; ++i) indices.push_back(ranked[i].second);
  return indices;
}

// None of the capacity provider's instances is ACTIVE.
Refusal ClusterCache::without_instance(const model::ClusterState& state,
                                       const Request& request) const {
  bool has_some = request.capacity_provider == model::berth_queue;
  for (uint32_t i = 0; i < fleet_.size() && !has_some; ++i) {
    const auto* const instance = model::find_instance(state, fleet_[i].arn);
    has_some = instance != nullptr && instance->status != model::InstanceStatus::Inactive &&
               considers(request, *instance);
  }
  return {
      .instance = {},
      .reason = std::string(has_some ? reason_no_instance : reason_empty_provider),
      .detail = base::format("Capacity provider {} has no {}container instance in cluster {}.",
                             request.capacity_provider, has_some ? "ACTIVE " : "", name_.str())};
}

std::vector<Refusal> ClusterCache::refusals(const model::ClusterState& state,
                                            const Request& request, const Shape& shape,
                                            size_t limit) {
  if (!fleet_.any_active()) {
    if (!request.capacity_provider.empty()) return {without_instance(state, request)};
    return {{.instance = {},
             .reason = std::string(reason_no_instance),
             .detail = base::format("Cluster {} has no ACTIVE container instance.", name_.str())}};
  }
  std::vector<Refusal> list;
  for (const uint32_t index : nearest(state, request, shape, limit)) {
    const model::ContainerInstance* instance = model::find_instance(state, fleet_[index].arn);
    CHECK(instance != nullptr);
    if (!considers(request, *instance)) break;  // Those that follow are as far.
    list.push_back(refusal_of(*instance, fleet_[index].offer, shape.demand,
                              objections_of(state, request, shape, index),
                              fleet_.most_whole_gpus()));
  }
  if (list.empty()) list.push_back(without_instance(state, request));
  return list;
}

}  // namespace placement
