#include "placement/pack/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

struct Trial {
  const Scale& scale;
  const Profile& profile;
  const InstanceSummary& summary;
  const Ask& ask;

  double after(const Reach& reach, double taken_milli) const {
    return potential_of(profile, scale.tuning, reach, summary.idle_milli - taken_milli,
                        summary.cpu_free - ask.cpu_units, summary.memory_free - ask.memory_mib);
  }
  double price_of(double taken_milli) const {
    return scale.tuning.scarcity * profile.price * taken_milli;
  }

  int32_t without_gpus() const {
    double gain = summary.potential - after(summary.reach, 0);
    if (profile.hardware.gpus == 0) gain += scale.tuning.no_gpu_bonus;
    return level_of(scale, gain);
  }

  // Whole cards are alike here: the topology chooses among them later.
  Reach without_whole(int32_t& count) const {
    Reach reach = summary.reach;
    count = std::min<int32_t>(ask.whole_gpus, summary.whole_free);
    for (int32_t i = 0; i < count; ++i) {
      profile.fragmentation.remove(reach, model::whole_gpu_milli);
    }
    return reach;
  }

  // Tries each card that can take the shares, those with equal room once.
  Score best_share(const Reach& reach, double whole_milli) const {
    Score best;
    for (size_t i = 0; i < summary.cards; ++i) {
      if ((ask.share_cards >> i & 1) == 0 || tried_before(i)) continue;
      const int16_t room = summary.milli[i];
      const auto asked = static_cast<int16_t>(std::min<int32_t>(ask.share_milli, room));
      const auto left = static_cast<int16_t>(room - asked);
      Reach shared = reach;
      profile.fragmentation.remove(shared, room);
      profile.fragmentation.add(shared, left);
      double gain =
          summary.potential - after(shared, whole_milli + asked) - price_of(whole_milli + asked);
      gain -= 1000 * scale.tuning.worth *
              (profile.share_value.of(room) - profile.share_value.of(left) -
               profile.share_value.of(asked));
      const int32_t level = level_of(scale, gain);
      if (level > best.level) best = {.level = level, .card = static_cast<int32_t>(i)};
    }
    return best;
  }

  bool tried_before(size_t card) const {
    for (size_t i = 0; i < card; ++i) {
      if ((ask.share_cards >> i & 1) != 0 && summary.milli[i] == summary.milli[card]) return true;
    }
    return false;
  }
};

// Source: the paper's artifact, BestFit: the remaining CPU and GPU, each measured by the largest
// instance, count half; a share goes on the tightest card.
Score best_fit(const Scale& scale, const InstanceSummary& summary, const Ask& ask) {
  Score score;
  double taken = 1000.0 * ask.whole_gpus + ask.share_milli;
  for (size_t i = 0; i < summary.cards; ++i) {
    if ((ask.share_cards >> i & 1) == 0) continue;
    if (score.card < 0 || summary.milli[i] < summary.milli[static_cast<size_t>(score.card)]) {
      score.card = static_cast<int32_t>(i);
    }
  }
  const double cpu_left = static_cast<double>(summary.cpu_free - ask.cpu_units) /
                          static_cast<double>(scale.most_cpu_units);
  const double gpu_left = (summary.idle_milli - taken) / (1000.0 * scale.most_gpus);
  score.level =
      static_cast<int32_t>(std::clamp(100 * (1 - 0.5 * cpu_left - 0.5 * gpu_left), 0.0, 1000.0));
  return score;
}

int16_t milli_free(const Card& card) {
  if (card.whole_free) return model::whole_gpu_milli;
  if (card.mig || card.memory_mib <= 0) return 0;
  const int64_t by_memory = card.memory_free_mib * model::whole_gpu_milli / card.memory_mib;
  // Never 1000: it cannot be given out whole.
  return static_cast<int16_t>(std::clamp<int64_t>(std::min<int64_t>(by_memory, card.milli_free), 0,
                                                  model::whole_gpu_milli - 1));
}

uint64_t digest_of(const InstanceSummary& summary) {
  uint64_t digest = 0;
  const auto add = [&](int64_t value) {
    digest = (digest ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15ULL;
    digest ^= digest >> 32;
  };
  add(summary.cpu_free);
  add(summary.memory_free);
  for (size_t i = 0; i < summary.cards; ++i) add(summary.milli[i]);
  return digest;
}

}  // namespace

Scale::Scale(Policy chosen) : policy(chosen), tuning(tuning_of(chosen, Bottleneck::Gpu)) {
  for (size_t i = 0; i < boundaries.size(); ++i) {
    const auto level = static_cast<double>(i + 1);
    boundaries[i] = tuning.scale * (std::log(level / (100 - level)) - 1e-9);
  }
}

int32_t level_of(const Scale& scale, double gain) {
  size_t level = 0;  // Boundaries at or below the gain; a binary search without branches.
  for (const size_t step : {64U, 32U, 16U, 8U, 4U, 2U, 1U}) {
    const size_t next = level + step;
    level = next <= scale.boundaries.size() && scale.boundaries[next - 1] <= gain ? next : level;
  }
  return static_cast<int32_t>(level);
}

Tuning tuning_of(Policy policy, Bottleneck bottleneck) {
  if (policy != Policy::Berth) return {};
  if (bottleneck == Bottleneck::Cpu) {
    return {.fragments = 1,
            .stranded_cpu = 0.4,
            .stranded_memory = 0,
            .worth = 10,
            .scarcity = 0,
            .no_gpu_bonus = 500,
            .scale = 2000};
  }
  return {.fragments = 1,
          .stranded_cpu = 1.6,
          .stranded_memory = 0.5,
          .worth = 10,
          .scarcity = 3,
          .no_gpu_bonus = 500,
          .scale = 2000};
}

bool InstanceSummary::same_state(const InstanceSummary& other) const {
  return cpu_free == other.cpu_free && memory_free == other.memory_free && milli == other.milli &&
         share_milli == other.share_milli && share_memory_mib == other.share_memory_mib &&
         cards == other.cards && connected == other.connected && silent == other.silent &&
         special == other.special;
}

InstanceSummary summary_of(const Offer& offer) {
  InstanceSummary summary;
  summary.connected = offer.connected;
  summary.silent = offer.silent;
  summary.cpu_free = offer.cpu_free;
  summary.memory_free = offer.memory_free;
  summary.cards = static_cast<uint8_t>(std::min(offer.cards.size(), most_cards));
  summary.special = offer.cards.size() > most_cards;
  for (size_t i = 0; i < summary.cards; ++i) {
    const Card& card = offer.cards[i];
    summary.special |= card.mig || card.memory_mib != offer.cards[0].memory_mib;
    summary.milli[i] = milli_free(card);
    summary.share_milli[i] = static_cast<int16_t>(std::max(card.milli_free, 0));
    summary.share_memory_mib[i] = static_cast<int32_t>(
        std::clamp<int64_t>(card.memory_free_mib, 0, std::numeric_limits<int32_t>::max()));
    summary.idle_milli += summary.milli[i];
    summary.whole_free = static_cast<int16_t>(summary.whole_free + card.whole_free);
  }
  summary.digest = digest_of(summary);
  return summary;
}

void refresh(InstanceSummary& summary, const Profile& profile, const Tuning& tuning) {
  summary.reach = {};
  for (size_t i = 0; i < summary.cards; ++i) {
    if (summary.milli[i] > 0) profile.fragmentation.add(summary.reach, summary.milli[i]);
  }
  summary.potential = potential_of(profile, tuning, summary.reach, summary.idle_milli,
                                   summary.cpu_free, summary.memory_free);
}

Score score(const Scale& scale, const Profile& profile, const InstanceSummary& summary,
            const Ask& ask) {
  if (scale.policy == Policy::Random) return {.level = 0, .card = -1};
  if (scale.policy == Policy::BestFit) return best_fit(scale, summary, ask);
  const Trial trial{scale, profile, summary, ask};
  if (ask.whole_gpus == 0 && !ask.shares) return {.level = trial.without_gpus(), .card = -1};
  int32_t whole = 0;
  const Reach reach = trial.without_whole(whole);
  const double whole_milli = 1000.0 * whole;
  if (ask.shares) {
    Score best = trial.best_share(reach, whole_milli);
    // Only a MIG instance, or a card beyond those looked at, can take them.
    if (best.level < 0) best.level = 0;
    return best;
  }
  const double gain =
      summary.potential - trial.after(reach, whole_milli) - trial.price_of(whole_milli);
  return {.level = level_of(scale, gain), .card = -1};
}

}  // namespace placement::pack
