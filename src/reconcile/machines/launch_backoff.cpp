#include "reconcile/machines/launch_backoff.h"

#include <algorithm>

namespace reconcile::machines {
namespace {

constexpr base::Milliseconds first_wait{5'000};
constexpr base::Milliseconds longest_wait = std::chrono::minutes(15);
constexpr int32_t most_doublings = 10;  // Beyond the longest wait.

}  // namespace

base::Milliseconds launch_backoff(int32_t failures) {
  if (failures <= 0) return base::Milliseconds{0};
  return std::min(longest_wait, first_wait * (1 << std::min(failures - 1, most_doublings)));
}

void note_launch_failed(model::AutoScalingGroup& group, base::Time asked_at, base::Time now) {
  if (group.launch_not_before && asked_at < *group.launch_not_before) return;
  ++group.launch_failures;
  group.launch_not_before = now + launch_backoff(group.launch_failures);
}

bool note_launch_succeeded(model::AutoScalingGroup& group) {
  if (group.launch_failures == 0 && !group.launch_not_before) return false;
  group.launch_failures = 0;
  group.launch_not_before.reset();
  return true;
}

}  // namespace reconcile::machines
