// The tasks of a service that are not STOPPED, as the rules look at them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconcile/draining.h"
#include "reconcile/reconcile.h"

namespace reconcile {

enum class Phase : uint8_t {
  Waiting,    // PROVISIONING: it waits for an instance, and nobody knows how long.
  Starting,   // On an instance, not RUNNING yet.
  Unhealthy,  // Its health check says so, and its grace is over.
  Settling,   // RUNNING, but not known to be healthy yet.
  Healthy,
};

struct Member {
  const model::Task* task = nullptr;
  Phase phase = Phase::Starting;
  Footing footing = Footing::Firm;
  bool is_protected = false;
};

struct ClassifiedTasks {
  std::map<std::string, std::vector<Member>, std::less<>> groups;  // By startedBy.
  std::vector<Member> lost;                                        // Not in groups.
  int32_t stopping = 0;                            // Not in groups; their instances answer.
  std::set<std::string, std::less<>> stopping_of;  // Whose they are, by startedBy.
  base::Time wake = base::Time::max();

  const std::vector<Member>& group(std::string_view id) const {
    static const std::vector<Member> none;
    const auto found = groups.find(id);
    return found == groups.end() ? none : found->second;
  }
};

// Cost: O(tasks of the service).
ClassifiedTasks classify(const Input& input);

int32_t count_of(const std::vector<Member>& members, Phase phase);

}  // namespace reconcile
