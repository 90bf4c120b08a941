#include "placement/assign.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "placement/topology.h"

namespace placement {
namespace {

std::vector<size_t> whole_candidates(const Offer& offer, std::optional<size_t> share_card) {
  std::vector<size_t> free;
  for (size_t i = 0; i < offer.cards.size(); ++i) {
    if (offer.cards[i].whole_free && i != share_card) free.push_back(i);
  }
  return free;
}

// The requests for whole GPUs, the largest first, so that it gets the best of the task's set.
std::vector<const model::GpuRequest*> whole_requests(const model::ResourceRequest& request) {
  std::vector<const model::GpuRequest*> requests;
  for (const model::GpuRequest& gpu : request.gpus) {
    if (gpu.kind == model::GpuRequestKind::Count) requests.push_back(&gpu);
  }
  std::ranges::sort(requests, [](const model::GpuRequest* left, const model::GpuRequest* right) {
    return std::tie(right->count, left->container) < std::tie(left->count, right->container);
  });
  return requests;
}

void assign_whole(const model::ContainerInstance& instance, const Offer& offer,
                  const model::ResourceRequest& request, const Demand& demand,
                  std::optional<size_t> share_card, model::HeldResources& held) {
  const std::vector<size_t> free = whole_candidates(offer, share_card);
  if (demand.all_gpus) {
    const auto all =
        std::ranges::find(request.gpus, model::GpuRequestKind::All, &model::GpuRequest::kind);
    for (const size_t card : free) {
      held.gpus.push_back({.container = all->container, .gpu = instance.gpus[card].device.uuid});
    }
    return;
  }
  if (demand.whole_gpus == 0) return;
  const auto count = static_cast<size_t>(demand.whole_gpus);
  CHECK(count <= free.size());
  if (count == free.size() && request.gpus.size() == 1) {  // Nothing to choose.
    for (const size_t card : free) {
      held.gpus.push_back(
          {.container = request.gpus[0].container, .gpu = instance.gpus[card].device.uuid});
    }
    return;
  }
  const Connectivity connectivity(instance.gpus);
  std::vector<size_t> rest = best_connected(connectivity, free, count);
  for (const model::GpuRequest* gpu : whole_requests(request)) {
    for (const size_t card : best_connected(connectivity, rest, gpu->count)) {
      held.gpus.push_back({.container = gpu->container, .gpu = instance.gpus[card].device.uuid});
      std::erase(rest, card);
    }
  }
}

void assign_shares(const model::ContainerInstance& instance, const Offer& offer,
                   const model::ResourceRequest& request, const Demand& demand, size_t card,
                   model::HeldResources& held) {
  const model::GpuDevice& device = instance.gpus[card].device;
  for (const model::GpuRequest& gpu : request.gpus) {
    const bool by_memory = gpu.kind == model::GpuRequestKind::Memory;
    if (!by_memory && gpu.kind != model::GpuRequestKind::Fraction) continue;
    if (mig_fits_share(offer, card, demand)) {
      held.gpus.push_back({.container = gpu.container, .gpu = device.uuid});
      continue;
    }
    const Share share{.memory_mib = by_memory ? gpu.memory_mib : 0,
                      .milli = by_memory ? 0 : gpu.milli};
    held.gpus.push_back({.container = gpu.container,
                         .gpu = device.uuid,
                         .shared = true,
                         .memory_mib = pinned_memory_mib(share, device.memory_mib),
                         .milli = share.milli,
                         .max_compute_percent = gpu.max_compute_percent});
  }
}

void assign_profiles(const model::ContainerInstance& instance, const Offer& offer,
                     const model::ResourceRequest& request, model::HeldResources& held) {
  std::vector<bool> taken(offer.cards.size());
  for (const model::GpuRequest& gpu : request.gpus) {
    if (gpu.kind != model::GpuRequestKind::Profile) continue;
    for (size_t i = 0; i < offer.mig_profiles.size(); ++i) {
      if (taken[i] || !offer.cards[i].mig_free || offer.mig_profiles[i] != gpu.mig_profile) {
        continue;
      }
      taken[i] = true;
      held.gpus.push_back({.container = gpu.container, .gpu = instance.gpus[i].device.uuid});
      break;
    }
  }
}

}  // namespace

std::optional<size_t> tightest_card(const Offer& offer, const Demand& demand) {
  std::optional<size_t> best;
  std::tuple<bool, int64_t> best_rank;
  for (size_t i = 0; i < offer.cards.size(); ++i) {
    if (!card_fits_shares(offer, i, demand)) continue;
    const Card& card = offer.cards[i];
    const int64_t left = (card.mig ? card.memory_mib : card.memory_free_mib) -
                         sum_of(demand.shares, card.memory_mib).memory_mib;
    const std::tuple rank(card.whole_free, left);
    if (best && rank >= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

model::HeldResources assign(const model::ClusterState& state, const Site& site,
                            const model::ResourceRequest& request, const Demand& demand,
                            std::optional<size_t> share_card) {
  const auto& [instance, offer, pinned] = site;
  model::HeldResources held;
  held.cpu_units = request.cpu_units;
  held.memory_mib = request.memory_mib;
  held.host_ports = request.host_ports;
  if (!demand.shares.empty()) {
    CHECK(share_card.has_value());
    assign_shares(instance, offer, request, demand, *share_card, held);
  }
  assign_whole(instance, offer, request, demand, share_card, held);
  assign_profiles(instance, offer, request, held);
  held.cpuset = choose_cores(state, instance, held, pinned);
  return held;
}

}  // namespace placement
