// The packing objective: how good it is to put a task on an instance, with what else the cluster is
// likely to be asked for in mind.
//
// Each instance has a potential, in thousandths of a GPU, low where the rest of it is of use:
//   fragments  what is idle but of no use to the typical task (pack/fragmentation.h);
//   stranded   GPUs whose share of the instance's CPU or memory is used up: idle GPU beyond the
//              share of CPU (and of memory) that is still free;
//   worth      what the free parts of shared GPUs can still be made of (pack/share_value.h),
//              counted negative.
// A task goes where it raises the potential least; using a class of instances that will be run out
// of first costs extra (pack/scarcity.h). The difference is put through a sigmoid and cut into 100
// levels, and of equal levels the instance that the cluster has known longest wins: exact scores
// would spread small tasks over all instances.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "placement/offer.h"
#include "placement/pack/fragmentation.h"
#include "placement/pack/hardware.h"
#include "placement/pack/share_value.h"
#include "placement/policy.h"

namespace placement::pack {

// The weights of the parts, all in thousandths of a GPU.
struct Tuning {
  double fragments = 1;
  double stranded_cpu = 0;
  double stranded_memory = 0;
  double worth = 0;
  double scarcity = 0;
  double no_gpu_bonus =
      0;                // For a task without GPUs on an instance without: keep GPUs' hosts free.
  double scale = 1000;  // What the sigmoid counts as one.
};
Tuning tuning_of(Policy policy);

// Instances of the same hardware that are eligible for the same typical kinds.
struct Profile {
  Hardware hardware;
  uint64_t eligible = 0;  // Of the typical rules, one bit each.
  Fragmentation fragmentation;
  ShareValue share_value;
  std::vector<ShareValue::Size> share_sizes;  // What share_value was made from.
  double price = 0;                           // Scarcity of the class.
  uint64_t changed_at = 0;  // Sequence number at which scores went stale; price or tables.
};

// The state of an instance as the objective sees it.
struct Standing {
  int64_t cpu_free = 0;
  int64_t memory_free = 0;
  std::array<int16_t, most_cards> milli{};  // Free of each card, 1000 = whole.
  uint8_t cards = 0;
  int32_t idle_milli = 0;  // The sum.
  Reach reach;             // Of all cards; this and the potential are refresh()'s.
  double potential = 0;
};
Standing standing_of(const Offer& offer);
// Fills in what depends on the profile.
void refresh(Standing& standing, const Profile& profile, const Tuning& tuning);

struct Score {
  int32_t level = -1;  // Below 0: does not fit. The higher, the better.
  int32_t card = -1;   // For shares: the card; -1: any that fits (MIG).
};

// What does not change from instance to instance, once a policy is chosen.
struct Scale {
  Policy policy = Policy::Berth;
  Tuning tuning;
  int64_t most_cpu_units = 1;  // The largest instance: what bestfit measures by.
  int32_t most_gpus = 1;
};

// The offer must fit the demand.
Score score(const Scale& scale, const Profile& profile, const Standing& standing,
            const Offer& offer, const Demand& demand);

// floor(100 * sigmoid(x)), 0 to 100.
int32_t sigmoid_level(double x);

}  // namespace placement::pack
