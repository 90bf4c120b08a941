#include "placement/shape.h"

#include <algorithm>
#include <array>
#include <span>
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

// In one pass without branches, which std::max_element is not.
int32_t highest(std::span<const int32_t> scores) {
  int32_t best = never_considered;
  for (const int32_t score : scores) best = std::max(best, score);
  return best;
}

void set_score(Shape& shape, size_t index, int32_t score) {
  const int32_t before = shape.scores[index];
  if (before == score) return;
  shape.scores[index] = score;
  int32_t& best = shape.block_best[index / block];
  if (score >= best) {
    best = score;
  } else if (before == best) {
    best = highest({shape.scores.data() + index / block * block, block});
  }
}

// What filters say of an instance: how many do not hold, for good and as tasks are now.
struct Unmet {
  int32_t lasting = 0;
  int32_t passing = 0;
  friend bool operator==(const Unmet&, const Unmet&) = default;
};

Unmet unmet_of(const Shape& shape, uint32_t index, const Filters& filters) {
  Unmet unmet;
  for (const uint32_t filter : shape.filters) {
    if (filters.passes(filter, index)) continue;
    if (filters.key(filter).kind == FilterKind::CapacityProvider) {
      unmet.lasting += most_lasting;  // Farther than any instance of that capacity provider.
    } else {
      ++(filters.reads_tasks(filter) ? unmet.passing : unmet.lasting);
    }
  }
  return unmet;
}

// Scores of instances in the same state are equal: after a change of the workload, and for a new
// shape, many are judged at once, and most of them are alike.
class Memo {
 public:
  // nullptr: judge it.
  const int32_t* find(const Entry& entry, Unmet unmet) const {
    const Known& known = known_[place_of(entry)];
    const bool same = known.entry != nullptr && known.digest == entry.summary.digest &&
                      known.unmet == unmet && known.entry->profile == entry.profile &&
                      !entry.summary.special && known.entry->summary.same_state(entry.summary);
    return same ? &known.level : nullptr;
  }
  void add(const Entry& entry, Unmet unmet, int32_t level) {
    known_[place_of(entry)] = {entry.summary.digest, &entry, unmet, level};
  }

 private:
  struct Known {
    uint64_t digest = 0;
    const Entry* entry = nullptr;
    Unmet unmet;
    int32_t level = 0;
  };
  static size_t place_of(const Entry& entry) {
    return (entry.summary.digest + entry.profile) % std::tuple_size_v<decltype(known_)>;
  }

  std::array<Known, 64> known_{};
};

// Goes on with judging entries whose profile has changed. Whether they fit does not depend on it.
// It goes round: a change on the way makes it go once round from where it is, so that those at the
// end come to their turn however often the workload changes.
void continue_pass(Shape& shape, Fleet& fleet, const Filters& filters,
                   const WorkloadModel& workload_model) {
  if (workload_model.changed_at() > shape.pass_until) {
    shape.pass_until = workload_model.changed_at();
    shape.pass_left = shape.scores.size();
  }
  if (shape.pass_left == 0) return;
  Memo memo;
  size_t budget = most_rescored;
  while (shape.pass_left > 0 && budget > 0) {
    if (shape.pass_next == shape.scores.size()) shape.pass_next = 0;
    const bool at_block = shape.pass_next % block == 0 && shape.pass_left >= block;
    if (at_block && shape.block_best[shape.pass_next / block] < 0) {  // The task fits none of them.
      shape.pass_next += block;
      shape.pass_left -= block;
      continue;
    }
    const auto index = static_cast<uint32_t>(shape.pass_next++);
    --shape.pass_left;
    if (shape.scores[index] < 0 || workload_model.changed_at(index) <= shape.pass_since) continue;
    const Entry& entry = fleet[index];
    if (const int32_t* level = memo.find(entry, {})) {
      set_score(shape, index, *level);
      continue;
    }
    --budget;
    const int32_t level = score_entry(shape, fleet, index, filters, workload_model).level;
    set_score(shape, index, level);
    memo.add(entry, {}, level);
  }
  if (shape.pass_left == 0) shape.pass_since = shape.pass_until;
}

// The first scores of a shape.
void score_all(Shape& shape, Fleet& fleet, const Filters& filters,
               const WorkloadModel& workload_model) {
  Memo memo;
  const bool memorable = shape.demand.host_ports.empty();
  for (uint32_t index = 0; index < fleet.size(); ++index) {
    const Entry& entry = fleet[index];
    if (!memorable || !entry.known || !entry.offer.active) {
      set_score(shape, index, score_entry(shape, fleet, index, filters, workload_model).level);
      continue;
    }
    const Unmet unmet = unmet_of(shape, index, filters);
    if (const int32_t* level = memo.find(entry, unmet)) {
      set_score(shape, index, *level);
      continue;
    }
    const int32_t level = score_entry(shape, fleet, index, filters, workload_model).level;
    set_score(shape, index, level);
    memo.add(entry, unmet, level);
  }
  shape.pass_since = shape.pass_until = workload_model.changed_at();
  shape.pass_left = 0;
}

// What blockers_of() and distance_of() say, from the summary alone.
struct QuickCheck {
  Blockers blockers;
  uint32_t share_cards = 0;
  int32_t missing = 0;
};

QuickCheck check(const Shape& shape, const Entry& entry) {
  const Demand& demand = shape.demand;
  const pack::InstanceSummary& summary = entry.summary;
  QuickCheck check;
  Blockers& blockers = check.blockers;
  blockers.agent = !summary.connected;
  blockers.cpu = demand.cpu_units > summary.cpu_free && demand.cpu_units > 0;
  blockers.memory = demand.memory_mib > summary.memory_free && demand.memory_mib > 0;
  if (blockers.cpu) check.missing += shortage(demand.cpu_units, summary.cpu_free);
  if (blockers.memory) check.missing += shortage(demand.memory_mib, summary.memory_free);
  if (summary.whole_free < demand.whole_gpus) {
    blockers.gpu = true;
    check.missing += shortage(demand.whole_gpus, summary.whole_free);
  }
  const int32_t gpus = entry.offer.whole_gpus;
  if (demand.all_gpus && (gpus == 0 || summary.whole_free != gpus)) {
    blockers.gpu = true;
    check.missing += shortage(std::max(gpus, 1), summary.whole_free);
  }
  if (!demand.shares.empty()) {
    const bool whole_to_spare = summary.whole_free > demand.whole_gpus;
    int32_t most_milli = 0;
    for (size_t i = 0; i < summary.cards; ++i) {
      if (summary.milli[i] == model::whole_gpu_milli && !whole_to_spare) continue;
      most_milli = std::max<int32_t>(most_milli, summary.milli[i]);
      if ((summary.share_milli[i] > 0 || summary.share_memory_mib[i] > 0) &&
          summary.share_milli[i] >= shape.share_sum.milli &&
          summary.share_memory_mib[i] >= shape.share_sum.memory_mib) {
        check.share_cards |= 1U << i;
      }
    }
    if (check.share_cards == 0) {
      blockers.gpu = true;
      check.missing += shortage(shape.share_milli, most_milli);
    }
  }
  blockers.never = (blockers.cpu && demand.cpu_units > entry.offer.cpu_registered) ||
                   (blockers.memory && demand.memory_mib > entry.offer.memory_registered) ||
                   (blockers.gpu && lacks_gpus(entry.offer, demand));
  return check;
}

// As check(), for what a summary does not say.
QuickCheck look(const Shape& shape, const Entry& entry) {
  QuickCheck check;
  check.blockers = blockers_of(entry.offer, shape.demand);
  check.missing = missing_of(entry.offer, shape.demand, check.blockers);
  for (size_t i = 0; i < entry.summary.cards; ++i) {
    if (!entry.offer.cards[i].mig && card_fits_shares(entry.offer, i, shape.demand)) {
      check.share_cards |= 1U << i;
    }
  }
  return check;
}

void recall_share_sum(Shape& shape, int64_t gpu_memory_mib) {
  if (shape.demand.shares.empty() || shape.share_sum_for_mib == gpu_memory_mib) return;
  shape.share_sum_for_mib = gpu_memory_mib;
  shape.share_sum = sum_of(shape.demand.shares, gpu_memory_mib);
  shape.share_milli = static_cast<int32_t>(
      std::clamp<int64_t>(milli_of(shape.share_sum, gpu_memory_mib), 1, 1 << 20));
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
  append(key, request.capacity_provider);
  append(key, request.required_attributes.size());
  for (const std::string& name : request.required_attributes) append(key, name);
  append(key, request.needs.size());
  for (const std::string& need : request.needs) append(key, need);
  append(key, request.constraints.size());
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
  for (const std::string& need : request.needs) {
    TRY_VOID(add_filter(filters, FilterKind::Bounds, need, shape));
  }
  if (!request.launch_type.empty()) {
    TRY_VOID(add_filter(filters, FilterKind::LaunchType, request.launch_type, shape));
  }
  if (!request.capacity_provider.empty()) {
    TRY_VOID(add_filter(filters, FilterKind::CapacityProvider, request.capacity_provider, shape));
  }
  for (const std::string& expression : shape.rules.expressions) {
    TRY_VOID(add_filter(filters, FilterKind::Expression, expression, shape));
  }
  shape.kind = pack::kind_of(shape.demand, filters.rule_of(shape.filters));
  return shape;
}

pack::Score score_entry(Shape& shape, Fleet& fleet, uint32_t index, const Filters& filters,
                        const WorkloadModel& workload_model) {
  Entry& entry = fleet.entry(index);
  if (!entry.known || !entry.offer.active) return {.level = never_considered, .card = -1};
  const auto [lasting, passing] = unmet_of(shape, index, filters);
  recall_share_sum(shape, entry.hardware.gpu_memory_mib);
  const Demand& demand = shape.demand;
  const bool plain = !entry.summary.special && demand.host_ports.empty() &&
                     demand.mig_profiles.empty() && demand.contradiction.empty();
  const QuickCheck seen = plain ? check(shape, entry) : look(shape, entry);
  if (lasting + passing > 0 || seen.blockers.any()) {
    return {.level = -1 - distance_of(seen.blockers, seen.missing, lasting, passing), .card = -1};
  }
  workload_model.refresh(entry, fleet.sequence());
  pack::Score score =
      pack::score(workload_model.scale(), workload_model.profile_of(entry), entry.summary,
                  {.cpu_units = demand.cpu_units,
                   .memory_mib = demand.memory_mib,
                   .whole_gpus = demand.all_gpus ? entry.offer.whole_gpus_free : demand.whole_gpus,
                   .shares = !demand.shares.empty(),
                   .share_cards = seen.share_cards,
                   .share_milli = demand.shares.empty() ? 0 : shape.share_milli});
  if (!entry.summary.silent) score.level += answers_bonus;
  return score;
}

void sync_scores(Shape& shape, Fleet& fleet, const Filters& filters,
                 const WorkloadModel& workload_model) {
  if (shape.scores.size() < fleet.size()) {
    const size_t blocks = (fleet.size() + block - 1) / block;
    if (shape.pass_left > 0) shape.pass_left += blocks * block - shape.scores.size();
    shape.scores.resize(blocks * block, never_considered);
    shape.block_best.resize(blocks, never_considered);
  }
  if (shape.synced_at == 0) {
    score_all(shape, fleet, filters, workload_model);
  } else {
    fleet.changed_since(shape.synced_at, [&](uint32_t index) {
      set_score(shape, index, score_entry(shape, fleet, index, filters, workload_model).level);
    });
  }
  shape.synced_at = fleet.sequence();
  continue_pass(shape, fleet, filters, workload_model);
}

void forget_scores(Shape& shape) {
  shape.scores.clear();
  shape.block_best.clear();
  shape.synced_at = 0;
  shape.pass_since = 0;
  shape.pass_until = 0;
  shape.pass_next = 0;
  shape.pass_left = 0;
}

uint32_t best_entry(const Shape& shape) {
  const int32_t best = highest(shape.block_best);
  if (best == never_considered) return Fleet::none;
  const auto in = std::ranges::find(shape.block_best, best) - shape.block_best.begin();
  const auto first = shape.scores.begin() + in * static_cast<std::ptrdiff_t>(block);
  return static_cast<uint32_t>(std::find(first, first + block, best) - shape.scores.begin());
}

}  // namespace placement
