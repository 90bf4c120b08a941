#include "placement/offer.h"

#include <algorithm>

namespace placement {
namespace {

bool is_mig_parent(const model::ContainerInstance& instance, const std::string& uuid) {
  return std::ranges::any_of(
      instance.gpus, [&](const model::GpuSlot& slot) { return slot.device.mig_parent == uuid; });
}

Card card_of(const model::GpuSlot& slot, bool mig_parent) {
  const model::GpuDevice& device = slot.device;
  Card card;
  card.memory_mib = device.memory_mib;
  card.mig = !device.mig_profile.empty();
  const bool usable = device.healthy && slot.state != model::GpuState::Releasing &&
                      slot.state != model::GpuState::Quarantined && !mig_parent;
  const bool idle = usable && slot.state == model::GpuState::Idle && slot.holders.empty();
  card.whole_free = idle && !card.mig;
  card.mig_free = idle && card.mig;
  if (usable && !card.mig && (idle || slot.state == model::GpuState::NvidiaMps) &&
      device.mps_capable) {
    card.memory_free_mib = device.memory_mib;
    card.milli_free = model::whole_gpu_milli;
    for (const model::GpuHolder& holder : slot.holders) {
      card.memory_free_mib -= holder.memory_mib;
      card.milli_free -= holder.milli;
    }
  }
  return card;
}

// Each MIG profile asked for needs an instance of its own.
bool mig_profiles_fit(const Offer& offer, const Demand& demand) {
  std::vector<bool> taken(offer.cards.size());
  for (const std::string& profile : demand.mig_profiles) {
    bool found = false;
    for (size_t i = 0; i < offer.mig_profiles.size() && !found; ++i) {
      if (taken[i] || !offer.cards[i].mig_free || offer.mig_profiles[i] != profile) continue;
      taken[i] = true;
      found = true;
    }
    if (!found) return false;
  }
  return true;
}

bool shares_fit(const Offer& offer, const Demand& demand) {
  for (size_t i = 0; i < offer.cards.size(); ++i) {
    if (card_fits_shares(offer, i, demand)) return true;
  }
  return false;
}

bool gpus_fit(const Offer& offer, const Demand& demand) {
  if (demand.all_gpus) {
    if (offer.whole_gpus == 0 || offer.whole_gpus_free != offer.whole_gpus) return false;
  } else if (offer.whole_gpus_free < demand.whole_gpus) {
    return false;
  }
  if (!demand.mig_profiles.empty() && !mig_profiles_fit(offer, demand)) return false;
  return demand.shares.empty() || shares_fit(offer, demand);
}

bool has_port_taken(const Offer& offer, const Demand& demand) {
  return std::ranges::any_of(demand.host_ports, [&](const model::HostPort& port) {
    return std::ranges::binary_search(offer.taken_ports, port);
  });
}

}  // namespace

Offer offer_of(const model::ContainerInstance& instance) {
  Offer offer;
  offer.active = instance.status == model::InstanceStatus::Active;
  offer.connected = instance.agent_connected;
  offer.silent = instance.agent_silent;
  offer.external = instance.external;
  offer.pins_cores = instance.emulated_instance_type.empty();
  offer.cpu_registered = instance.cpu_units;
  offer.memory_registered = instance.memory_mib;
  offer.cpu_free = model::cpu_units_free(instance);
  offer.memory_free = model::memory_mib_free(instance);
  bool has_mig = false;
  for (const model::GpuSlot& slot : instance.gpus) has_mig |= !slot.device.mig_profile.empty();
  offer.cards.reserve(instance.gpus.size());
  for (const model::GpuSlot& slot : instance.gpus) {
    const bool mig_parent = has_mig && is_mig_parent(instance, slot.device.uuid);
    const Card card = card_of(slot, mig_parent);
    offer.whole_gpus += !card.mig && !mig_parent;
    offer.whole_gpus_free += card.whole_free;
    offer.cards.push_back(card);
    if (has_mig) offer.mig_profiles.push_back(slot.device.mig_profile);
  }
  offer.taken_ports.assign(instance.reserved_ports.begin(), instance.reserved_ports.end());
  for (const auto& [port, task] : instance.ports_held) offer.taken_ports.push_back(port);
  std::ranges::sort(offer.taken_ports);
  return offer;
}

bool card_fits_shares(const Offer& offer, size_t card, const Demand& demand) {
  if (mig_fits_share(offer, card, demand)) return true;
  const Card& candidate = offer.cards[card];
  if (candidate.memory_free_mib <= 0 && candidate.milli_free <= 0) return false;
  if (candidate.whole_free && offer.whole_gpus_free <= demand.whole_gpus) return false;
  const ShareSum sum = sum_of(demand.shares, candidate.memory_mib);
  return sum.memory_mib <= candidate.memory_free_mib && sum.milli <= candidate.milli_free;
}

bool mig_fits_share(const Offer& offer, size_t card, const Demand& demand) {
  const Card& candidate = offer.cards[card];
  return candidate.mig_free && demand.mig_profiles.empty() && demand.shares.size() == 1 &&
         demand.shares[0].memory_mib > 0 && demand.shares[0].memory_mib <= candidate.memory_mib;
}

Blockers blockers_of(const Offer& offer, const Demand& demand) {
  Blockers blockers;
  blockers.agent = !offer.connected;
  // A negative rest must not refuse a task that asks for none of it.
  blockers.cpu = demand.cpu_units > 0 && demand.cpu_units > offer.cpu_free;
  blockers.memory = demand.memory_mib > 0 && demand.memory_mib > offer.memory_free;
  blockers.ports = has_port_taken(offer, demand);
  blockers.gpu = demand.wants_gpu() && !gpus_fit(offer, demand);
  if (!demand.contradiction.empty()) {
    (demand.wants_gpu() ? blockers.gpu : blockers.ports) = true;
    blockers.never = true;
    return blockers;
  }
  blockers.never = (blockers.cpu && demand.cpu_units > offer.cpu_registered) ||
                   (blockers.memory && demand.memory_mib > offer.memory_registered) ||
                   (blockers.gpu && lacks_gpus(offer, demand));
  return blockers;
}

bool lacks_gpus(const Offer& offer, const Demand& demand) {
  if (offer.cards.empty() || offer.whole_gpus < demand.whole_gpus) return true;
  const auto lacks = [&](const std::string& profile) {
    return std::ranges::find(offer.mig_profiles, profile) == offer.mig_profiles.end();
  };
  if (std::ranges::any_of(demand.mig_profiles, lacks)) return true;
  return !demand.shares.empty() && std::ranges::none_of(offer.cards, [&](const Card& card) {
    return sum_of(demand.shares, card.memory_mib).memory_mib <= card.memory_mib;
  });
}

bool fits(const Offer& offer, const Demand& demand) {
  return offer.active && offer.connected && !blockers_of(offer, demand).any();
}

}  // namespace placement
