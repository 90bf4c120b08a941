#include "placement/refusal.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/sentence.h"
#include "model/capabilities.h"
#include "model/task_bounds.h"

namespace placement {
namespace {

int32_t gpu_shortage(const Offer& offer, const Demand& demand) {
  int32_t missing = shortage(demand.whole_gpus, offer.whole_gpus_free);
  if (demand.all_gpus) missing += shortage(offer.whole_gpus, offer.whole_gpus_free);
  if (!demand.shares.empty()) {
    int32_t least = 1000;
    ShareSum sum;
    int64_t sum_for_mib = -1;
    for (const Card& card : offer.cards) {
      if (card.memory_mib != sum_for_mib) sum = sum_of(demand.shares, card.memory_mib);
      sum_for_mib = card.memory_mib;
      least = std::min(least, std::max(shortage(sum.memory_mib, card.memory_free_mib),
                                       shortage(sum.milli, card.milli_free)));
    }
    missing += least;
  }
  return missing;
}

struct GpuCounts {
  int total = 0;
  int free = 0;
  int releasing = 0;
  int quarantined = 0;
  int unhealthy = 0;
  int shared = 0;
};

GpuCounts count_gpus(const model::ContainerInstance& instance, const Offer& offer) {
  GpuCounts counts;
  counts.total = offer.whole_gpus;
  counts.free = offer.whole_gpus_free;
  for (size_t i = 0; i < instance.gpus.size(); ++i) {
    const model::GpuSlot& slot = instance.gpus[i];
    if (offer.cards[i].mig) continue;
    if (slot.state == model::GpuState::Quarantined) {
      ++counts.quarantined;
    } else if (!slot.device.healthy) {
      ++counts.unhealthy;
    } else if (slot.state == model::GpuState::Releasing) {
      ++counts.releasing;
    } else if (slot.state == model::GpuState::NvidiaMps) {
      ++counts.shared;
    }
  }
  return counts;
}

// "3 free of 8, 1 releasing".
std::string free_phrase(const model::ContainerInstance& instance, const Offer& offer) {
  const GpuCounts counts = count_gpus(instance, offer);
  if (counts.total == 0) {
    return instance.gpus.empty() ? "the instance has no GPU"
                                 : "the instance has MIG instances only, no whole GPU";
  }
  std::string text = base::format("{} free of {}", counts.free, counts.total);
  if (counts.releasing > 0) text += base::format(", {} releasing", counts.releasing);
  if (counts.quarantined > 0) text += base::format(", {} quarantined", counts.quarantined);
  if (counts.unhealthy > 0) text += base::format(", {} unhealthy", counts.unhealthy);
  if (counts.shared > 0) text += base::format(", {} shared", counts.shared);
  return text;
}

std::string share_phrase(const model::ContainerInstance& instance, const Offer& offer,
                         const Demand& demand) {
  if (instance.gpus.empty()) return "the instance has no GPU";
  const bool can_share = std::ranges::any_of(instance.gpus, [](const model::GpuSlot& slot) {
    return slot.device.mps_capable || !slot.device.mig_profile.empty();
  });
  if (!can_share) {
    return "no GPU of the instance can be shared, because NVIDIA MPS needs one of the Volta "
           "architecture or newer, and nvidia-cuda-mps-control on the machine";
  }
  int64_t asked_mib = 0;
  for (const Share& share : demand.shares) asked_mib += share.memory_mib;
  int64_t whole_mib = 0;
  for (const Card& card : offer.cards) whole_mib = std::max(whole_mib, card.memory_mib);
  if (asked_mib > whole_mib) {
    return base::format(
        "the largest GPU of the instance has {} MiB (a driver keeps some of what data sheets say); "
        "ask for \"{}MiB\" or for a whole GPU",
        whole_mib, whole_mib);
  }
  int64_t largest_mib = 0;
  int32_t largest_milli = 0;
  for (size_t i = 0; i < offer.cards.size(); ++i) {
    const Card& card = offer.cards[i];
    if (card.whole_free && offer.whole_gpus_free <= demand.whole_gpus) continue;
    largest_mib = std::max(largest_mib, card.mig_free ? card.memory_mib : card.memory_free_mib);
    largest_milli = std::max(largest_milli, card.milli_free);
  }
  if (demand.shares[0].milli > 0) {
    return base::format("at most {:.3g} free on one, {} MiB", largest_milli / 1000.0, largest_mib);
  }
  return base::format("at most {} MiB free on one", largest_mib);
}

std::string profile_phrase(const Offer& offer, const Demand& demand) {
  std::set<std::string> present;
  for (const std::string& profile : offer.mig_profiles) {
    if (!profile.empty()) present.insert(profile);
  }
  if (present.empty()) return "the instance has no MIG instances";
  std::string text;
  const std::set<std::string> wanted(demand.mig_profiles.begin(), demand.mig_profiles.end());
  for (const std::string& profile : wanted) {
    int total = 0;
    int free = 0;
    for (size_t i = 0; i < offer.cards.size(); ++i) {
      if (offer.mig_profiles[i] != profile) continue;
      ++total;
      free += offer.cards[i].mig_free;
    }
    if (!text.empty()) text += ", ";
    text += total == 0 ? base::format("the instance has none of profile {}, but {}", profile,
                                      base::join(present, ", "))
                       : base::format("{} of {} free of {}", free, profile, total);
  }
  return text;
}

std::string port_phrase(const Offer& offer, const Demand& demand) {
  std::string text;
  for (const model::HostPort& port : demand.host_ports) {
    if (!std::ranges::binary_search(offer.taken_ports, port)) continue;
    if (!text.empty()) text += ", ";
    text += base::format("{}/{}", port.port, port.udp ? "udp" : "tcp");
  }
  return base::format("needs host port {}, which is taken", text);
}

std::string amount_phrase(std::string_view unit, int64_t asked, int64_t free, int64_t registered) {
  if (asked > registered) {
    return base::format("needs {} {}; the instance has {} in all", asked, unit, registered);
  }
  return base::format("needs {} {}; {} free of {}", asked, unit, std::max<int64_t>(free, 0),
                      registered);
}

std::string_view first_reason(const Objections& objections) {
  const Blockers& blockers = objections.blockers;
  if (blockers.agent) return reason_agent;
  if (objections.wrong_instance()) return reason_attribute;
  if (blockers.cpu) return reason_cpu;
  if (blockers.memory) return reason_memory;
  if (blockers.ports) return reason_ports;
  if (blockers.gpu) return reason_gpu;
  return objections.expressions.empty() ? reason_distinct : reason_constraint;
}

std::string agent_sentence(const model::ContainerInstance& instance) {
  if (instance.status_reason.empty()) return "The agent of the instance is not connected.";
  return base::sentence(
      base::format("The agent of the instance is not connected: {}", instance.status_reason));
}

std::vector<std::string> resource_phrases(const model::ContainerInstance& instance,
                                          const Offer& offer, const Demand& demand,
                                          const Blockers& blockers, int32_t most_gpus) {
  std::vector<std::string> phrases;
  if (blockers.cpu) {
    phrases.push_back(
        amount_phrase("CPU units", demand.cpu_units, offer.cpu_free, offer.cpu_registered));
  }
  if (blockers.memory) {
    phrases.push_back(amount_phrase("MiB of memory", demand.memory_mib, offer.memory_free,
                                    offer.memory_registered));
  }
  if (blockers.ports) phrases.push_back(port_phrase(offer, demand));
  if (blockers.gpu) phrases.push_back(gpu_phrase(instance, offer, demand, most_gpus));
  return phrases;
}

}  // namespace

std::string name_of(const model::ContainerInstance& instance) {
  const std::string id(model::short_id(instance.arn.str()));
  const auto host = instance.attributes.find(std::string(model::attribute_host_name));
  return host == instance.attributes.end() ? id : base::format("{} ({})", host->second, id);
}

std::string gpus_wanted(const Demand& demand) {
  std::vector<std::string> parts;
  if (demand.all_gpus) parts.push_back("all GPUs");
  if (demand.whole_gpus > 0) {
    parts.push_back(base::format("{} GPU{}", demand.whole_gpus, demand.whole_gpus > 1 ? "s" : ""));
  }
  ShareSum sum;
  for (const Share& share : demand.shares) {
    sum.milli += share.milli;
    sum.memory_mib += share.memory_mib;
  }
  if (sum.milli > 0) parts.push_back(base::format("{:.3g} of one GPU", sum.milli / 1000.0));
  if (sum.memory_mib > 0) parts.push_back(base::format("{} MiB of one GPU", sum.memory_mib));
  for (const std::string& profile : demand.mig_profiles) {
    parts.push_back(base::format("a MIG instance {}", profile));
  }
  return base::format("{}", base::join(parts, " and "));
}

std::string gpu_phrase(const model::ContainerInstance& instance, const Offer& offer,
                       const Demand& demand, int32_t most_gpus) {
  std::string text = base::format("needs {}", gpus_wanted(demand));
  if (most_gpus == 0 && demand.whole_gpus > 0) return text + "; no instance has a whole GPU";
  if (most_gpus >= 0 && demand.whole_gpus > most_gpus) {
    return text + base::format("; no instance has more than {}", most_gpus);
  }
  if (demand.whole_gpus > 0 || demand.all_gpus) text += "; " + free_phrase(instance, offer);
  if (!demand.shares.empty()) text += "; " + share_phrase(instance, offer, demand);
  if (!demand.mig_profiles.empty()) text += "; " + profile_phrase(offer, demand);
  return text;
}

int32_t shortage(int64_t asked, int64_t free) {
  if (asked <= 0 || free >= asked) return 0;
  const double missing = static_cast<double>(asked - std::max<int64_t>(free, 0));
  return static_cast<int32_t>(1000.0 * missing / static_cast<double>(asked));
}

int32_t missing_of(const Offer& offer, const Demand& demand, const Blockers& blockers) {
  int32_t missing = 0;
  if (blockers.cpu) missing += shortage(demand.cpu_units, offer.cpu_free);
  if (blockers.memory) missing += shortage(demand.memory_mib, offer.memory_free);
  if (blockers.gpu) missing += gpu_shortage(offer, demand);
  return missing;
}

int32_t distance_of(const Blockers& blockers, int32_t missing, int32_t unmet_lasting,
                    int32_t unmet_passing) {
  const int32_t lasting = unmet_lasting + blockers.never + blockers.agent;
  const int32_t obstacles = unmet_passing + blockers.count();
  return std::min(lasting, most_lasting) << 24 | std::min(obstacles, 15) << 20 |
         std::min(missing, (1 << 20) - 1);
}

Refusal refusal_of(const model::ContainerInstance& instance, const Offer& offer,
                   const Demand& demand, const Objections& objections, int32_t most_gpus) {
  std::vector<std::string> sentences;
  if (!demand.contradiction.empty()) {
    return {.instance = instance.arn,
            .reason = std::string(first_reason(objections)),
            .detail = base::format("No instance can ever take the task: {}.", demand.contradiction),
            .name = name_of(instance)};
  }
  if (objections.blockers.agent) sentences.push_back(agent_sentence(instance));
  if (!objections.kinds.empty()) {
    sentences.push_back(base::format("The task needs {}, which the instance does not have.",
                                     base::join(objections.kinds, " and ")));
  }
  if (!objections.attributes.empty()) {
    sentences.push_back(base::format("The instance lacks the attribute {}.",
                                     base::join(objections.attributes, ", ")));
  }
  for (const std::string& need : objections.needs) {
    sentences.push_back(base::sentence(base::format(
        "{} on the instance ({})", model::not_allowed(need), model::allowed_by(need))));
  }
  bool first = true;
  for (const std::string& phrase :
       resource_phrases(instance, offer, demand, objections.blockers, most_gpus)) {
    sentences.push_back(base::format("{} {}.", first ? "The task" : "It", phrase));
    first = false;
  }
  for (const std::string& expression : objections.expressions) {
    sentences.push_back(base::format("The expression '{}' does not hold.", expression));
  }
  if (objections.distinct) {
    sentences.push_back("A task of the same group runs on the instance already.");
  }
  return {.instance = instance.arn,
          .reason = std::string(first_reason(objections)),
          .detail = base::format("{}", base::join(sentences, " ")),
          .name = name_of(instance)};
}

}  // namespace placement
