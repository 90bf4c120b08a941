#include "placement/outlook.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "placement/pack/scarcity.h"

namespace placement {
namespace {

// Source of the coverage: the FGD paper, "typical pods" cover 95 % of tasks.
constexpr double coverage = 0.95;
constexpr double half_life = 16384;
// The workload is looked at anew after 1, 4, 16, ... 4096 tasks, then each 4096.
constexpr uint64_t rebuild_factor = 4;
constexpr uint64_t rebuild_every = 4096;
constexpr double same_workload = 0.03;
constexpr uint64_t reprice_every = 256;
constexpr double same_price = 0.05;
constexpr size_t most_rules = 64;
constexpr size_t most_flow_kinds = 256;
// Before anything is known, each hardware expects one task of its full size.
constexpr double prior_tasks = 1;

std::vector<uint32_t> rules_of(const std::vector<pack::Weighted>& kinds) {
  std::vector<uint32_t> rules;
  for (const pack::Weighted& each : kinds) {
    if (each.kind.rule == 0 || rules.size() == most_rules) continue;
    if (std::ranges::find(rules, each.kind.rule) == rules.end()) rules.push_back(each.kind.rule);
  }
  std::ranges::sort(rules);
  return rules;
}

bool is_eligible(const pack::Profile& profile, const std::vector<uint32_t>& rules, uint32_t rule) {
  const auto found = std::ranges::lower_bound(rules, rule);
  if (found == rules.end() || *found != rule) return true;  // None, or one too many to look at.
  return (profile.eligible >> (found - rules.begin()) & 1) != 0;
}

}  // namespace

Outlook::Outlook(Policy policy) : scale_(policy), mix_(policy == Policy::Berth ? half_life : 0) {}

void Outlook::fix(const std::vector<pack::Kind>& kinds) {
  for (const pack::Kind& kind : kinds) mix_.observe(kind);
  fixed_ = true;
  rebuild_due_ = true;
}

// The profiles stay, with their tables and prices: they follow from hardware and workload, and when
// they are next made anew must not depend on when the instances were taken in.
void Outlook::forget_instances() {
  for (pack::Profile& profile : profiles_) profile.changed_at = 0;
  std::ranges::fill(idle_, 0.0);
  counted_.clear();
  synced_at_ = 0;
  changed_at_ = 0;
}

void Outlook::observe(const pack::Kind& kind) {
  if (!learns()) return;
  mix_.observe(kind);
  const uint64_t arrivals = mix_.arrivals();
  if (arrivals >= next_rebuild_) {
    rebuild_due_ = true;
    next_rebuild_ = arrivals + std::min(arrivals * (rebuild_factor - 1), rebuild_every);
  }
  if (scale_.tuning.scarcity > 0 &&
      (std::has_single_bit(arrivals) || arrivals >= repriced_at_ + reprice_every)) {
    reprice_due_ = true;
  }
}

void Outlook::refresh(Entry& entry, uint64_t now) const {
  const pack::Profile& profile = profile_of(entry);
  if (entry.standing_at > 0 && entry.standing_at >= profile.changed_at) return;
  pack::refresh(entry.standing, profile, scale_.tuning);
  entry.standing_at = now;
}

void Outlook::sync(const model::ClusterState& state, Fleet& fleet, Filters& filters) {
  const bool measured_anew = measure(fleet);
  if (rebuild_due_) {
    std::vector<pack::Weighted> typical = mix_.typical(coverage);
    if (profiles_.empty() || pack::distance(typical, typical_) > same_workload) {
      typical_ = std::move(typical);
      rebuild(state, fleet, filters);
    }
    rebuild_due_ = false;
  }
  if (measured_anew) changed_at_ = restamp(fleet);
  for (const uint32_t rule : rules_) filters.sync(state, fleet, filters.filters_of(rule));
  counted_.resize(fleet.size(), {0, 0});
  fleet.changed_since(synced_at_, [&](uint32_t index) {
    Entry& entry = fleet.entry(index);
    if (entry.facts_changed_at > synced_at_) assign_profile(entry, index, filters);
    auto& [profile, counted] = counted_[index];
    idle_[profile] -= counted;
    profile = entry.profile;
    counted = entry.offer.active ? entry.standing.idle_milli : 0;
    idle_[profile] += counted;
  });
  synced_at_ = fleet.sequence();
  if (reprice_due_) {
    reprice(fleet);
    reprice_due_ = false;
    synced_at_ = fleet.sequence();
  }
}

bool Outlook::measure(const Fleet& fleet) {
  const int64_t cpu_units = std::max<int64_t>(fleet.most_cpu_units(), 1);
  const int32_t gpus = std::max(fleet.most_whole_gpus(), 1);
  const bool same = scale_.most_cpu_units == cpu_units && scale_.most_gpus == gpus;
  scale_.most_cpu_units = cpu_units;
  scale_.most_gpus = gpus;
  return !same && scale_.policy == Policy::BestFit;
}

uint64_t Outlook::restamp(Fleet& fleet) {
  const uint64_t now = fleet.tick();
  for (pack::Profile& profile : profiles_) profile.changed_at = now;
  return now;
}

void Outlook::rebuild(const model::ClusterState& state, Fleet& fleet, Filters& filters) {
  const std::vector<uint32_t> rules = rules_of(typical_);
  if (profiles_.empty() || rules != rules_) {
    rules_ = rules;
    number_of_.clear();
    profiles_.clear();
    idle_.clear();
    counted_.assign(fleet.size(), {0, 0});
    for (const uint32_t rule : rules_) filters.sync(state, fleet, filters.filters_of(rule));
    // Entries that are not known, and those to come, stand on the profile of no hardware.
    number_of_.emplace(std::pair(pack::Hardware{}, uint64_t{0}), 0);
    profiles_.emplace_back();
    idle_.push_back(0);
    for (uint32_t i = 0; i < fleet.size(); ++i) assign_profile(fleet.entry(i), i, filters);
    for (uint32_t i = 0; i < fleet.size(); ++i) {
      const Entry& entry = fleet[i];
      counted_[i] = {entry.profile, entry.offer.active ? entry.standing.idle_milli : 0};
      idle_[entry.profile] += counted_[i].second;
    }
  }
  for (pack::Profile& profile : profiles_) fill(profile);
  changed_at_ = restamp(fleet);
  reprice_due_ = scale_.tuning.scarcity > 0;
}

uint64_t Outlook::eligible_mask(uint32_t index, const Filters& filters) const {
  uint64_t mask = 0;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const std::vector<uint32_t>& required = filters.filters_of(rules_[i]);
    const bool passes = std::ranges::all_of(required, [&](uint32_t filter) {
      return filters.reads_tasks(filter) || filters.passes(filter, index);
    });
    if (passes) mask |= uint64_t{1} << i;
  }
  return mask;
}

void Outlook::assign_profile(Entry& entry, uint32_t index, const Filters& filters) {
  if (!entry.known) {
    entry.profile = 0;
    return;
  }
  const uint64_t mask = eligible_mask(index, filters);
  const auto [found, added] = number_of_.try_emplace(std::pair(entry.hardware, mask),
                                                     static_cast<uint32_t>(profiles_.size()));
  if (added) {
    pack::Profile& profile = profiles_.emplace_back();
    profile.hardware = entry.hardware;
    profile.eligible = mask;
    idle_.push_back(0);
    fill(profile);
  }
  entry.profile = found->second;
  entry.standing_at = 0;
}

void Outlook::fill(pack::Profile& profile) {
  std::vector<pack::Weighted> eligible;
  std::map<int32_t, double> sizes;
  for (const pack::Weighted& each : typical_) {
    if (!is_eligible(profile, rules_, each.kind.rule)) continue;
    eligible.push_back(each);
    const int32_t milli = pack::milli_on(profile.hardware, each.kind);
    if (each.kind.share != Share{} && profile.hardware.shareable && milli > 0 && milli < 1000) {
      sizes[milli] += each.weight;
    }
  }
  profile.fragmentation = pack::Fragmentation(profile.hardware, eligible);
  if (scale_.tuning.worth <= 0) return;
  std::vector<pack::ShareValue::Size> list;
  for (const auto& [milli, weight] : sizes) list.push_back({milli, weight});
  // Profiles of one cluster are mostly of the same GPUs.
  for (const pack::Profile& other : profiles_) {
    if (other.share_sizes == list) {
      profile.share_sizes = list;
      profile.share_value = other.share_value;
      return;
    }
  }
  profile.share_value = pack::ShareValue(list);
  profile.share_sizes = std::move(list);
}

void Outlook::reprice(Fleet& fleet) {
  repriced_at_ = mix_.arrivals();
  std::vector<pack::Weighted> kinds = mix_.all();
  if (kinds.size() > most_flow_kinds) {
    std::ranges::nth_element(kinds, kinds.begin() + most_flow_kinds, std::ranges::greater(),
                             &pack::Weighted::weight);
    kinds.resize(most_flow_kinds);
  }
  std::map<std::vector<size_t>, double> flows;
  const auto add = [&](const pack::Kind& kind, const auto& may_run, double weight) {
    std::vector<size_t> where;
    for (size_t i = 0; i < profiles_.size(); ++i) {
      if (may_run(profiles_[i])) where.push_back(i);
    }
    if (where.empty()) return;
    const pack::Hardware& hardware = profiles_[where[0]].hardware;
    flows[where] += weight * pack::gpus_on(hardware, kind) * pack::milli_on(hardware, kind);
  };
  for (const pack::Weighted& each : kinds) {
    if (!each.kind.wants_gpu()) continue;
    add(
        each.kind,
        [&](const pack::Profile& profile) {
          return pack::could_run(profile.hardware, each.kind) &&
                 is_eligible(profile, rules_, each.kind.rule);
        },
        each.weight);
  }
  std::set<pack::Hardware> hardwares;
  for (const pack::Profile& profile : profiles_) hardwares.insert(profile.hardware);
  for (const pack::Hardware& hardware : hardwares) {
    if (hardware.gpus == 0) continue;
    const pack::Kind full{.cpu_units = hardware.cpu_units,
                          .memory_mib = hardware.memory_mib,
                          .whole_gpus = hardware.gpus};
    add(
        full, [&](const pack::Profile& profile) { return pack::could_run(profile.hardware, full); },
        prior_tasks / std::max(mix_.weight(), 1.0));
  }
  std::vector<pack::Flow> list;
  for (const auto& [where, weight] : flows) list.push_back({weight, where});
  const std::vector<double> prices = pack::scarcity(list, idle_);
  uint64_t now = 0;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    if (std::abs(prices[i] - profiles_[i].price) <= same_price) continue;
    if (now == 0) now = fleet.tick();
    profiles_[i].price = prices[i];
    profiles_[i].changed_at = now;
    changed_at_ = now;
  }
}

double Outlook::fragments(Fleet& fleet) const {
  double sum = 0;
  for (size_t i = 0; i < fleet.size(); ++i) {
    Entry& entry = fleet.entry(i);
    if (!entry.known || !entry.offer.active) continue;
    refresh(entry, fleet.sequence());
    sum += entry.standing.idle_milli -
           profile_of(entry).fragmentation.useful(entry.standing.reach, entry.standing.cpu_free);
  }
  return sum;
}

}  // namespace placement
