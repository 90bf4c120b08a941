// Starting and stopping within the healthy minimum and the maximum: the one rule for REPLICA
// services and for task sets.
// Source: ECS API reference, DeploymentConfiguration; Developer Guide, "Deploy Amazon ECS services
// by replacing tasks".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reconcile/classify.h"
#include "reconcile/plan.h"

namespace reconcile {

// How many healthy tasks the service's own doing leaves at least, and how many RUNNING and PENDING
// ones there are at most.
struct Limits {
  int32_t lower = 0;
  int32_t upper = 0;
  friend bool operator==(const Limits&, const Limits&) = default;
};
// "rounded up to the nearest integer", "rounded down to the nearest integer".
Limits limits_of(int32_t desired, int32_t minimum_healthy_percent, int32_t maximum_percent);
Limits limits_of(const model::Service& service, int32_t desired);

// A number of tasks of one source that are wanted, what there is of them, and what is to go.
struct Pool {
  int32_t desired = 0;
  Limits limits;
  std::vector<Member> current;    // Of the source, on firm ground, not unhealthy.
  std::vector<Member> displaced;  // Others; they go once they are not needed.
  int32_t stopping = 0;           // Will give back what they hold.
  bool may_start = true;
  bool may_replace = true;  // False: the displaced stay.
  int32_t spare = 0;        // So many current ones above `desired` stay: rebalancing.
};

// The tasks that count for the healthy minimum: healthy ones, and old ones that run.
int32_t serving_of(const Pool& pool);

// Those that wait in PROVISIONING, and for which there was no place when they were last tried.
int32_t tried_in_vain(const Pool& pool);

struct Moves {
  int32_t start = 0;
  int32_t blocked = 0;  // Wanted, and neither started nor about to get room.
  std::vector<Member> stops;
};

// Pure, but for the plan's seed. With `unplaced` tasks of the last start: stops only.
Moves roll(Plan& plan, const Pool& pool, int32_t unplaced);

// Why the service stops this task, as stoppedReason.
std::string stop_reason(const Member& member, std::string_view id);

}  // namespace reconcile
