// All that the engine keeps of one cluster, and the decision itself.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/filters.h"
#include "placement/fleet.h"
#include "placement/place.h"
#include "placement/shape.h"
#include "placement/strategies.h"
#include "placement/workload_model.h"

namespace placement {

class ClusterCache {
 public:
  ClusterCache(model::ClusterName name, Policy policy)
      : name_(std::move(name)), workload_model_(policy) {}

  const model::ClusterName& name() const { return name_; }
  Fleet& fleet() { return fleet_; }
  const Fleet& fleet() const { return fleet_; }
  WorkloadModel& workload_model() { return workload_model_; }
  Filters& filters() { return filters_; }
  // Forgets the instances, keeps what was learned of the workload.
  void forget_instances();
  // Takes these for the typical workload, for good: it outlives all that is forgotten.
  void set_workload(std::vector<Request> requests);

  // The number of an expression among the filters. Errors: InvalidParameterException.
  base::Result<uint32_t> expression(const model::ClusterState& state, std::string_view text);

  // Looks the request's shape up, counts the arrival, and brings all caches up to date.
  // Errors: from the request's constraints and strategies.
  base::Result<Shape*> prepare(const model::ClusterState& state, const Request& request);

  // As prepare(), without counting an arrival.
  base::Result<Shape*> prepare_dry(const model::ClusterState& state, const Request& request);
  base::Result<Explanation> explain(const model::ClusterState& state, const Request& request);

  // `shape` is what prepare() gave for this request and state.
  std::expected<Placement, std::vector<Refusal>> place(const model::ClusterState& state,
                                                       const Request& request, Shape& shape,
                                                       base::Random& random, size_t limit);

  // All that speaks against the entry, looked up anew; the fleet must be synced.
  Objections objections_of(const model::ClusterState& state, const Request& request,
                           const Shape& shape, uint32_t index);
  // Entries that speak against it, the nearest fit first.
  std::vector<uint32_t> nearest(const model::ClusterState& state, const Request& request,
                                const Shape& shape, size_t limit);

 private:
  base::Result<Shape*> find_shape(const model::ClusterState& state, const Request& request);
  void sync(const model::ClusterState& state, Shape& shape);
  GroupCounts& group_counts(const model::ClusterState& state, const std::string& group);
  Column& column(const model::ClusterState& state, const std::string& attribute);
  uint32_t choose(const model::ClusterState& state, const Request& request, Shape& shape,
                  base::Random& random);
  std::optional<size_t> share_card(Shape& shape, uint32_t index, base::Random& random);
  std::vector<Refusal> refusals(const model::ClusterState& state, const Request& request,
                                const Shape& shape, size_t limit);
  Refusal without_instance(const model::ClusterState& state, const Request& request) const;
  void forget_shapes();
  void bound_filters(const model::ClusterState& state);
  void fix_workload();

  model::ClusterName name_;
  Fleet fleet_;
  Filters filters_;
  WorkloadModel workload_model_;
  std::vector<Request> workload_;  // Empty: it is learned.
  std::vector<std::unique_ptr<Shape>> shapes_;
  std::unordered_map<std::string, uint32_t> shape_numbers_;  // Looked up, never iterated.
  std::map<std::string, GroupCounts> groups_;
  std::map<std::string, Column> columns_;
  std::string key_;  // Kept for its memory.
  Column no_column_{""};
};

// Whether the instance is of the request's capacity provider, where it names one. Others are not
// even looked at.
bool considers(const Request& request, const model::ContainerInstance& instance);

// What speaks against one instance, from its record alone, placement constraints left out.
Objections objections_of(const Request& request, const Demand& demand,
                         const model::ContainerInstance& instance, const Offer& offer);

}  // namespace placement
