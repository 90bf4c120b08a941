// What an instance has to give now: a small copy of its record, quick to compare with a Demand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/state.h"
#include "placement/demand.h"

namespace placement {

// One GPU, or one MIG instance.
struct Card {
  int64_t memory_mib = 0;
  int64_t memory_free_mib = 0;  // Of use to shares; 0 where the GPU cannot be shared now.
  int32_t milli_free = 0;       // As memory_free_mib, for fractions.
  bool whole_free = false;      // May be given out as a whole GPU.
  bool mig_free = false;        // A MIG instance that may be given out.
  bool mig = false;
  friend bool operator==(const Card&, const Card&) = default;
};

struct Offer {
  bool active = false;
  bool connected = false;
  bool silent = false;  // Connected, but nothing answers there now.
  bool external = false;
  bool pins_cores = false;  // A real machine.
  int64_t cpu_free = 0;     // Below 0 when a machine came back smaller than what its tasks hold.
  int64_t memory_free = 0;
  int64_t cpu_registered = 0;
  int64_t memory_registered = 0;
  int32_t whole_gpus = 0;  // GPUs that could be given out whole if all were free.
  int32_t whole_gpus_free = 0;
  std::vector<Card> cards;                   // As ContainerInstance::gpus.
  std::vector<std::string> mig_profiles;     // Of each card, where the instance has MIG instances.
  std::vector<model::HostPort> taken_ports;  // Sorted.
};

Offer offer_of(const model::ContainerInstance& instance);

// What stands in the way of a demand on one instance. A blocked resource is either short for now,
// or for good: more than the instance has when empty.
struct Blockers {
  bool agent = false;
  bool cpu = false;
  bool memory = false;
  bool ports = false;
  bool gpu = false;
  bool never = false;  // A resource is short for good.

  bool resources() const { return cpu || memory || ports || gpu; }
  bool any() const { return agent || resources(); }
  int count() const { return agent + cpu + memory + ports + gpu; }
};

// Agent and resources; attributes are not looked at here.
Blockers blockers_of(const Offer& offer, const Demand& demand);
bool fits(const Offer& offer, const Demand& demand);
// Also when empty: too few GPUs, none that is large enough for the shares, or not these MIG
// instances.
bool lacks_gpus(const Offer& offer, const Demand& demand);

// The card that can take all of the demand's shares besides its whole GPUs.
bool card_fits_shares(const Offer& offer, size_t card, const Demand& demand);
// A single share by memory may have a whole MIG instance of at least that memory.
bool mig_fits_share(const Offer& offer, size_t card, const Demand& demand);

}  // namespace placement
