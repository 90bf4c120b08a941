#include "placement/pack/objective.h"

#include <algorithm>
#include <cmath>

#include "placement/assign.h"

namespace placement::pack {
namespace {

// What the instance looks like with the task on it, given its cards' reach and idle sum.
double potential_of(const Profile& profile, const Tuning& tuning, const Reach& reach,
                    double idle_milli, int64_t cpu_free, int64_t memory_free) {
  const Hardware& hardware = profile.hardware;
  double potential = 0;
  if (tuning.fragments > 0) {
    potential += tuning.fragments * (idle_milli - profile.fragmentation.useful(reach, cpu_free));
  }
  if (tuning.stranded_cpu > 0 && hardware.gpus > 0) {
    const double cpu_share = static_cast<double>(cpu_free) /
                             static_cast<double>(std::max<int64_t>(hardware.cpu_units, 1));
    const double memory_share = static_cast<double>(memory_free) /
                                static_cast<double>(std::max<int64_t>(hardware.memory_mib, 1));
    const double capacity = 1000.0 * hardware.gpus;
    potential += tuning.stranded_cpu * std::max(0.0, idle_milli - cpu_share * capacity);
    potential += tuning.stranded_memory * std::max(0.0, idle_milli - memory_share * capacity);
  }
  return potential;
}

int32_t level_of(const Tuning& tuning, double gain) {
  return sigmoid_level(gain / tuning.scale);
}

struct Trial {
  const Profile& profile;
  const Tuning& tuning;
  const Standing& standing;
  const Demand& demand;

  double after(const Reach& reach, double taken_milli) const {
    return potential_of(profile, tuning, reach, standing.idle_milli - taken_milli,
                        standing.cpu_free - demand.cpu_units,
                        standing.memory_free - demand.memory_mib);
  }
  double price_of(double taken_milli) const {
    return tuning.scarcity * profile.price * taken_milli;
  }

  int32_t without_gpus() const {
    double gain = standing.potential - after(standing.reach, 0);
    if (profile.hardware.gpus == 0) gain += tuning.no_gpu_bonus;
    return level_of(tuning, gain);
  }

  // Whole cards are alike here: the topology chooses among them later.
  Reach without_whole(int32_t count, double& taken_milli) const {
    Reach reach = standing.reach;
    for (size_t i = 0; i < standing.cards && count > 0; ++i) {
      if (standing.milli[i] != model::whole_gpu_milli) continue;
      profile.fragmentation.remove(reach, model::whole_gpu_milli);
      taken_milli += model::whole_gpu_milli;
      --count;
    }
    return reach;
  }

  // Tries each card that can take the shares, those with equal room once.
  Score best_share(const Offer& offer, const Reach& reach, double whole_milli) const {
    Score best;
    uint64_t tried[16] = {};
    for (size_t i = 0; i < std::min<size_t>(standing.cards, most_cards); ++i) {
      const int16_t room = standing.milli[i];
      uint64_t& word = tried[room / 64];
      const uint64_t bit = uint64_t{1} << (room % 64);
      if (room <= 0 || (word & bit) != 0 || !card_fits_shares(offer, i, demand)) continue;
      word |= bit;
      const int64_t memory = offer.cards[i].memory_mib;
      const auto asked = static_cast<int32_t>(
          std::min<int64_t>(milli_of(sum_of(demand.shares, memory), memory), room));
      const auto left = static_cast<int16_t>(room - asked);
      Reach shared = reach;
      profile.fragmentation.remove(shared, room);
      profile.fragmentation.add(shared, left);
      double gain =
          standing.potential - after(shared, whole_milli + asked) - price_of(whole_milli + asked);
      gain -= 1000 * tuning.worth *
              (profile.share_value.of(room) - profile.share_value.of(left) -
               profile.share_value.of(asked));
      const int32_t level = level_of(tuning, gain);
      if (level > best.level) best = {.level = level, .card = static_cast<int32_t>(i)};
    }
    return best;
  }
};

// Source: gpu-packing protocol of the paper's artifact, BestFit: the remaining CPU and GPU, each
// measured by the largest instance, count half.
Score best_fit(const Scale& scale, const Standing& standing, const Offer& offer,
               const Demand& demand) {
  Score score;
  double taken = 0;
  if (demand.all_gpus) {
    taken = 1000.0 * offer.whole_gpus;
  } else {
    taken = 1000.0 * demand.whole_gpus;
  }
  if (!demand.shares.empty()) {
    const std::optional<size_t> card = tightest_card(offer, demand);
    const int64_t memory = offer.cards[*card].memory_mib;
    taken += static_cast<double>(milli_of(sum_of(demand.shares, memory), memory));
    score.card = static_cast<int32_t>(*card);
  }
  const double cpu_left = static_cast<double>(standing.cpu_free - demand.cpu_units) /
                          static_cast<double>(scale.most_cpu_units);
  const double gpu_left = (standing.idle_milli - taken) / (1000.0 * scale.most_gpus);
  score.level =
      static_cast<int32_t>(std::clamp(100 * (1 - 0.5 * cpu_left - 0.5 * gpu_left), 0.0, 1000.0));
  return score;
}

int16_t milli_free(const Card& card) {
  if (card.whole_free) return model::whole_gpu_milli;
  if (card.mig || card.memory_mib <= 0) return 0;
  const int64_t by_memory = card.memory_free_mib * model::whole_gpu_milli / card.memory_mib;
  return static_cast<int16_t>(
      std::clamp<int64_t>(by_memory, 0, std::clamp(card.milli_free, 0, model::whole_gpu_milli)));
}

}  // namespace

int32_t sigmoid_level(double x) {
  // A difference that is 0 but for rounding belongs to the level of 0.
  return static_cast<int32_t>(100 / (1 + std::exp(-x)) + 1e-7);
}

Tuning tuning_of(Policy policy) {
  if (policy != Policy::Berth) return {};
  return {.fragments = 1,
          .stranded_cpu = 1.6,
          .stranded_memory = 0.5,
          .worth = 10,
          .scarcity = 3,
          .no_gpu_bonus = 500,
          .scale = 2000};
}

Standing standing_of(const Offer& offer) {
  Standing standing;
  standing.cpu_free = offer.cpu_free;
  standing.memory_free = offer.memory_free;
  standing.cards = static_cast<uint8_t>(std::min(offer.cards.size(), most_cards));
  for (size_t i = 0; i < standing.cards; ++i) {
    standing.milli[i] = milli_free(offer.cards[i]);
    standing.idle_milli += standing.milli[i];
  }
  return standing;
}

void refresh(Standing& standing, const Profile& profile, const Tuning& tuning) {
  standing.reach = {};
  for (size_t i = 0; i < standing.cards; ++i) {
    profile.fragmentation.add(standing.reach, standing.milli[i]);
  }
  standing.potential = potential_of(profile, tuning, standing.reach, standing.idle_milli,
                                    standing.cpu_free, standing.memory_free);
}

Score score(const Scale& scale, const Profile& profile, const Standing& standing,
            const Offer& offer, const Demand& demand) {
  if (scale.policy == Policy::Random) return {.level = 0, .card = -1};
  if (scale.policy == Policy::BestFit) return best_fit(scale, standing, offer, demand);
  const Trial trial{profile, scale.tuning, standing, demand};
  const int32_t whole = demand.all_gpus ? offer.whole_gpus_free : demand.whole_gpus;
  if (whole == 0 && demand.shares.empty()) return {.level = trial.without_gpus(), .card = -1};
  double whole_milli = 0;
  const Reach reach = trial.without_whole(whole, whole_milli);
  if (!demand.shares.empty()) {
    Score best = trial.best_share(offer, reach, whole_milli);
    // Only a MIG instance fits: it is whole, and no card of the objective.
    if (best.level < 0) best.level = 0;
    return best;
  }
  const double gain =
      standing.potential - trial.after(reach, whole_milli) - trial.price_of(whole_milli);
  return {.level = level_of(scale.tuning, gain), .card = -1};
}

}  // namespace placement::pack
