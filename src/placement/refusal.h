// Why an instance cannot take a task: in ECS's words, and in a sentence with figures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/state.h"
#include "placement/demand.h"
#include "placement/offer.h"

namespace placement {

// Why one instance, or the cluster as a whole, cannot take the task.
// Source: ECS Developer Guide, "API failures reasons": RESOURCE:CPU, RESOURCE:GPU, ATTRIBUTE, ...
struct Refusal {
  model::InstanceArn instance;  // Empty: there was no instance to blame.
  std::string reason;           // ECS's words.
  std::string detail;           // All that blocks, in one or two sentences.
  std::string name = {};        // name_of() the instance.
};

// "box (0f3a...)": the host's name, where the machine has told it, and the id; for sentences.
std::string name_of(const model::ContainerInstance& instance);

// The reasons, in the order in which they are reported when several hold.
inline constexpr std::string_view reason_agent = "AGENT";
inline constexpr std::string_view reason_attribute = "ATTRIBUTE";
inline constexpr std::string_view reason_cpu = "RESOURCE:CPU";
inline constexpr std::string_view reason_memory = "RESOURCE:MEMORY";
inline constexpr std::string_view reason_ports = "RESOURCE:PORTS";
inline constexpr std::string_view reason_gpu = "RESOURCE:GPU";
inline constexpr std::string_view reason_constraint = "MemberOf placement constraint unsatisfied";
inline constexpr std::string_view reason_distinct =
    "DistinctInstance placement constraint unsatisfied";
inline constexpr std::string_view reason_no_instance = "NO ACTIVE INSTANCES";
inline constexpr std::string_view reason_empty_provider = "EMPTY CAPACITY PROVIDER";
inline constexpr std::string_view reason_missing = "MISSING";
inline constexpr std::string_view reason_inactive = "INACTIVE";

// All that speaks against one instance.
struct Objections {
  Blockers blockers;
  std::vector<std::string> attributes;   // Names that it lacks.
  std::vector<std::string> kinds;        // What else it is not: "launch type EC2".
  std::vector<std::string> needs;        // What the task asks and the machine does not allow.
  std::vector<std::string> expressions;  // memberOf expressions that do not hold.
  bool distinct = false;                 // A task of the group is there already.

  bool wrong_instance() const { return !attributes.empty() || !kinds.empty() || !needs.empty(); }
  bool any() const {
    return blockers.any() || wrong_instance() || !expressions.empty() || distinct;
  }
};

// How far an instance is from taking the task: the lower, the nearer. First what no task's end can
// heal, an agent that is away included, then the number of obstacles, then how much is short. Never
// negative, below 2^28. unmet_lasting: requirements on the instance that do not hold and that no
// task's end changes; unmet_passing: those that look at the tasks on it. missing: missing_of() the
// blocked resources.
inline constexpr int32_t most_lasting = 15;  // More make no instance farther.
int32_t distance_of(const Blockers& blockers, int32_t missing, int32_t unmet_lasting,
                    int32_t unmet_passing);
// Thousandths of what is asked that are short; at most 1000.
int32_t shortage(int64_t asked, int64_t free);
// The same, summed over the blocked resources.
int32_t missing_of(const Offer& offer, const Demand& demand, const Blockers& blockers);

// most_gpus: the largest number of whole GPUs on any ACTIVE instance of the cluster; below 0: the
// sentence does not speak of the cluster.
Refusal refusal_of(const model::ContainerInstance& instance, const Offer& offer,
                   const Demand& demand, const Objections& objections, int32_t most_gpus);

// "4 GPUs", "1 GPU", "all GPUs", "0.5 of a GPU", "20480 MiB of a GPU": for sentences.
std::string gpus_wanted(const Demand& demand);
// "needs 4 GPUs; 3 free of 8, 1 releasing": without an end stop.
std::string gpu_phrase(const model::ContainerInstance& instance, const Offer& offer,
                       const Demand& demand, int32_t most_gpus);

}  // namespace placement
