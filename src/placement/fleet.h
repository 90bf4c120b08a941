// The instances of one cluster, as the engine keeps them: a small copy of each in a fixed order,
// and who changed since when.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/state.h"
#include "placement/cores.h"
#include "placement/offer.h"
#include "placement/pack/objective.h"

namespace placement {

struct Entry {
  model::InstanceArn arn;
  Offer offer;
  bool known = true;  // False: the instance is gone, or in another cluster now.
  pack::Hardware hardware;
  pack::InstanceSummary summary;
  uint64_t summary_at = 0;  // When summary's reach and potential were computed.
  uint32_t profile = 0;     // The workload model's.
  PinnedCores pinned;
  uint64_t facts = 0;  // A hash of all that an expression may ask but tasks.
  uint64_t facts_changed_at = 0;
};

// An entry keeps its index as long as the fleet lives: ties go to the lower index, that is to the
// instance that has been known longest.
class Fleet {
 public:
  static constexpr uint32_t none = 0xFFFFFFFF;

  void update(const model::ContainerInstance& instance);
  void remove(const model::InstanceArn& arn);

  size_t size() const { return entries_.size(); }
  const Entry& operator[](size_t index) const { return entries_[index]; }
  Entry& entry(size_t index) { return entries_[index]; }
  uint32_t find(const model::InstanceArn& arn) const;

  // Grows with each change. tick() is for changes of other kinds that caches must see.
  uint64_t sequence() const { return sequence_; }
  uint64_t tick() { return ++sequence_; }

  // Calls with the index of each entry that changed after `since`, the latest first.
  template <class Function>
  void changed_since(uint64_t since, Function function) const {
    for (uint32_t i = newest_; i != none && links_[i].changed_at > since; i = links_[i].older) {
      function(i);
    }
  }

  // Among ACTIVE instances; 0 when there is none.
  int32_t most_whole_gpus() const;
  int64_t most_cpu_units() const;
  bool any_active() const { return !active_by_gpus_.empty(); }

 private:
  // The list of entries by when they changed.
  struct Link {
    uint64_t changed_at = 0;
    uint32_t newer = none;
    uint32_t older = none;
  };

  void count(const Entry& entry, int by);
  void touch(uint32_t index);

  std::vector<Entry> entries_;
  std::vector<Link> links_;
  std::unordered_map<model::InstanceArn, uint32_t> index_of_;  // Looked up, never iterated.
  std::map<int32_t, int32_t> active_by_gpus_;                  // Whole GPUs to number of instances.
  std::map<int64_t, int32_t> active_by_cpu_;
  uint32_t newest_ = none;
  uint64_t sequence_ = 0;
};

}  // namespace placement
