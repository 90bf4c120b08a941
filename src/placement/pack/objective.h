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
// of first costs extra (pack/scarcity.h). Where the CPU is what a cluster runs out of, stranded
// GPUs weigh less and no class is scarce. The difference is put through a sigmoid and cut into 100
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
// What a cluster runs out of first. Where that is the CPU, GPUs will be stranded wherever tasks go
// and none is scarce: the terms for both would only get in the way of the others.
enum class Bottleneck : uint8_t { Gpu, Cpu };
Tuning tuning_of(Policy policy, Bottleneck bottleneck);

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

// The state of an instance, small and in one piece: what is asked of it thousands of times a
// second.
struct InstanceSummary {
  int64_t cpu_free = 0;
  int64_t memory_free = 0;
  // Of each card: thousandths that are free, 1000 = the card can be given out whole, and only then;
  // what shares can have of it. 0 for MIG instances.
  std::array<int16_t, most_cards> milli{};
  std::array<int16_t, most_cards> share_milli{};
  std::array<int32_t, most_cards> share_memory_mib{};
  int32_t idle_milli = 0;  // The sum of milli.
  int16_t whole_free = 0;  // How many of milli are 1000.
  uint8_t cards = 0;
  bool connected = false;
  bool silent = false;
  // Not all is said here: MIG instances, GPUs of different memory, or more than most_cards.
  bool special = false;

  // Of all above: different digests, different states.
  uint64_t digest = 0;
  bool same_state(const InstanceSummary& other) const;

  // What refresh() makes of it.
  Reach reach;
  double potential = 0;
};
InstanceSummary summary_of(const Offer& offer);
// Fills in what depends on the profile.
void refresh(InstanceSummary& summary, const Profile& profile, const Tuning& tuning);

struct Score {
  int32_t level = -1;  // Below 0: does not fit. The higher, the better.
  int32_t card = -1;   // For shares: the card; -1: any that fits (MIG).
};

// What does not change from instance to instance, once a policy is chosen.
struct Scale {
  explicit Scale(Policy chosen);

  Policy policy;
  Tuning tuning;
  // Where the sigmoid's levels begin, 1 to 99, in thousandths of a GPU.
  std::array<double, 99> boundaries{};
  int64_t most_cpu_units = 1;  // The largest instance: what bestfit measures by.
  int32_t most_gpus = 1;
};

// A task as one instance sees it, which it fits.
struct Ask {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  int32_t whole_gpus = 0;
  bool shares = false;
  uint32_t share_cards = 0;  // The cards that can take its shares, one bit each.
  int32_t share_milli = 0;   // What they take of the card, for the objective.
};

Score score(const Scale& scale, const Profile& profile, const InstanceSummary& summary,
            const Ask& ask);

// floor(100 * sigmoid(gain / tuning.scale)), 0 to 99. A gain that is 0 but for rounding is 0.
int32_t level_of(const Scale& scale, double gain);

}  // namespace placement::pack
