// What the engine expects of a cluster's future: the typical workload, learned from what arrives,
// and from it the profile by which each instance is judged.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "placement/filters.h"
#include "placement/fleet.h"
#include "placement/pack/mix.h"
#include "placement/pack/objective.h"
#include "placement/pack/scarcity.h"

namespace placement {

class WorkloadModel {
 public:
  explicit WorkloadModel(Policy policy);

  // From now on the typical workload is this, and nothing is learned.
  void fix(const std::vector<pack::Kind>& kinds);

  // Forgets the instances, keeps what was learned.
  void forget_instances();

  // A task arrives. To be called before sync().
  void observe(const pack::Kind& kind);

  // Gives every entry that has changed a profile, and makes all profiles anew when the workload or
  // the room that is left has changed enough.
  void sync(const model::ClusterState& state, Fleet& fleet, Filters& filters);

  const pack::Profile& profile_of(const Entry& entry) const { return profiles_[entry.profile]; }
  // The sequence number of the last change of this entry's profile, as of the last sync().
  uint64_t changed_at(size_t index) const { return profiles_[counted_[index].profile].changed_at; }
  // The sequence number of the last change of any profile.
  uint64_t changed_at() const { return changed_at_; }
  const pack::Scale& scale() const { return scale_; }
  // Brings the entry's summary up to date with its profile; now: the fleet's sequence number.
  void refresh(Entry& entry, uint64_t now) const;
  // The sum over all entries, in thousandths of a GPU: how much idle GPU is of no use.
  double fragments(Fleet& fleet) const;

 private:
  // The ACTIVE instances of a profile.
  struct Room {
    double idle_milli = 0;  // GPU that is free.
    int64_t instances = 0;
  };
  struct Counted {
    uint32_t profile = 0;
    int32_t idle_milli = 0;
    bool active = false;
  };

  bool learns() const { return !fixed_ && scale_.policy != Policy::Random; }
  bool has_prices() const { return scale_.policy == Policy::Berth; }
  std::vector<pack::Weighted> typical_now() const;
  // Takes the measure of the largest instance; true: scores depend on it, and it has changed.
  bool measure(const Fleet& fleet);
  // All scores are stale as of the sequence number returned.
  uint64_t restamp(Fleet& fleet);
  void rebuild(const model::ClusterState& state, Fleet& fleet, Filters& filters);
  void assign_profile(Entry& entry, uint32_t index, const Filters& filters);
  uint64_t eligible_mask(uint32_t index, const Filters& filters) const;
  void fill(pack::Profile& profile);
  void count(const Entry& entry, Counted& counted);
  void reprice(Fleet& fleet);
  // What kinds ask of the GPUs, by the profiles that could run them.
  std::vector<pack::Flow> flows_of(const std::vector<pack::Weighted>& kinds) const;
  // What the cluster runs out of first when tasks arrive as in `kinds`, the average of which asks
  // for so much GPU; all scores are stale when that changes.
  void find_bottleneck(const std::vector<pack::Weighted>& kinds, double gpu_milli, Fleet& fleet);

  pack::Scale scale_;
  pack::Bottleneck bottleneck_ = pack::Bottleneck::Gpu;
  pack::Mix mix_;
  bool fixed_ = false;
  uint64_t next_rebuild_ = 1;
  uint64_t repriced_at_ = 0;  // Arrivals.
  bool rebuild_due_ = true;
  bool reprice_due_ = false;
  std::vector<pack::Weighted> typical_;
  std::vector<uint32_t> rules_;  // Of the typical kinds, at most 64.
  std::map<std::pair<pack::Hardware, uint64_t>, uint32_t> number_of_;
  std::vector<pack::Profile> profiles_;
  std::vector<Room> rooms_;       // Per profile.
  std::vector<Counted> counted_;  // Per entry: what rooms_ holds of it.
  uint64_t synced_at_ = 0;
  uint64_t changed_at_ = 0;
};

}  // namespace placement
