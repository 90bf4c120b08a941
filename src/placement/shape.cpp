#include "placement/shape.h"

#include <algorithm>
#include <type_traits>

#include "placement/refusal.h"

namespace placement {
namespace {

template <class Value>
  requires std::is_arithmetic_v<Value> || std::is_enum_v<Value>
void append(std::string& key, Value value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& key, const std::string& text) {
  append(key, text.size());
  key += text;
}

base::Result<void> add_filter(Filters& filters, FilterKind kind, const std::string& text,
                              Shape& shape) {
  shape.filters.push_back(TRY(filters.intern({kind, text})));
  return {};
}

void set_score(Shape& shape, size_t index, int32_t score) {
  const int32_t before = shape.scores[index];
  if (before == score) return;
  shape.scores[index] = score;
  int32_t& best = shape.block_best[index / block];
  if (score >= best) {
    best = score;
  } else if (before == best) {
    const size_t begin = index / block * block;
    const auto first = shape.scores.begin() + static_cast<std::ptrdiff_t>(begin);
    best = *std::max_element(first, first + block);
  }
}

// Goes on with judging entries whose profile has changed.
void continue_pass(Shape& shape, Fleet& fleet, const Filters& filters, const Outlook& outlook) {
  if (outlook.changed_at() > shape.pass_until) {
    shape.pass_until = outlook.changed_at();
    shape.pass_next = 0;
  }
  if (shape.pass_since == shape.pass_until) return;
  size_t budget = most_rescored;
  while (shape.pass_next < fleet.size() && budget > 0) {
    const auto index = static_cast<uint32_t>(shape.pass_next++);
    if (outlook.profile_of(fleet[index]).changed_at <= shape.pass_since) continue;
    if (!fleet[index].offer.active) continue;
    --budget;
    set_score(shape, index, score_entry(shape, fleet, index, filters, outlook).level);
  }
  if (shape.pass_next >= fleet.size()) shape.pass_since = shape.pass_until;
}

}  // namespace

void append_shape_key(const Request& request, std::string& key) {
  const model::ResourceRequest& resources = request.resources;
  append(key, resources.cpu_units);
  append(key, resources.memory_mib);
  append(key, resources.host_ports.size());
  for (const model::HostPort& port : resources.host_ports) {
    append(key, port.port);
    append(key, port.udp);
  }
  append(key, resources.gpus.size());
  for (const model::GpuRequest& gpu : resources.gpus) {
    append(key, gpu.kind);
    append(key, gpu.count);
    append(key, gpu.memory_mib);
    append(key, gpu.milli);
    append(key, gpu.mig_profile);
  }
  append(key, request.launch_type);
  append(key, request.required_attributes.size());
  for (const std::string& name : request.required_attributes) append(key, name);
  for (const api::ecs::PlacementConstraint& constraint : request.constraints) {
    append(key, constraint.type ? static_cast<int>(*constraint.type) : -1);
    append(key, constraint.expression.value_or(""));
  }
  append(key, request.strategies.size());
  for (const api::ecs::PlacementStrategy& strategy : request.strategies) {
    append(key, strategy.type ? static_cast<int>(*strategy.type) : -1);
    append(key, strategy.field.value_or(""));
  }
}

base::Result<Shape> make_shape(const Request& request, Filters& filters) {
  Shape shape;
  shape.demand = demand_of(request.resources);
  shape.rules = TRY(rules_of(request.constraints, request.strategies));
  for (const std::string& name : request.required_attributes) {
    TRY_VOID(add_filter(filters, FilterKind::Attribute, name, shape));
  }
  if (!request.launch_type.empty()) {
    TRY_VOID(add_filter(filters, FilterKind::LaunchType, request.launch_type, shape));
  }
  for (const std::string& expression : shape.rules.expressions) {
    TRY_VOID(add_filter(filters, FilterKind::Expression, expression, shape));
  }
  shape.kind = pack::kind_of(shape.demand, filters.rule_of(shape.filters));
  return shape;
}

pack::Score score_entry(const Shape& shape, Fleet& fleet, uint32_t index, const Filters& filters,
                        const Outlook& outlook) {
  Entry& entry = fleet.entry(index);
  if (!entry.known || !entry.offer.active) return {.level = never_considered, .card = -1};
  int32_t lasting = 0;
  int32_t passing = 0;
  for (const uint32_t filter : shape.filters) {
    if (filters.passes(filter, index)) continue;
    ++(filters.reads_tasks(filter) ? passing : lasting);
  }
  const Blockers blockers = blockers_of(entry.offer, shape.demand);
  if (lasting + passing > 0 || blockers.any()) {
    return {.level = -1 - distance_of(entry.offer, shape.demand, blockers, lasting, passing),
            .card = -1};
  }
  outlook.refresh(entry, fleet.sequence());
  return pack::score(outlook.scale(), outlook.profile_of(entry), entry.standing, entry.offer,
                     shape.demand);
}

void sync_scores(Shape& shape, Fleet& fleet, const Filters& filters, const Outlook& outlook) {
  if (shape.scores.size() < fleet.size()) {
    const size_t blocks = (fleet.size() + block - 1) / block;
    shape.scores.resize(blocks * block, never_considered);
    shape.block_best.resize(blocks, never_considered);
  }
  fleet.changed_since(shape.synced_at, [&](uint32_t index) {
    set_score(shape, index, score_entry(shape, fleet, index, filters, outlook).level);
  });
  if (shape.synced_at == 0) shape.pass_since = shape.pass_until = outlook.changed_at();
  shape.synced_at = fleet.sequence();
  continue_pass(shape, fleet, filters, outlook);
}

uint32_t best_entry(const Shape& shape) {
  const auto highest = std::ranges::max_element(shape.block_best);
  if (highest == shape.block_best.end() || *highest == never_considered) return Fleet::none;
  const auto begin = (highest - shape.block_best.begin()) * static_cast<std::ptrdiff_t>(block);
  const auto first = shape.scores.begin() + begin;
  return static_cast<uint32_t>(std::find(first, first + block, *highest) - shape.scores.begin());
}

}  // namespace placement
