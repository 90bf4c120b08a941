#include "placement/workload_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <set>

namespace placement {
namespace {

// Source of the coverage: the FGD paper, "typical pods" cover 95 % of tasks. Tasks without GPUs
// make all idle GPU a fragment, which tells no instance from another: Berth looks at the others
// only.
constexpr double coverage = 0.95;
constexpr double coverage_with_gpus = 0.93;
constexpr double half_life = 16384;
// The workload is looked at anew after 1, 4, 16, ... 4096 tasks, then each 4096.
constexpr uint64_t rebuild_factor = 4;
constexpr uint64_t rebuild_every = 4096;
constexpr double same_workload = 0.03;
constexpr uint64_t reprice_every = 256;
constexpr double same_price = 0.05;
constexpr size_t most_rules = 64;
constexpr size_t most_flow_kinds = 256;
// Before anything is known, each hardware expects so many tasks of its full size: its GPUs are not
// given to small tasks that could go elsewhere before the first large ones arrive.
constexpr double prior_tasks = 60;
// The typical task takes so much more of the cluster's CPU than of its GPU where the CPU is the
// bottleneck; two figures, so that it does not come and go. Nothing is said of fewer tasks.
constexpr double gets_cpu_bound = 1.2;
constexpr double stays_cpu_bound = 1.1;
constexpr double least_known = 64;

std::vector<uint32_t> rule_numbers(const std::vector<pack::Weighted>& kinds) {
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

WorkloadModel::WorkloadModel(Policy policy)
    : scale_(policy), mix_(policy == Policy::Berth ? half_life : 0) {}

void WorkloadModel::fix(const std::vector<pack::Kind>& kinds) {
  for (const pack::Kind& kind : kinds) mix_.observe(kind);
  fixed_ = true;
  rebuild_due_ = true;
}

// The profiles stay, with their tables and prices: they follow from hardware and workload, and when
// they are next made anew must not depend on when the instances were taken in.
void WorkloadModel::forget_instances() {
  for (pack::Profile& profile : profiles_) profile.changed_at = 0;
  std::ranges::fill(rooms_, Room{});
  counted_.clear();
  synced_at_ = 0;
  changed_at_ = 0;
}

void WorkloadModel::observe(const pack::Kind& kind) {
  if (!learns()) return;
  mix_.observe(kind);
  const uint64_t arrivals = mix_.arrivals();
  if (arrivals >= next_rebuild_) {
    rebuild_due_ = true;
    next_rebuild_ = arrivals + std::min(arrivals * (rebuild_factor - 1), rebuild_every);
  }
  if (has_prices() && (std::has_single_bit(arrivals) || arrivals >= repriced_at_ + reprice_every)) {
    reprice_due_ = true;
  }
}

void WorkloadModel::refresh(Entry& entry, uint64_t now) const {
  const pack::Profile& profile = profile_of(entry);
  if (entry.summary_at > 0 && entry.summary_at >= profile.changed_at) return;
  pack::refresh(entry.summary, profile, scale_.tuning);
  entry.summary_at = now;
}

void WorkloadModel::sync(const model::ClusterState& state, Fleet& fleet, Filters& filters) {
  const bool measured_anew = measure(fleet);
  if (rebuild_due_) {
    std::vector<pack::Weighted> typical = typical_now();
    if (profiles_.empty() || pack::distance(typical, typical_) > same_workload) {
      typical_ = std::move(typical);
      rebuild(state, fleet, filters);
    }
    rebuild_due_ = false;
  }
  if (measured_anew) changed_at_ = restamp(fleet);
  for (const uint32_t rule : rules_) filters.sync(state, fleet, filters.filters_of(rule));
  counted_.resize(fleet.size());
  fleet.changed_since(synced_at_, [&](uint32_t index) {
    Entry& entry = fleet.entry(index);
    if (entry.facts_changed_at > synced_at_) assign_profile(entry, index, filters);
    count(entry, counted_[index]);
  });
  synced_at_ = fleet.sequence();
  if (reprice_due_) {
    reprice(fleet);
    reprice_due_ = false;
    synced_at_ = fleet.sequence();
  }
}

std::vector<pack::Weighted> WorkloadModel::typical_now() const {
  return scale_.policy == Policy::Berth
             ? mix_.typical(coverage_with_gpus, pack::Mix::Tasks::WithGpus)
             : mix_.typical(coverage);
}

void WorkloadModel::count(const Entry& entry, Counted& counted) {
  Room& before = rooms_[counted.profile];
  before.idle_milli -= counted.idle_milli;
  before.instances -= counted.active;
  counted = {entry.profile, entry.offer.active ? entry.summary.idle_milli : 0, entry.offer.active};
  Room& now = rooms_[counted.profile];
  now.idle_milli += counted.idle_milli;
  now.instances += counted.active;
}

bool WorkloadModel::measure(const Fleet& fleet) {
  const int64_t cpu_units = std::max<int64_t>(fleet.most_cpu_units(), 1);
  const int32_t gpus = std::max(fleet.most_whole_gpus(), 1);
  const bool same = scale_.most_cpu_units == cpu_units && scale_.most_gpus == gpus;
  scale_.most_cpu_units = cpu_units;
  scale_.most_gpus = gpus;
  return !same && scale_.policy == Policy::BestFit;
}

uint64_t WorkloadModel::restamp(Fleet& fleet) {
  const uint64_t now = fleet.tick();
  for (pack::Profile& profile : profiles_) profile.changed_at = now;
  return now;
}

void WorkloadModel::rebuild(const model::ClusterState& state, Fleet& fleet, Filters& filters) {
  const std::vector<uint32_t> rules = rule_numbers(typical_);
  if (profiles_.empty() || rules != rules_) {
    rules_ = rules;
    number_of_.clear();
    profiles_.clear();
    rooms_.clear();
    counted_.assign(fleet.size(), {});
    for (const uint32_t rule : rules_) filters.sync(state, fleet, filters.filters_of(rule));
    // Entries that are not known, and those to come, stand on the profile of no hardware.
    number_of_.emplace(std::pair(pack::Hardware{}, uint64_t{0}), 0);
    profiles_.emplace_back();
    rooms_.emplace_back();
    for (uint32_t i = 0; i < fleet.size(); ++i) assign_profile(fleet.entry(i), i, filters);
    for (uint32_t i = 0; i < fleet.size(); ++i) count(fleet[i], counted_[i]);
  }
  for (pack::Profile& profile : profiles_) fill(profile);
  changed_at_ = restamp(fleet);
  reprice_due_ = has_prices();
}

uint64_t WorkloadModel::eligible_mask(uint32_t index, const Filters& filters) const {
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

void WorkloadModel::assign_profile(Entry& entry, uint32_t index, const Filters& filters) {
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
    rooms_.emplace_back();
    fill(profile);
  }
  entry.profile = found->second;
  entry.summary_at = 0;
}

void WorkloadModel::fill(pack::Profile& profile) {
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

void WorkloadModel::reprice(Fleet& fleet) {
  repriced_at_ = mix_.arrivals();
  std::vector<pack::Weighted> kinds = mix_.all();
  if (kinds.size() > most_flow_kinds) {
    std::ranges::nth_element(kinds, kinds.begin() + most_flow_kinds, std::ranges::greater(),
                             &pack::Weighted::weight);
    kinds.resize(most_flow_kinds);
  }
  std::vector<pack::Flow> flows = flows_of(kinds);
  double gpu_milli = 0;
  for (const pack::Flow& flow : flows) gpu_milli += flow.weight;
  find_bottleneck(kinds, gpu_milli, fleet);
  if (scale_.tuning.scarcity <= 0) return;
  std::set<pack::Hardware> hardwares;
  for (const pack::Profile& profile : profiles_) hardwares.insert(profile.hardware);
  std::vector<pack::Weighted> prior;
  for (const pack::Hardware& hardware : hardwares) {
    if (hardware.gpus == 0) continue;
    prior.push_back({{.cpu_units = hardware.cpu_units,
                      .memory_mib = hardware.memory_mib,
                      .whole_gpus = hardware.gpus},
                     prior_tasks / std::max(mix_.weight(), 1.0)});
  }
  std::ranges::move(flows_of(prior), std::back_inserter(flows));
  std::vector<double> idle;
  for (const Room& room : rooms_) idle.push_back(room.idle_milli);
  const std::vector<double> prices = pack::scarcity(flows, idle);
  uint64_t now = 0;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    if (std::abs(prices[i] - profiles_[i].price) <= same_price) continue;
    if (now == 0) now = fleet.tick();
    profiles_[i].price = prices[i];
    profiles_[i].changed_at = now;
    changed_at_ = now;
  }
}

std::vector<pack::Flow> WorkloadModel::flows_of(const std::vector<pack::Weighted>& kinds) const {
  std::map<std::vector<size_t>, double> merged;
  for (const auto& [kind, weight] : kinds) {
    if (!kind.wants_gpu()) continue;
    std::vector<size_t> where;
    for (size_t i = 0; i < profiles_.size(); ++i) {
      const pack::Profile& profile = profiles_[i];
      if (pack::could_run(profile.hardware, kind) && is_eligible(profile, rules_, kind.rule)) {
        where.push_back(i);
      }
    }
    if (where.empty()) continue;
    const pack::Hardware& hardware = profiles_[where[0]].hardware;
    merged[where] += weight * pack::gpus_on(hardware, kind) * pack::milli_on(hardware, kind);
  }
  std::vector<pack::Flow> flows;
  for (const auto& [where, weight] : merged) flows.push_back({weight, where});
  return flows;
}

void WorkloadModel::find_bottleneck(const std::vector<pack::Weighted>& kinds, double gpu_milli,
                                    Fleet& fleet) {
  double cpu_units = 0;
  for (const pack::Weighted& each : kinds) {
    cpu_units += each.weight * static_cast<double>(each.kind.cpu_units);
  }
  double all_cpu_units = 0;
  double all_gpu_milli = 0;
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const auto instances = static_cast<double>(rooms_[i].instances);
    all_cpu_units += instances * static_cast<double>(profiles_[i].hardware.cpu_units);
    all_gpu_milli += instances * model::whole_gpu_milli * profiles_[i].hardware.gpus;
  }
  if (mix_.weight() < least_known || all_cpu_units <= 0 || all_gpu_milli <= 0) return;
  const bool was_cpu = bottleneck_ == pack::Bottleneck::Cpu;
  const double cpu_fill = cpu_units / all_cpu_units;
  const double gpu_fill = gpu_milli / all_gpu_milli * (was_cpu ? stays_cpu_bound : gets_cpu_bound);
  const auto now = cpu_fill > gpu_fill ? pack::Bottleneck::Cpu : pack::Bottleneck::Gpu;
  if (now == bottleneck_) return;
  bottleneck_ = now;
  scale_.tuning = pack::tuning_of(scale_.policy, now);
  changed_at_ = restamp(fleet);
}

double WorkloadModel::fragments(Fleet& fleet) const {
  double sum = 0;
  for (size_t i = 0; i < fleet.size(); ++i) {
    Entry& entry = fleet.entry(i);
    if (!entry.known || !entry.offer.active) continue;
    refresh(entry, fleet.sequence());
    sum += entry.summary.idle_milli -
           profile_of(entry).fragmentation.useful(entry.summary.reach, entry.summary.cpu_free);
  }
  return sum;
}

}  // namespace placement
